"""Find what a sentence states: a figure, a date, a role; and what was decided. Pure, linear.

Each form is narrow: the subject stands right before its words, the value right behind them, and
the clause ends there. A sentence that begins with "it" states nothing of anybody.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_assets.extractions.prose_forms import Forms, forms
from kb_assets.extractions.prose_links import date_after, date_at, is_free_left
from kb_assets.extractions.prose_names import BARRIER, Name
from kb_core.property_names import property_key
from kb_core.prose_cues import ProseCues

_HEAD = 60  # characters looked at before a name
_NO_NOUN_WORDS = """
    the and for with from that which different main possible other major separate more times parts
    options ways types kinds things goals values items points reasons levels choices sections
    chance issues problems open total new key days weeks months years hours minutes
"""
_NO_NOUNS = frozenset(_NO_NOUN_WORDS.split())
_ROLE_OF = re.compile(r"\s(?:of|at|for)\s(?:the\s)?")
_TIME = re.compile(
    r"(?:the\s)?(?:(?:early|late|mid|end\sof)[\s-])?(?:[0-9]|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|spring|summer|autumn|winter|last|next)",
    re.IGNORECASE,
)
_BY = re.compile(r"\sby\s(?:the\s)?")
_DECISION_END = re.compile(r"(?:,?\sand\s)?(?<!\w)(?:because|since|but)(?!\w)|因为|\s[—–-]\s")
_FEWEST_WORDS = 3  # of a decision
_LONGEST_CLAUSE = 200


class Stated(NamedTuple):
    """A value of something's attribute."""

    subject: Name
    attribute: str
    value: str
    end: int  # where the value ends in the shown text
    valid_from: str | None = None


def claims_in(text: str, names: Sequence[Name], cues: ProseCues) -> Iterator[Stated]:
    """Yield what a sentence, as shown, states of what it names."""
    form = forms(cues.language)
    for at, name in enumerate(names):
        if not is_free_left(text, names, at, cues):
            yield from _headed(text, name, form, cues)
            continue
        if name.is_owner or cues.language == "zh":
            yield from _valued(name, form.owned.match(text, name.end), cues)
        if not name.is_owner:
            yield from _figures(text, name, form, cues)
            yield from _dates(text, names[at : at + 2], form, cues)
            yield from _roles(text, names[at : at + 2], form)


def decision_in(text: str, cues: ProseCues) -> str | None:
    """Return what a sentence, as shown, says was decided."""
    found = forms(cues.language).decided.match(text)
    return decided(text[found.end() :], cues, found["act"].lower()) if found else None


def decided(rest: str, cues: ProseCues, act: str = "") -> str | None:
    """Return the clause of a decision, if it says something by itself."""
    form = forms(cues.language)
    end = _DECISION_END.search(rest)
    words = " ".join((rest[: end.start()] if end else rest).split()).strip(" ,.，。:：!；;")
    leads = {"not to": "not ", "against": "against "}
    lead = next((words for ending, words in leads.items() if act.endswith(ending)), "")
    first = words.lower()
    is_empty = any(f"{first} ".startswith(f"{each} ") for each in cues.claims["empty"])
    is_empty = (
        is_empty
        or bool(form.vague.match(words))
        or first.endswith(tuple(f" {each}" for each in cues.claims["vague"]))
    )
    size = len(words) if cues.language == "zh" else len(words.split())
    if is_empty or size < _FEWEST_WORDS or len(words) > _LONGEST_CLAUSE or BARRIER in words:
        return None
    return lead + words


def _figures(text: str, name: Name, form: Forms, cues: ProseCues) -> Iterator[Stated]:
    found = form.figure.match(text, name.end)
    if found and not _is_undated(text, found.end(), form):
        yield _valued_as(cues.figures[_folded(found["verb"])], name, found, cues)
    found = form.having.match(text, name.end)
    if found and not _NO_NOUNS & set(found["noun"].split()):
        yield Stated(name, property_key(found["noun"]), found["value"], found.end())
    found = form.moving.match(text, name.end)
    if found and not _is_undated(text, found.end(), form):
        yield _valued_as("price", name, found, cues)


def _is_undated(text: str, at: int, form: Forms) -> bool:
    """Tell whether a time is named that is no date: "in the 1820s", "in January"."""
    on = form.on.match(text, at)
    return bool(on) and bool(_TIME.match(text, on.end())) and date_at(text[on.end() :])[0] is None  # type: ignore[union-attr]


def _headed(text: str, name: Name, form: Forms, cues: ProseCues) -> Iterator[Stated]:
    """Read "the price of A is £5"."""
    head = form.head.search(text[max(0, name.start - _HEAD) : name.start])
    found = form.value.match(text, name.end) if head and not name.is_owner else None
    if head and found and not _is_undated(text, found.end(), form):
        yield _valued_as(property_key(head["noun"]), name, found, cues)


def _valued(name: Name, found: re.Match[str] | None, cues: ProseCues) -> Iterator[Stated]:
    """Read "A's price is £5"."""
    if found:
        noun = found["noun"] or found["part"]
        yield _valued_as(property_key(noun), name, found, cues)


def _valued_as(attribute: str, name: Name, found: re.Match[str], cues: ProseCues) -> Stated:
    date = date_after(found.string[found.end() :], cues.grammar.dates)
    return Stated(name, attribute, found["value"].strip(), found.end(), date)


def _dates(text: str, names: Sequence[Name], form: Forms, cues: ProseCues) -> Iterator[Stated]:
    """Read "A was accepted on 2 May 2024" and "A was accepted by B on 2 May 2024"."""
    found = form.event.match(text, names[0].end)
    if found is None:
        return
    at = found.end()
    if cues.language != "zh":
        at = _behind_doer(text, at, names)
        on = form.on.match(text, at)
        date, size = date_at(text[on.end() :]) if on else (None, 0)
        verb: str | None = _folded(found["verb"])
        at = on.end() if on else at
    else:
        date, size = date_at(text[at:])
        verb = next((each for each in cues.events if text.startswith(each, at + size)), None)
        verb = verb if verb and form.ends.match(text, at + size + len(verb)) else None
    if date and verb:
        yield Stated(names[0], cues.events[verb], date, at + size)


def _behind_doer(text: str, at: int, names: Sequence[Name]) -> int:
    """Return where a sentence goes on behind "by B"."""
    is_by = len(names) > 1 and _BY.fullmatch(text[at : names[1].start])
    return names[1].end if is_by else at


def _roles(text: str, names: Sequence[Name], form: Forms) -> Iterator[Stated]:
    """Read "A is the head of B", "A is our treasurer" and, alone, "A, Product Manager"."""
    job = form.job.match(text, names[0].end) if names[0].start == 0 else None
    if job and " " in names[0].text:
        yield Stated(names[0], "role", job["role"], job.end("role"))
    found = form.role.match(text, names[0].end)
    if not found or job:
        return
    end = found.end()
    is_named = len(names) > 1 and bool(_ROLE_OF.fullmatch(text[end : names[1].start]))
    end = names[1].end if is_named else end
    is_whole = (
        form.ends.match(text, end) if is_named or "our" in found[0].split() else _is_end(text, end)
    )
    if is_whole:
        yield Stated(names[0], "role", text[found.start("role") : end], end)


def _is_end(text: str, at: int) -> bool:
    return not text[at:].strip(" .。")


def _folded(words: str) -> str:
    return " ".join(words.lower().split())
