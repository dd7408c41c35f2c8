"""Turn an English statement into a question, or refuse. Pure.

Only patterns whose question is grammatical whatever the words are: a subject, an auxiliary verb,
and the rest that answers how much, how many, when, why or who.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from eval_assets.suggestions.subjects import (
    ARTICLES,
    BE,
    MODAL,
    head_of,
    is_plural,
    is_self_contained,
    is_subject,
    lacks_article,
    small_start,
)
from eval_assets.suggestions.wording import word_set

IsCommon = Callable[[str], bool]  # is a word written small inside sentences?

_NUMBER = (
    r"(?:[$£€¥]\s?\d(?:[\d,.]*\d)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?"
    r"|\d[\d,]*(?:\.\d+)?(?:[-–]\d[\d,.]*)?|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|fifteen|twenty|thirty|fifty|one hundred)"
)
_ABOUT = (
    r"(?P<about>(?:about|around|roughly|approximately|at least|at most|up to|no more than"
    r"|no less than|a maximum of|a minimum of|more than|less than|fewer than|over|under|only"
    r"|nearly|almost|exactly|currently)\s+)?"
)
_AMOUNT = rf"{_ABOUT}(?P<number>{_NUMBER})(?P<percent>\s?%|\s?percent)?"
_UNIT = r"(?P<unit>(?:[a-z][a-z-]+\s+){0,2}?[a-z][a-z-]*(?:s|people|children|percent))"
_POST = (
    r"(?P<each>(?:\s+an?\s+(?:year|quarter|month|week|day|hour|person|head|piece))?)"
    r"(?P<post>(?:\s+(?:per|in|of"
    r"|on|at|for|from|to|after|before|during|by|within|between|with|each|every)\b[^,;:().]{0,80})?)"
    r"[.!]?$"
)
_INNER = r"(?:[^,;:()?!\"“”.]|\.(?!\s))"
_SUBJECT = rf"(?P<subject>[A-Z]{_INNER}{{1,70}}?)"
_REST = rf"(?P<rest>{_INNER}{{2,70}}?)"
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = (
    r"(?P<date>(?:on|in|by|since)\s+(?:(?:early|late|mid)[ -])?(?:\d{1,2}(?:st|nd|rd|th)?\s+)?"
    rf"(?:{_MONTH}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?,?)?\s+)?(?:19|20)\d\d)"
)
_PARTICIPLE = r"(?P<verb>(?:[a-z]+ly\s+)?[a-z]+(?:ed|en|ne|ld|lt|ught|pt|ut|wn))"
_BODY = (  # who decides and does: a body of people, or a name
    r"(?P<agent>(?:the\s+|our\s+)?[A-Za-z][\w'’&. -]{2,60}?(?:[Tt]eam|[Bb]oard|[Cc]ommittee"
    r"|[Cc]ouncil|[Dd]epartment|[Gg]roup|[Mm]anager|[Dd]irector|[Ll]ead)"
    r"|[A-Z][a-z]+\s[A-Z][a-z]+(?:\s(?:and\s)?[A-Z][a-z]+){0,4})"
)

_IS_AMOUNT = re.compile(
    rf"{_SUBJECT}\s+(?P<aux>is|was)\s+(?:set\s+to\s+)?{_AMOUNT}(?:\s+{_UNIT})?{_POST}"
)
_HAS_AMOUNT = re.compile(rf"{_SUBJECT}\s+(?P<aux>has|have|had)\s+{_AMOUNT}\s+{_UNIT}{_POST}")
_DOES_AMOUNT = re.compile(
    rf"{_SUBJECT}\s+(?P<aux>{MODAL})\s+(?P<verb>(?!not\b|be\b)[a-z]+)\s+{_AMOUNT}\s+{_UNIT}{_POST}"
)
_AFTER_AMOUNT = re.compile(
    rf"{_SUBJECT}\s+(?P<aux>{BE}|{MODAL})\s+{_REST}\s+(?P<prep>within|after|for)\s+{_AMOUNT}"
    rf"\s+{_UNIT}{_POST}"
)
_THERE = re.compile(rf"There\s+(?P<aux>are|were)\s+{_AMOUNT}\s+{_UNIT}{_POST}")
_COSTS = re.compile(rf"{_SUBJECT}\s+(?P<aux>costs?)\s+{_AMOUNT}{_POST}")
_WHEN = re.compile(rf"{_SUBJECT}\s+(?P<aux>was|were)\s+{_REST}\s+{_DATE}[.!]?$")
_WHY = re.compile(
    rf"{_SUBJECT}\s+(?P<aux>{BE}|{MODAL})\s+{_REST}\s+"
    r"(?P<reason>because\s+(?!of\b)[^?!]{12,160}?)[.!]?$"
)
_AGENT = re.compile(rf"{_SUBJECT}\s+(?P<aux>is|was)\s+{_PARTICIPLE}\s+by\s+{_BODY}[.!]?$")

_HALF_A_REASON = ("just", "only", "simply", "partly", "not", "and")
# What can be so and so much: "What is the notice period?", but not "What is the workshop?"
_MEASURES = word_set(
    "age allowance amount average balance bill bonus budget cap capacity charge commission cost "
    "count deadline deposit depth diameter discount distance duration expense fee fine frequency "
    "fund funding goal grant headcount height income interval investment length level limit loss "
    "margin maximum minimum number participation percentage period power premium price profit "
    "quota rate ratio rent revenue reward salary sample score share size span speed stipend "
    "subsidy sum target tax temperature term threshold time timeout total turnover value voltage "
    "volume wage weight width window"
)
_LENGTHS = range(20, 221)  # characters of a sentence that is tried


class Asked(NamedTuple):
    """A question, what answers it, and what kind it is."""

    question: str
    answer: str
    kind: str  # figure, date, reason, agent


def ask(sentence: str, is_common_word: IsCommon) -> Asked | None:
    """Return a question that the plain sentence answers, or None.

    `is_common_word` says whether a word is written small inside sentences.

    >>> ask("The workshop lease was signed in March 2024.", lambda word: True).question
    'When was the workshop lease signed?'
    """
    if len(sentence) not in _LENGTHS or not sentence[0].isupper():
        return None
    tried = (rule(sentence, is_common_word) for rule in _RULES)
    asked = next((each for each in tried if each), None)
    # What it is besides something else is no part of the question.
    return asked and asked._replace(question=asked.question.replace(" also ", " "))


def _costs(sentence: str, common: IsCommon) -> Asked | None:
    """`A licence costs £40.` gives `How much does a licence cost?`."""
    found = _matched(_COSTS, sentence, common)
    if not found or not _is_money_or_share(found):
        return None
    if found["aux"] == "cost" and is_plural(found["subject"]):  # they cost now, or they did
        return None
    do = "does" if found["aux"] == "costs" else "did"
    question = f"How much {do} {_subject(found, common)} cost{found['each']}{found['post']}?"
    return Asked(question, _amount(found), "figure")


def _is_amount(sentence: str, common: IsCommon) -> Asked | None:
    """`The notice period is 30 days.` gives `What is the notice period?`."""
    found = _matched(_IS_AMOUNT, sentence, common)
    if not found or not (found["unit"] or _is_money_or_share(found)):
        return None
    is_measure = head_of(found["subject"]).split()[-1] in _MEASURES
    if not is_measure or found["post"].startswith((" with", " from")):
        return None
    question = f"What {found['aux']} {_subject(found, common)}{found['post']}?"
    return Asked(question, _amount(found) + found["each"], "figure")


def _has_amount(sentence: str, common: IsCommon) -> Asked | None:
    """`Members have 30 days to object.` gives `How many days do members have to object?`."""
    found = _matched(_HAS_AMOUNT, sentence, common)
    if not found or _is_money_or_share(found):
        return None
    do = {"has": "does", "have": "do", "had": "did"}[found["aux"]]
    of, post = _placed(found)
    question = f"How many {found['unit']}{of} {do} {_subject(found, common)} have{post}?"
    return Asked(question, _amount(found), "figure")


def _does_amount(sentence: str, common: IsCommon) -> Asked | None:
    """`A stand may draw 9 kilowatts.` gives `How many kilowatts may a stand draw?`."""
    found = _matched(_DOES_AMOUNT, sentence, common)
    if not found or _is_money_or_share(found):
        return None
    of, post = _placed(found)
    start = f"How many {found['unit']}{of} {found['aux']} {_subject(found, common)}"
    return Asked(f"{start} {found['verb']}{post}?", _amount(found), "figure")


def _after_amount(sentence: str, common: IsCommon) -> Asked | None:
    """`Mail is deleted after 30 days.` gives `After how many days is mail deleted?`."""
    found = _matched(_AFTER_AMOUNT, sentence, common)
    if not found or _is_money_or_share(found):
        return None
    of, post = _placed(found)
    start = f"{found['prep'].capitalize()} how many {found['unit']}{of} {found['aux']}"
    question = f"{start} {_subject(found, common)} {found['rest']}{post}?"
    return Asked(question, _amount(found), "figure")


def _there_are(sentence: str, _: IsCommon) -> Asked | None:
    """`There are 5 kilns in the yard.` gives `How many kilns are there in the yard?`."""
    found = _THERE.match(sentence)
    if not found or not found["post"] or not is_self_contained(found["post"]):
        return None
    of, post = _placed(found)
    question = f"How many {found['unit']}{of} {found['aux']} there{post}?"
    return Asked(question, _amount(found), "figure")


def _when(sentence: str, common: IsCommon) -> Asked | None:
    """`The lease was signed in March 2024.` gives `When was the lease signed?`."""
    found = _matched(_WHEN, sentence, common)
    if not found or re.search(r"\d{4}", found["subject"] + found["rest"]):
        return None
    question = f"When {found['aux']} {_subject(found, common)} {found['rest']}?"
    return Asked(question, found["date"], "date")


def _why(sentence: str, common: IsCommon) -> Asked | None:
    """`The bid was refused because it came late.` gives `Why was the bid refused?`."""
    found = _matched(_WHY, sentence, common)
    if not found or found["rest"].split()[-1] in _HALF_A_REASON:
        return None
    if not _is_known(found, common):
        return None
    question = f"Why {found['aux']} {_subject(found, common)} {found['rest']}?"
    return Asked(question, found["reason"], "reason")


def _is_known(found: re.Match[str], common: IsCommon) -> bool:
    """Say whether a reader knows which ones are meant: not any, nor some that once were."""
    subject = found["subject"]
    if subject.lower().startswith(("any ", "all ", "every ", "each ")):
        return False
    if subject.lower().startswith(("the ", "our ")) and len(subject.split()) < 3:
        return False
    is_bare = not subject.lower().startswith(ARTICLES) and common(subject.split()[0])
    return not (is_bare and found["aux"] in ("was", "were"))


def _agent(sentence: str, common: IsCommon) -> Asked | None:
    """`The budget is approved by the board.` gives `Who is the budget approved by?`."""
    found = _matched(_AGENT, sentence, common)
    if not found:
        return None
    question = f"Who {found['aux']} {_subject(found, common)} {found['verb']} by?"
    return Asked(question, found["agent"], "agent")


_RULES = (
    _costs,
    _is_amount,
    _has_amount,
    _does_amount,
    _after_amount,
    _there_are,
    _when,
    _why,
    _agent,
)


def _matched(pattern: re.Pattern[str], sentence: str, common: IsCommon) -> re.Match[str] | None:
    """Match a statement whose subject and rest are understood without what stands around them."""
    found = pattern.match(sentence)
    if not found or not is_subject(found["subject"]) or lacks_article(found["subject"], common):
        return None
    if found["aux"] in ("are", "were") and not is_plural(found["subject"]):
        return None
    groups = found.groupdict()
    rest = [groups[name] or "" for name in ("rest", "post", "verb") if name in groups]
    return found if is_self_contained(*rest) else None


def _subject(found: re.Match[str], common: IsCommon) -> str:
    return small_start(found["subject"].strip(), common)


def _amount(found: re.Match[str]) -> str:
    groups = found.groupdict()
    ends = [found.end(name) for name in ("number", "percent", "unit") if groups.get(name)]
    start = found.start("about") if groups["about"] else found.start("number")
    return found.string[start : max(ends)].strip()


def _placed(found: re.Match[str]) -> tuple[str, str]:
    """Put `of …` behind its unit (two weeks of notice); what else follows ends the question."""
    post = found["each"] + found["post"]
    return (post, "") if post.startswith(" of ") else ("", post)


def _is_money_or_share(found: re.Match[str]) -> bool:
    return bool(found["percent"]) or found["number"][0] in "$£€¥"
