"""What is wrong with authored cards: one idea a card, found by its summary, linked. Pure.

A card holds one idea, so two level-2 headings that begin with "Essence" are two ideas. It is one
chunk and is reached as a whole: its headings need no links of their own. A section (a passage of
a book or a manuscript, kind `section`) is reached when a link joins it to another note in either
direction, when it names one or is named, or when a card carries one of its tags. A concept
lacks its card when cards link to a note that does not exist.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from kb_assets.chunks.cards import CARD_KINDS, property_values
from kb_assets.notes.markdown import Heading, read_body
from kb_core.names import name_key
from kb_serve.reports.grouping import Row
from kb_serve.reports.set_join import similar_groups
from kb_serve.reports.shingles import Shingles

SECTION_KIND = "section"
KINDS = CARD_KINDS | {SECTION_KIND}

MANY_IDEAS = "more than one idea"
NO_SUMMARY = "no summary"
SAME_NAME = "one name, several cards"
ALIKE = "cards alike"
NO_CARD = "concept without a card"
ISOLATED = "isolated card"
UNREACHED = "section no link reaches"
_CODES = (MANY_IDEAS, NO_SUMMARY, SAME_NAME, ALIKE, NO_CARD, ISOLATED, UNREACHED)

# Of all words in both. Among 6,216 pairs of the sample's notes, none of which says the same, the
# most alike share .32; pages of dendron-site that were written from one another share .5 to .8.
_ALIKE = 0.5
_FILE = re.compile(r"\.\w{1,5}$")  # a picture that is missing is no concept
_SUMMARY = frozenset({"summary"})


@dataclass(frozen=True)
class Card:
    """A present note of a card's or a section's kind."""

    note: str
    kind: str
    title: str
    aliases: Sequence[str]
    tags: Sequence[str]
    properties: Sequence[dict[str, str]]
    body: str  # without front matter


@dataclass(frozen=True)
class Reach:
    """What the vault's links say, as the lint needs it."""

    linked: Set[str]  # notes that a link joins to another
    named: Set[str]  # notes that name others without a link, or are named
    dangling: Sequence[Row]  # rows of dangling_links


def card_lint(cards: Sequence[Card], reach: Reach) -> list[Row]:
    """Return one row per fault, by kind of fault: code, notes, what (what it is about, or "")."""
    ideas = [card for card in cards if card.kind != SECTION_KIND]
    sections = [card for card in cards if card.kind == SECTION_KIND]
    tags = {tag for card in ideas for tag in card.tags}
    rows = [
        *_each(MANY_IDEAS, ideas, lambda card: _essences(read_body(card.body).headings) > 1),
        *_each(NO_SUMMARY, ideas, lambda card: not _has_summary(card)),
        *_same_names(ideas),
        *_alike(ideas),
        *_without_card(ideas, reach),
        *_each(ISOLATED, ideas, lambda card: card.note not in reach.linked),
        *_each(UNREACHED, sections, lambda card: not _is_reached(card, reach, tags)),
    ]
    return sorted(rows, key=lambda row: (_CODES.index(row["code"]), row["notes"], row["what"]))


def _each(code: str, cards: Iterable[Card], is_wrong: Callable[[Card], bool]) -> list[Row]:
    return [{"code": code, "notes": [card.note], "what": ""} for card in cards if is_wrong(card)]


def _essences(headings: Iterable[Heading]) -> int:
    return sum(
        1 for each in headings if each.level == 2 and each.text.lower().startswith("essence")
    )


def _has_summary(card: Card) -> bool:
    return bool(property_values(card.properties, _SUMMARY)) or _has_summary_section(card.body)


def _has_summary_section(body: str) -> bool:
    """Tell whether there is text below a heading called Summary."""
    data, headings = body.encode(), read_body(body).headings
    ends = [heading.start for heading in headings[1:]] + [len(data)]
    return any(
        heading.text.casefold().strip(" :") in _SUMMARY and data[heading.end : end].strip()
        for heading, end in zip(headings, ends, strict=False)  # none: no headings
    )


def _same_names(cards: Sequence[Card]) -> list[Row]:
    carriers: dict[str, dict[str, str]] = defaultdict(dict)
    for card in cards:
        for form in (card.title, *card.aliases):
            carriers[name_key(form)].setdefault(card.note, form)
    return [
        {"code": SAME_NAME, "notes": sorted(notes), "what": min(notes.values())}
        for notes in carriers.values()
        if len(notes) > 1
    ]


def _alike(cards: Sequence[Card]) -> list[Row]:
    shingles = Shingles(1)
    sets = [shingles.of(_found_and_read(card)) for card in cards]
    return [
        {"code": ALIKE, "notes": sorted(cards[at].note for at in group.members), "what": ""}
        for group in similar_groups(sets, _ALIKE)
    ]


def _found_and_read(card: Card) -> str:
    return "\n".join([card.title, *property_values(card.properties, _SUMMARY), card.body])


def _without_card(cards: Sequence[Card], reach: Reach) -> list[Row]:
    there = {card.note for card in cards}
    rows = []
    for row in reach.dangling:
        sources = [note for note in row["sources"] if note in there]
        if sources and not _FILE.search(row["target"]):
            rows.append({"code": NO_CARD, "notes": sources, "what": row["target"]})
    return rows


def _is_reached(section: Card, reach: Reach, tags: Set[str]) -> bool:
    return (
        section.note in reach.linked or section.note in reach.named or bool(tags & {*section.tags})
    )
