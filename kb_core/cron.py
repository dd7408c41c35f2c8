"""Is a text a cron schedule? Five fields: minute, hour, day of month, month, day of week. Pure.

A schedule that cannot be read would keep the whole page from opening, so kb.toml is held against
this before anybody else reads it. Seconds, `@weekly` and letters such as `L` are not taken.
"""

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# Lowest and highest value of each field, and the names that stand for numbers from the lowest on.
_FIELDS: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, _MONTHS),
    (0, 7, _DAYS),  # 0 and 7 are Sunday
)
_PART = re.compile(r"(?:\*|(?P<low>[0-9a-z]{1,3})(?:-(?P<high>[0-9a-z]{1,3}))?)(?:/(?P<step>\d+))?")
# The longest each month gets; a day that no month of the schedule has would never come.
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_cron(text: str) -> bool:
    """Tell whether the text is a schedule that comes round.

    >>> is_cron("0 4 * * 0"), is_cron("*/15 8-18 * * mon-fri"), is_cron("0 24 * * *")
    (True, True, False)
    >>> is_cron("0 4 31 2 *")
    False
    """
    fields = text.lower().split()
    if len(fields) != len(_FIELDS):
        return False
    values = [_values(field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)]
    if not all(values):
        return False
    days, months = values[2], values[3]
    return min(days) <= max(_LENGTHS[month - 1] for month in months)


def _values(field: str, low: int, high: int, names: tuple[str, ...]) -> set[int]:
    """Return what a field stands for; empty when any part of it stands for nothing."""
    found: set[int] = set()
    for part in field.split(","):
        values = _of_part(part, low, high, names)
        if not values:
            return set()
        found |= values
    return found


def _of_part(part: str, low: int, high: int, names: tuple[str, ...]) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        return set()
    step = int(match["step"] or 1)
    first = low if match["low"] is None else _number(match["low"], low, names)
    last = first if match["low"] and not match["step"] else high
    if match["high"]:
        last = _number(match["high"], low, names)
    if not low <= first <= last <= high or not 1 <= step <= high:
        return set()
    return set(range(first, last + 1, step))


def _number(text: str, low: int, names: tuple[str, ...]) -> int:
    """Return the number a text stands for, -1 for none."""
    if text in names:
        return low + names.index(text)
    return int(text) if text.isdecimal() and text.isascii() else -1
