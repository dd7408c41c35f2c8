"""A note's sections, and the sentences of one that say what its heading promises. Pure."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from eval_assets.suggestions.drafts import is_quotable
from eval_assets.suggestions.parts import Part
from eval_assets.suggestions.source import SourceNote
from eval_assets.suggestions.wording import is_unspaced, plain, sentences

MOST_ITEMS = 3
MOST_SENTENCES = 5
MOST_PASSAGES = 2
_ENOUGH_ANSWER = 25  # characters; a third of that where a character is a syllable
_SENDS_AWAY = re.compile(
    r"(?:see|please see|follow|please (?:follow|refer)|refer to|check out|read|todo|tbd|coming soon"
    r"|\*?note)\b",
    re.IGNORECASE,
)
_WITHHOLDS = re.compile(
    r"\b(?:cannot|can['’]t|do not|don['’]t|not) (?:answer|share|disclose|know)\b", re.IGNORECASE
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:below|following|above|these steps|these instructions|as follows|keep reading"
    r"|this (?:section|page|guide|document|list|table))\b|\b[Ll]et['’]s\b"
)
_UNSOUND = re.compile(r"[{}|\\]|https?:|=\s|\$[^$\d\s][^$]*\$")


Kind = Literal["prose", "list", "introduced list"]


class Answer(NamedTuple):
    """Quotes that together answer a heading, and what they were in the note."""

    quotes: tuple[str, ...]
    kind: Kind


NOTHING = Answer((), "prose")


class Section(NamedTuple):
    """A heading and what stands directly below it, as far as the next heading."""

    heading: str
    trail: tuple[str, ...]
    parts: tuple[Part, ...]
    level: int  # 0: what stands below the title


def sections_of(note: SourceNote) -> list[Section]:
    """Return a note's sections; the first is what stands below the title."""
    found: list[tuple[Part | None, list[Part]]] = [(None, [])]
    for part in note.parts:
        if part.kind == "heading":
            found.append((part, []))
        else:
            found[-1][1].append(part)
    return [
        Section(
            head.text if head else plain(note.title),
            head.trail if head else (),
            tuple(parts),
            head.depth if head else 0,
        )
        for head, parts in found
    ]


def answer_of(section: Section) -> Answer:
    """Return what answers a section's heading: its first sentences, or its list's first items.

    Nothing is returned for a section that begins with what cannot be quoted or says nothing.
    """
    if not section.parts:
        return NOTHING
    opening = section.parts[0]
    first = list(sentences(opening.text))
    if len(first) > 1 and first[-1].endswith(":"):  # what stands before the list answers too
        return NOTHING
    if opening.kind == "item" or first[-1].endswith(":"):
        items = [part.text for part in section.parts if part.kind == "item" and part.depth < 2]
        kind: Kind = "list" if opening.kind == "item" else "introduced list"
        return Answer(tuple(items[:MOST_ITEMS]), kind) if _all_said(items[:MOST_ITEMS]) else NOTHING
    passages = _passages(first)
    return Answer(tuple(passages), "prose") if _all_said(passages[:1]) else NOTHING


def _passages(said: Sequence[str]) -> list[str]:
    """Join sentences to passages that can be quoted; what follows the first must say something."""
    passages = [said[0]]
    for sentence in said[1:MOST_SENTENCES]:
        longer = f"{passages[-1]} {sentence}"
        if is_quotable(longer):
            passages[-1] = longer
        elif len(passages) < MOST_PASSAGES:
            passages.append(sentence)
        else:
            break
    return passages[:1] + [each for each in passages[1:] if _all_said([each])]


def _all_said(quotes: Sequence[str]) -> bool:
    return bool(quotes) and all(is_quotable(quote) and _is_said(quote) for quote in quotes)


def _is_said(quote: str) -> bool:
    """A quote that only sends the reader elsewhere, asks back or is code says nothing."""
    shown = plain(quote)
    enough = _ENOUGH_ANSWER // 3 if is_unspaced(shown) else _ENOUGH_ANSWER
    if len(shown) < enough or shown.endswith(("?", ":", "？", "：")):
        return False
    if _WITHHOLDS.search(shown) or _SENDS_AWAY.match(shown) or _POINTS_ELSEWHERE.search(shown):
        return False
    return not _UNSOUND.search(shown) and not re.fullmatch(r"\W*\[.*\]\W*", quote)
