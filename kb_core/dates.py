"""Partial dates: read from text with their precision, ordered without inventing any. Pure.

A partial date is text, and its length is its precision: `2024`, `2024-03` or `2024-03-14`. What
cannot be said in one of these three forms is no date here: a quarter (`Q3 2024`) has none, and
`2024-09` or `2024` in its place would claim something else. A time of day or a zone is dropped;
the day stays the one its writer saw.
"""

import calendar
import datetime as dt
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from kb_core.errors import ContractError

_MONTH_NAMES = (  # English, Spanish, German
    "january jan enero ene januar jänner",
    "february feb febrero februar",
    "march mar marzo märz mär mrz",
    "april apr abril abr",
    "may mayo mai",
    "june jun junio juni",
    "july jul julio juli",
    "august aug agosto ago",
    "september sep sept septiembre setiembre",
    "october oct octubre oktober okt",
    "november nov noviembre",
    "december dec diciembre dic dezember dez",
)
_MONTHS = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

# Gaps and numbers are bounded, so that no heading can make a search slow.
_MON = f"(?P<mon>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_LEFT = r"(?<![0-9a-z])(?<![0-9][./-])"
_YEAR = r"(?P<y>[12][0-9]{3})(?![0-9])"
_DAY = r"(?P<d>[0-9]{1,2})"
_GAP = r"[\s-]{0,3}"
_OF = r"(?:(?:of|de|del)\s{1,3})?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        # 2024-03-14, 2024/3/14, 2024_03_14
        rf"{_LEFT}(?P<y>[12][0-9]{{3}})(?P<sep>[-./_ ])(?P<m>[0-9]{{1,2}})(?P=sep){_DAY}(?![0-9])",
        # 20240314, or the note number 202403141530
        rf"{_LEFT}(?P<y>(?:19|20|21)[0-9]{{2}})(?P<m>[0-9]{{2}})(?P<d>[0-9]{{2}})"
        r"(?:[0-9]{4}(?:[0-9]{2})?)?(?![0-9])",
        # 2024-03
        rf"{_LEFT}(?P<y>[12][0-9]{{3}})[-./](?P<m>[0-9]{{2}})(?![0-9a-z])(?![./-][0-9])",
        # 14.03.2024, 14/3/2024
        rf"{_LEFT}(?P<a>[0-9]{{1,2}})(?P<sep>[./-])(?P<b>[0-9]{{1,2}})(?P=sep){_YEAR}",
        # 2 May 2024, 2nd of May, 2024, 14-Mar-2019, 14 de marzo de 2024, 14. März 2024
        rf"{_LEFT}{_DAY}(?:st|nd|rd|th|\.)?{_GAP}{_OF}{_MON}[.,]{{0,2}}{_GAP}{_OF}{_YEAR}",
        # May 2, 2024
        rf"(?<![^\W_]){_MON}\.?{_GAP}{_DAY}(?:st|nd|rd|th)?,?{_GAP}(?<![0-9]){_YEAR}",
        # March 2024, marzo de 2024
        rf"(?<![^\W_]){_MON}[.,]{{0,2}}{_GAP}{_OF}{_YEAR}",
        # 2024 March 14, 2024-Mar
        rf"{_LEFT}(?P<y>[12][0-9]{{3}}){_GAP}{_MON}(?![^\W_])(?:{_GAP}{_DAY}(?![0-9]))?",
        # 2024年3月14日, 2024年3月
        rf"(?<![0-9])(?P<y>[12][0-9]{{3}})\s?[年년]\s?(?P<m>[0-9]{{1,2}})\s?[月월]"
        rf"(?:\s?{_DAY}\s?[日号號일])?",
    )
)
_MILLISECONDS = re.compile(r"[0-9]{13}")  # since 1970, as some note programs write them
_YEAR_ALONE = re.compile(r"(?P<y>[12][0-9]{3})\s?[年년]?")
_WEEKDAY = re.compile(
    r"(?:mon|tue|wed|thu|fri|sat|sun|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)[a-z]{0,6}[.,]{0,2}\s{1,3}"
)
_TIME = re.compile(
    r",?(?:[t_]|\s{1,3}(?:at\s)?)(?P<h>[0-9]{1,2}):(?P<min>[0-9]{2})"
    r"(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"\s?(?:[ap]m)?\s?(?:z|utc|gmt|[+-][0-9]{2}:?[0-9]{2})?"
)
_PARTIAL = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")
_LONGEST_VALUE = 80
_LONGEST_TITLE = 500
_PLAUSIBLE_YEARS = range(1900, 2200)


def parse_date(text: str) -> str | None:
    """Read a value that is a date and nothing else, or return None.

    `03/04/2024` is None: half of its readers mean March and half mean April. `25/12/2024` and
    `04/04/2024` have one reading; with dots the day always comes first.

    >>> parse_date("2nd May 2024"), parse_date("2024-03-14T10:00Z"), parse_date("2026-02-30")
    ('2024-05-02', '2024-03-14', None)
    """
    text = text.strip()
    if len(text) > _LONGEST_VALUE:
        return None
    value = _plain(text)
    weekday = _WEEKDAY.match(value)
    value = value[weekday.end() :] if weekday else value
    for form in _FORMS:
        found = form.match(value)
        if found and _is_time_or_nothing(value[found.end() :]):
            return _partial(found)
    if _MILLISECONDS.fullmatch(value):
        return dt.datetime.fromtimestamp(int(value) // 1000, dt.UTC).date().isoformat()
    alone = _YEAR_ALONE.fullmatch(value)
    return alone["y"] if alone else None


def find_date(text: str) -> str | None:
    """Find the first date among the other words of a heading or file name, or return None.

    A year among other words (`Budget 2024`) is a subject more often than a date and is left
    alone, and so are years outside 1900 to 2199.

    >>> find_date("Week of 2 May 2024"), find_date("Log 2024-05"), find_date("Budget 2024")
    ('2024-05-02', '2024-05', None)
    """
    value = _plain(text[:_LONGEST_TITLE])
    found = [match for form in _FORMS for match in form.finditer(value)]
    end = 0
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        if match.start() < end:  # inside a longer date that was no date: 31 June 2024
            continue
        partial = _partial(match)
        if partial and int(partial[:4]) in _PLAUSIBLE_YEARS:
            return partial
        end = match.end()
    alone = _YEAR_ALONE.fullmatch(value)
    return alone["y"] if alone and int(alone["y"]) in _PLAUSIBLE_YEARS else None


def last_instant(partial: str) -> dt.datetime:
    """Return the last microsecond, in UTC, of a year, month or day.

    The end is inside the period, so that it still prints as the period's own day. Raises
    ContractError if the text is no partial date.

    >>> last_instant("2024-02").isoformat()
    '2024-02-29T23:59:59.999999+00:00'
    """
    numbers = [int(part) for part in partial.split("-")] if _PARTIAL.fullmatch(partial) else []
    try:
        # A year ends with its twelfth month.
        year, month, *day = [*numbers, 12][: max(2, len(numbers))]
        last_day = day[0] if day else calendar.monthrange(year, month)[1]
        return dt.datetime(year, month, last_day, 23, 59, 59, 999_999, tzinfo=dt.UTC)
    except ValueError:
        raise ContractError(
            f"A partial date of {len(partial)} characters is none of YYYY, YYYY-MM and "
            "YYYY-MM-DD. Fix the stage that wrote it."
        ) from None


def instant_of(text: str) -> dt.datetime | None:
    """Read an instant with a time, or the end of a partial date; None if it is neither.

    An instant without a zone is UTC.
    """
    value = text.strip()
    try:
        instant = dt.datetime.fromisoformat(value) if ":" in value else None
        if instant:
            aware = instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)
            return aware.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass  # a time in another form: the day is still worth having
    partial = parse_date(value)
    return last_instant(partial) if partial else None


def is_later(a: str, b: str) -> bool:
    """Say whether partial date a is surely later than b, at the coarser precision of the two.

    `2024-03` and `2024-03-14` may be the same day, so neither is later.
    """
    shared = min(len(a), len(b))
    return a[:shared] > b[:shared]


@dataclass(frozen=True)
class DailyFormat:
    """A daily-note format, ready to read dates from note paths."""

    pattern: re.Pattern[str]
    depth: int  # how many path components the format spans

    def date_of(self, path: str) -> str | None:
        """Read the date of a note path that was made by this format; no file ending."""
        name = unicodedata.normalize("NFC", "/".join(path.split("/")[-self.depth :])).lower()
        found = self.pattern.fullmatch(name)
        return _partial(found) if found else None


# Names of any length in a row could be divided in more ways than anybody can wait for; so they
# give nothing back, and a format of very many parts names no date.
_NAME = r"[^\W\d_]++\.?"
_MOST_TOKENS = 16
# moment.js tokens, longest first. Those without a group are matched and not read.
_TOKENS = {
    "YYYY": "(?P<y>[0-9]{4})",
    "YY": "(?P<yy>[0-9]{2})",
    "MMMM": rf"(?P<mon>{_NAME})",
    "MMM": rf"(?P<mon3>{_NAME})",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m1>[0-9]{1,2})",
    "DDDD": "[0-9]{3}",
    "DD": "(?P<d>[0-9]{2})",
    "Do": r"(?P<do>[0-9]{1,2})(?:st|nd|rd|th|[.ºª]|er|e)?",
    "D": "(?P<d1>[0-9]{1,2})",
    **dict.fromkeys(("dddd", "ddd", "dd"), _NAME),
    **dict.fromkeys(("gggg", "GGGG"), "[0-9]{4}"),
    **dict.fromkeys(("WW", "ww", "HH", "hh", "mm", "ss"), "[0-9]{2}"),
    **dict.fromkeys(("W", "w", "H", "h", "Q", "d", "E", "e"), "[0-9]{1,2}"),
    **dict.fromkeys(("A", "a"), "[ap]m"),
}
_NEVER = re.compile(r"(?!)")
_GROUP_NAME = re.compile(r"P<(\w+)>")
_FORMAT_PART = re.compile(r"\[(?P<literal>[^\]]*)\]|" + "|".join(_TOKENS) + "|.", re.DOTALL)


def compile_daily_format(fmt: str) -> DailyFormat:
    """Compile Obsidian's daily-note format (moment.js tokens, `[literal]`).

    A format without a year, or of more than 16 tokens, names no date: its `date_of` gives None.

    >>> compile_daily_format("YYYY/MM/dddd Do MMMM").date_of("Log/2024/03/Thursday 14th March")
    '2024-03-14'
    """
    found = list(_FORMAT_PART.finditer(fmt))
    if sum(part[0] in _TOKENS for part in found) > _MOST_TOKENS:
        return DailyFormat(_NEVER, 1)
    parts: list[str] = []
    seen: set[str] = set()
    for part in found:
        token = part[0]
        if token in seen:  # YYYY/YYYY-MM-DD: the second year is the first one again
            group = _GROUP_NAME.search(_TOKENS[token])
            parts.append(f"(?P={group[1]})" if group else _TOKENS[token])
        elif token in _TOKENS:
            seen.add(token)
            parts.append(_TOKENS[token])
        else:
            literal = token if part["literal"] is None else part["literal"]
            parts.append(re.escape(literal.lower()))
    return DailyFormat(re.compile("".join(parts)), 1 + fmt.count("/"))


def _plain(text: str) -> str:
    """Fold widths, case and runs of white space; full-width digits become digits."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def _is_time_or_nothing(rest: str) -> bool:
    time = _TIME.fullmatch(rest)
    return int(time["h"]) < 25 and int(time["min"]) < 60 if time else not rest


def _partial(found: re.Match[str]) -> str | None:
    """Write the partial date of a match, or None if the calendar has no such day."""
    parts = {name: value for name, value in found.groupdict().items() if value}
    if "a" in parts:
        return _day_and_month(parts)
    year = parts.get("y") or (f"20{parts['yy']}" if "yy" in parts else None)
    if year is None:
        return None
    month = _month(parts)
    if month is None:
        return year
    days = [parts[name] for name in ("d", "do", "d1") if name in parts]
    return _checked(int(year), month, int(days[0]) if days else None)


def _month(parts: Mapping[str, str]) -> int | None:
    """Return the month's number; 0, which the calendar refuses, for an unknown name."""
    number = parts.get("m") or parts.get("m1")
    name = parts.get("mon") or parts.get("mon3")
    if number:
        return int(number)
    return _MONTHS.get(name.rstrip("."), 0) if name else None


def _day_and_month(parts: Mapping[str, str]) -> str | None:
    """Read `14.03.2024` and, where it has a single reading, `14/03/2024`."""
    first, second, year = int(parts["a"]), int(parts["b"]), int(parts["y"])
    readings = {_checked(year, second, first)}
    if parts["sep"] != ".":
        readings.add(_checked(year, first, second))
    readings.discard(None)
    return readings.pop() if len(readings) == 1 else None


def _checked(year: int, month: int, day: int | None) -> str | None:
    try:
        date = dt.date(year, month, day or 1)
    except ValueError:
        return None
    if day is None:
        return f"{year:04}-{month:02}"
    return date.isoformat() if day else None
