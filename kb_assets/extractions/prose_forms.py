"""The forms in which prose states a figure, a date or a role, once for each language. Pure.

Every repetition is bounded, so that no text makes a search slow.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from kb_core.prose_cues import ProseCues, prose_cues

_DIGITS = r"[0-9](?:[0-9,.]{0,14}[0-9])?+(?![0-9])"  # nothing is given back
_SCALE = r"(?:\s?(?:k|m|mm|bn|million|billion|thousand|万|亿|千)(?![a-z]))?"
_MONEY = (
    rf"(?:(?:US|A|C|HK)?[$£€¥]\s?{_DIGITS}{_SCALE}|{_DIGITS}{_SCALE}\s?(?:euros?|dollars?|pounds"
    r"|yen|USD|EUR|GBP|CHF|CNY|JPY|元|日元|英镑|美元|欧元|円))"
)
_UNIT = (
    r"(?:%|percent|kg|g|mg|tonnes?|km|metres?|meters?|m²|mm|cm|m|litres?|liters?|ml|l|kWh|kW|W|V|A"
    r"|°C|seconds?|minutes?|hours?|days?|weeks?|months?|years?|MB|GB|TB|kB|ms"
    r"|公斤|千克|克|吨|米|厘米|毫米|升|小时|分钟|秒|天|周|个月|年|套|台|人)"
)
_AMOUNT = rf"(?:{_MONEY}|{_DIGITS}{_SCALE}\s?{_UNIT})(?![\w-])"
_AMOUNT_ZH = rf"(?:{_MONEY}|{_DIGITS}{_SCALE}\s?{_UNIT})"
_END = (
    r"(?=\s?(?:$|[.,;:!?)—–，。；、]|(?:and|but|for|in|on|since|from|at|as|to|when|because|while|after"
    r"|before|with|by|which|until|so|including|plus)\b))"
)
_END_ZH = r"(?=\s?(?:$|[.,;:!?)—–，。；、]|了|左右))"
_NOUN = r"(?P<noun>[a-z][a-z-]{2,20}(?:\s[a-z-]{3,20})?)"
_NEVER = "(?!)"


class Forms(NamedTuple):
    """What stands behind a name, but for `head`, which stands before it."""

    figure: re.Pattern[str]  # costs £5
    having: re.Pattern[str]  # has 12 employees
    moving: re.Pattern[str]  # goes from £5 to £6
    owned: re.Pattern[str]  # 's price is £5
    head: re.Pattern[str]  # the price of
    value: re.Pattern[str]  # is £5
    event: re.Pattern[str]  # was accepted
    on: re.Pattern[str]  # on, before a date
    role: re.Pattern[str]  # is the head
    job: re.Pattern[str]  # Product Manager, and nothing more
    decided: re.Pattern[str]  # we decided to
    vague: re.Pattern[str]  # keep this, as the beginning of a decision
    ends: re.Pattern[str]  # what may stand behind a role


@lru_cache(maxsize=4)
def forms(language: str) -> Forms:
    """Return the forms of a language that has cues."""
    cues = prose_cues(language)
    found = _chinese(cues) if language == "zh" else _english(cues)
    return Forms(*(re.compile(each, re.IGNORECASE) for each in found))


def _english(cues: ProseCues) -> tuple[str, ...]:
    words = {name: either(each) for name, each in cues.claims.items()}
    per = rf"(?:\s(?:{words['per']})\s[a-z]{{3,12}}|\s?/\s?[a-z]{{1,12}})?"
    value = rf"(?P<value>(?:(?:{words['about']})\s)?{_AMOUNT}{per}){_END}"
    moved = rf"(?P<value>{_MONEY}(?![\w-]){per}){_END}"
    who, how, when = words["deciders"], words["deciding"], words["openers"]
    return (
        rf"\s(?P<verb>{either(cues.figures)})\s{value}",
        rf"\s(?:{words['having']})\s(?P<value>(?:(?:{words['about']})\s)?{_DIGITS}{_SCALE})\s{_NOUN}{_END}",
        rf"\s(?:{words['moving']})\s(?:from\s{_MONEY}\s)?to\s{moved}",
        rf"[’']s\s{_NOUN}(?P<part>)\s(?:{words['values']})\s{value}",
        rf"(?:^|[,;:]\s)the\s{_NOUN}\sof\s(?:the\s)?$",
        rf"\s(?:{words['values']})\s{value}",
        rf"\s(?P<verb>{either(cues.events)})(?!\w)",
        rf",?\s(?:{words['on']})\s|,\s(?=[A-Z0-9])",
        rf"(?:\s(?P<is>{words['role_joints']})|,(?:\sthe|\sour)?)\s(?P<role>(?:{words['roles']}))(?![\w-])",
        rf"\s?[,–—]\s(?P<role>(?:[\w&/-]{{1,20}}\s){{0,4}}(?:{words['jobs']}))\.?$",
        rf"(?:(?:{when}),?\s)?(?:{who})\s(?:(?:also|then|all|finally|have|has|had)\s)?(?P<act>{how})\s",
        rf"(?:[\w-]+\s){{0,3}}(?!{either(cues.itself)})(?:{words['vague']})(?!\w)",
        _END,
    )


def _chinese(cues: ProseCues) -> tuple[str, ...]:
    words = {name: either(each) for name, each in cues.claims.items()}
    value = rf"(?P<value>(?:{words['about']})?\s?{_AMOUNT_ZH}){_END_ZH}"
    moved = rf"(?P<part>[\u4e00-\u9fff]{{2,8}})[由从]\s?{_AMOUNT_ZH}\s?(?:{words['moving']})"
    who, how, when = words["deciders"], words["deciding"], words["openers"]
    return (
        _NEVER,
        rf"\s?(?:{words['having']})\s?(?P<value>{_DIGITS})\s?[名个位家台]?(?P<noun>{words['nouns']}){_END_ZH}",
        _NEVER,
        rf"\s?的?(?:(?P<noun>{words['measures']})\s?(?:{words['values']})|{moved})\s?{value}",
        _NEVER,
        _NEVER,
        rf"\s?(?:{words['on']})?\s?(?=[0-9])",
        _NEVER,
        rf"\s?(?P<is>{words['role_joints']})(?P<role>(?:{words['roles']}))",
        _NEVER,
        rf"(?:(?:{when})[，,]?)?(?:{who})(?P<act>{how})[：:，,]?",
        _NEVER,
        _END_ZH,
    )


def either(words: Iterable[str]) -> str:
    """Return a pattern for one of some phrases, the longest first."""
    longest = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest) or _NEVER
