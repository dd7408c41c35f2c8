"""Judge saved conversations by cue words and figures, without a language model. Pure, linear.

It is the offline twin of what a model judges: modest, and rather keeping too much than too little,
because what is left is not read. The cue words are those that questions use, in every language
there is, and a few of this stage's own.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from kb_assets.asking.conversation_requests import conversations
from kb_assets.asking.conversation_verdicts import NOTHING
from kb_core.names import folded, is_unspaced
from kb_core.ontology import cues, languages
from kb_knowledge.records import RULES

VERSION = "1"  # raise it when equal conversations would be judged in another way

Row = dict[str, Any]

_COLUMNS = ["version_id", "note_id", "is_current", "kind", "ordinal", "text"]
_ENOUGH = 3  # points
_MOST_HITS = 3  # of one reason: a long conversation is not worth more for being long
# How much each reason counts for, in order of which is named first where two count alike.
_POINTS = {"decision": 3, "lesson": 3, "person": 2, "figure": 1, "plan": 1}
_LINKS = {
    "decision": ("DECIDED", "DECIDED_BY"),
    "lesson": ("LEARNED_FROM",),
    "person": ("INTRODUCED", "WORKS_FOR", "REPORTS_TO"),
}
_OWN_WORDS = {
    "decision": (
        *("we decided", "i decided", "we agreed", "let's go with", "we'll go with", "i'll go with"),
        *("we chose", "i chose", "we settled on", "final decision", "approved", "signed off"),
        *("wir haben entschieden", "beschlossen", "einigten uns", "我们决定", "最终决定", "同意了"),
    ),
    "lesson": (
        *("lesson learned", "we learned", "i learned", "next time", "in hindsight", "mistake was"),
        *("gelernt", "nächstes mal", "im nachhinein", "吸取教训", "下次", "经验教训"),
    ),
    "person": ("introduced me", "introduced us", "my boss", "our client", "colleague", "同事"),
    "plan": (
        *("we will", "i will", "we plan", "i plan", "going to", "deadline", "due on", "scheduled"),
        *("wir werden", "ich werde", "geplant", "frist", "我们将", "计划", "打算", "截止"),
    ),
}
# Words of single letters' length apart, these say nothing of their reason in a conversation.
_TOO_COMMON = frozenset(
    ("decision", "decisions", "decided in", "staff", "reports", "report to", "决定", "单位", "教训")
)
_AMOUNT = r"[0-9]+(?:[.,'][0-9]+)*"
_FIGURE = re.compile(
    rf"[$€£¥]\s?{_AMOUNT}|{_AMOUNT}\s?(?:%|€|£|\$|usd|eur|gbp|chf|cny|percent|prozent|dollars?|euros?"
    rf"|pounds?|k\b|million|billion|hours?|days?|weeks?|months?|years?|kg|km|kwh|元|万|亿|人|天|个月)"
    r"|\b(?:19|20)[0-9]{2}-[01][0-9](?:-[0-3][0-9])?\b"
)


def rule_verdicts(chunks: pa.Table) -> list[Row]:
    """Return a row of the contract `triage` for every version of a conversation, in order."""
    found = []
    for rows in conversations(chunks.select(_COLUMNS)):
        reason = _reason(row["text"] for row in rows)
        found.append(
            {
                "version_id": rows[0]["version_id"],
                "note_id": rows[0]["note_id"],
                "is_kept": reason != NOTHING,
                "reason": reason,
                "extractor": RULES,
            }
        )
    return found


def _reason(texts: Iterable[str]) -> str:
    """Return what a conversation is kept for, or that nothing speaks for it."""
    hits = dict.fromkeys(_POINTS, 0)
    patterns = _patterns()
    for text in texts:
        words = folded(text)
        for reason, pattern in patterns.items():
            hits[reason] += sum(1 for _ in pattern.finditer(words))
    points = {reason: _POINTS[reason] * min(hits[reason], _MOST_HITS) for reason in _POINTS}
    if sum(points.values()) < _ENOUGH:
        return NOTHING
    return max(points, key=lambda reason: points[reason])


@lru_cache(maxsize=1)
def _patterns() -> Mapping[str, re.Pattern[str]]:
    words = {reason: set(_OWN_WORDS.get(reason, ())) for reason in _POINTS}
    for language in languages():
        links = cues(language).links
        for reason, types in _LINKS.items():
            for kind in types:
                if kind in links:
                    words[reason].update(links[kind].forward, links[kind].inverse)
    found = {reason: _any_of(each - _TOO_COMMON) for reason, each in words.items() if each}
    return {**found, "figure": _FIGURE}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Compile words, the longest first; one of a script with blanks stands alone."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_alone, ordered)))


def _alone(word: str) -> str:
    escaped = re.escape(folded(word))
    return escaped if is_unspaced(word[0]) else rf"(?<!\w){escaped}(?!\w)"
