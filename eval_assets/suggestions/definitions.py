"""Which English sentences say what a thing is, and how that is asked. Pure."""

import re
from collections.abc import Callable

from eval_assets.suggestions.subjects import (
    is_plural,
    is_self_contained,
    is_subject,
    small_start,
)

_DEFINED = re.compile(
    r"(?P<start>An? |The )?(?P<term>[^\s,;:()?!\"“”][^,;:()?!\"“”]{1,48}?)"
    r"(?:\s\([A-Z][\w/&-]{1,12}\))?\s(?P<aux>is|are)\s"
    r"(?P<what>(?:an?|the|one of|our)\s[^?!]{30,200}?[^?!:])[.!]?$"
)
_DEFINES = re.compile(r"\b(?:that|which|who|where|for|used|to|of|designed|responsible|whose)\b")
# A sentence that praises a thing, counts it or gives it a place does not say what it is.
_PRAISES = re.compile(
    r"(?:one of (?:the|our)|one of|an?|the|our)\s(?:\w+ly\s)?(?:good|great"
    r"|bad|big|bit|lot|little|must|problem|common"
    r"|key|huge|small|useful|natural|powerful|helpful|essential|critical|valuable|convenient"
    r"|necessary|popular|simple|no|new|first|second|last|same|only|main|most|best|better|similar"
    r"|nice|fine|matter|responsibility|job|task|set|list|result|reason|way|goal|part|case|point|few"
    r"|number|following"
    r"|default|example|important|valid|major|minor|strong|real|perfect|pain|very|more|non|step"
    r"|chance|single|different|separate|current)\b"
)
_PEOPLE = re.compile(r"\b(?:person|engineer|manager|founder|director|who|teacher|owner|author)\b")
_FULL_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+")
_MOST_WORDS = 5


def define(sentence: str, is_common_word: Callable[[str], bool]) -> tuple[str, str] | None:
    """Return (question, term) for a sentence that says what a thing is, or None.

    >>> define("A runbook is a note that tells what to do at an alarm.", lambda word: True)
    ('What is a runbook?', 'runbook')
    """
    found = _DEFINED.match(sentence)
    if not found or found["start"] == "The " or _PRAISES.match(found["what"]):
        return None
    term = (found["start"] or "") + found["term"]
    if not _DEFINES.search(found["what"]) or not _is_term(term, is_common_word):
        return None
    is_person = _FULL_NAME.fullmatch(term) and _PEOPLE.search(found["what"])
    ask_for = "Who" if is_person else "What"
    return f"{ask_for} {found['aux']} {small_start(term, is_common_word)}?", found["term"]


def _is_term(term: str, is_common_word: Callable[[str], bool]) -> bool:
    if not term[0].isupper() or len(term.split()) > _MOST_WORDS or term.split()[0].endswith("ing"):
        return False
    if any(char.isdigit() for char in term) or not is_subject(term):
        return False
    is_bare = not term.startswith(("A ", "An ")) and small_start(term, is_common_word) != term
    return is_self_contained(term) and (not is_bare or is_plural(term))
