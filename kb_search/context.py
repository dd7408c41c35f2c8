"""What an answerer reads, within a budget: dated lines first, then the chunks, each with its role.

A vault of notes gives link and claim lines, then the chunks of the ranking. A vault of cards gives
a few book passages as a frame, research cards as support, and neighbours that are shown. What the
lines leave of their share goes to chunks; a line that only repeats a chunk inside is left out; a
note that is current is never pushed out by one it superseded. Pure.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kb_knowledge.records import STRUCTURE, Claim
from kb_search.graph_layer import KeptLine
from kb_search.hybrid import RankedNote
from kb_search.note_roles import CURRENT, FRAME, NEIGHBOUR, PLAN, SUPERSEDED, SUPPORT, note_roles

BUDGET_TOKENS = 8_000
LINE_SHARE = 0.4
# Of a vault of cards: chunks of books, of research cards, and neighbours.
CARD_LIMITS: Mapping[str, int] = {FRAME: 3, SUPPORT: 7, NEIGHBOUR: 16}
_FRAMES = frozenset({"section"})
_CARDS = frozenset({"card", "researcher", "practitioner", "evidence"})

CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class ContextChunk:
    """One chunk as it is read."""

    note: str
    chunk_id: str
    text: str
    tokens: int  # by the home's token counter


@dataclass(frozen=True)
class Item:
    """One thing an answerer reads: a line or a chunk, which it may cite by its id."""

    id: str  # L1, L2, ... and P1, P2, ... in the order read
    role: str
    note: str
    title: str
    date: str | None
    text: str
    tokens: int

    def to_json(self) -> dict[str, Any]:
        """Return the item as a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class Context:
    """What is read, in order, and what was left out."""

    items: tuple[Item, ...]
    tokens: int
    repeated: int = 0  # lines that a chunk inside says anyway
    over_budget: int = 0  # lines and chunks for which there was no room

    def to_json(self) -> dict[str, Any]:
        """Return the context as a JSON value."""
        fields = {name: getattr(self, name) for name in ("tokens", "repeated", "over_budget")}
        return {**fields, "items": [each.to_json() for each in self.items]}


def context_chunks(ranked: Sequence[RankedNote]) -> Iterator[ContextChunk]:
    """Yield the chunks of the ranked notes: note after note, a note's best chunk first."""
    for note in ranked:
        for chunk in note.chunks:
            shown = chunk.folder.shown(chunk.row)
            yield ContextChunk(note.note_id, shown["chunk_id"], shown["text"], shown["tokens"])


def assemble(
    ranked: Sequence[RankedNote],
    lines: Sequence[KeptLine],
    count_tokens: CountTokens,
    budget: int = BUDGET_TOKENS,
    line_share: float = LINE_SHARE,
    per_source: int | None = None,
) -> Context:
    """Return what is read of a ranking and of the lines kept for it.

    `per_source` is how many chunks one note may give; None for all that are ranked.
    """
    roles = note_roles(lines)
    chunks = _chunks(ranked, roles, per_source)
    if _is_card_vault(ranked):
        chunks = _of_cards(chunks)
    room = int(budget * line_share)
    said = [_line_item(each, count_tokens) for each in lines]
    kept, left = _within(said, room)
    used = sum(each.tokens for each in kept)
    read, _ = _within(chunks, budget - used)
    quotes = {item: _quote(line) for line, item in zip(lines, said, strict=True)}
    fresh = [each for each in kept if not _is_repeated(each, quotes[each], read)]
    used = sum(each.tokens for each in fresh)
    read, out = _within(chunks, budget - used)  # what repeated lines took goes to chunks
    items = [*_numbered("L", fresh), *_numbered("P", read)]
    total = sum(each.tokens for each in items)
    return Context(tuple(items), total, len(kept) - len(fresh), len(left) + len(out))


def _chunks(
    ranked: Sequence[RankedNote], roles: Mapping[str, str], per_source: int | None
) -> list[Item]:
    """Return the ranking's chunks as items; superseded notes never stand before current ones."""
    found = []
    for note in ranked:
        for chunk in note.chunks[:per_source]:
            shown = chunk.folder.shown(chunk.row)
            role = roles.get(note.note_id) or _role_of_kind(shown["kind"])
            found.append(
                Item(
                    id="",
                    role=role,
                    note=note.note_id,
                    title=shown["title"],
                    date=shown["written_date"],
                    text=shown["text"],
                    tokens=shown["tokens"],
                )
            )
    return _current_first(found)


def _current_first(items: Sequence[Item]) -> list[Item]:
    """Put the current ones before the superseded ones, in the places that both have together."""
    places = [at for at, each in enumerate(items) if each.role in (CURRENT, SUPERSEDED)]
    order = sorted((items[at] for at in places), key=lambda each: each.role != CURRENT)
    found = list(items)
    for at, item in zip(places, order, strict=True):
        found[at] = item
    return found


def _role_of_kind(kind: str) -> str:
    return FRAME if kind in _FRAMES else SUPPORT


def _is_card_vault(ranked: Sequence[RankedNote]) -> bool:
    """Tell whether most of what was found are cards and book passages."""
    kinds = [each.chunks[0].folder.shown(each.chunks[0].row)["kind"] for each in ranked]
    cards = sum(kind in _CARDS or kind in _FRAMES for kind in kinds)
    return cards * 2 > len(kinds)


def _of_cards(items: Sequence[Item]) -> list[Item]:
    """Return the frame, then the support, then the neighbours; each no more than its limit."""
    supports = [each for each in items if each.role != FRAME]
    parts = {
        FRAME: [each for each in items if each.role == FRAME][: CARD_LIMITS[FRAME]],
        SUPPORT: supports[: CARD_LIMITS[SUPPORT]],
        NEIGHBOUR: supports[CARD_LIMITS[SUPPORT] :][: CARD_LIMITS[NEIGHBOUR]],
    }
    neighbours = [Item(**{**asdict(each), "role": NEIGHBOUR}) for each in parts[NEIGHBOUR]]
    return [*parts[FRAME], *parts[SUPPORT], *neighbours]


def _line_item(kept: KeptLine, count_tokens: CountTokens) -> Item:
    line = kept.line
    text = line_text(kept)
    date = line.claim.written_date if line.claim else line.link.last_seen if line.link else None
    notes = line.note_ids
    return Item(
        id="",
        role=line_role(kept),
        note=notes[0] if notes else "",
        title="",
        date=date,
        text=text,
        tokens=count_tokens(text),
    )


def line_role(kept: KeptLine) -> str:
    """Return what a line is: superseded, a plan, current, or support."""
    if kept.is_past:
        return SUPERSEDED
    modality = kept.line.claim.modality if kept.line.claim else ""
    if modality and modality != "fact":
        return modality if modality != "plan" else PLAN
    return CURRENT if kept.line.claim else SUPPORT


def line_text(kept: KeptLine) -> str:
    """Return a line as it is read: its core, its dates and marks, and the words it rests on."""
    line = kept.line
    marks = [*_dates(kept), *(["disputed"] if kept.is_disputed else []), *_readers(kept)]
    quote = line.claim.quote if line.claim else ""
    shown = f" ({'; '.join(marks)})" if marks else ""
    return f"{line.core}{shown}" + (f" “{quote}”" if quote and quote not in line.core else "")


def line_extractors(kept: KeptLine) -> tuple[str, ...]:
    """Return who says what a line says: `structure`, `rules-v1`, or a model's label."""
    claim, link = kept.line.claim, kept.line.link
    if claim is not None:
        return (claim.extractor,)
    return link.extractors if link is not None else ()


def _readers(kept: KeptLine) -> Iterator[str]:
    """Name who read it in prose, unless it stands somewhere as data too."""
    readers = line_extractors(kept)
    if readers and STRUCTURE not in readers:
        yield f"read by {', '.join(readers)}"


def _dates(kept: KeptLine) -> Iterator[str]:
    claim, link = kept.line.claim, kept.line.link
    if link is not None:
        if link.last_seen:
            yield f"written {link.last_seen}"
        if link.modalities and "fact" not in link.modalities:
            yield ", ".join(link.modalities)
    if claim is not None:
        yield from _claim_dates(claim)


def _claim_dates(claim: Claim) -> Iterator[str]:
    if claim.valid_from and claim.valid_from != claim.written_date:
        yield f"from {claim.valid_from}"
    if claim.written_date:
        yield f"written {claim.written_date}"
    if claim.state != "current":
        yield claim.state + (f" {claim.until}" if claim.until else "")
    if claim.modality != "fact":
        yield claim.modality


def _within(items: Sequence[Item], room: int) -> tuple[list[Item], list[Item]]:
    """Return what fits, in order, and what does not; a smaller one behind may still fit."""
    kept: list[Item] = []
    left: list[Item] = []
    for item in items:
        if item.tokens > room:
            left.append(item)
            continue
        kept.append(item)
        room -= item.tokens
    return kept, left


def _quote(kept: KeptLine) -> str:
    """Return the words a line repeats, blanks folded; none of one that says more than its words."""
    claim, link = kept.line.claim, kept.line.link
    if kept.is_past or kept.is_disputed:
        return ""
    phrases = link.phrases if link is not None else ()
    quote = claim.quote if claim is not None else next(iter(phrases), "")
    return " ".join(quote.split())


def _is_repeated(item: Item, quote: str, read: Sequence[Item]) -> bool:
    """Tell whether a chunk of the same note, which is read anyway, says a line's words."""
    return bool(quote) and any(
        each.note == item.note and quote in " ".join(each.text.split()) for each in read
    )


def _numbered(letter: str, items: Sequence[Item]) -> Iterator[Item]:
    counts: Counter[str] = Counter()
    for each in items:
        counts[letter] += 1
        yield Item(**{**asdict(each), "id": f"{letter}{counts[letter]}"})
