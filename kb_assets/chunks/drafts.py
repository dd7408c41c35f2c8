"""Decide where a note is cut, and what each chunk says and stands under. Pure.

Positions are those of characters in the note's body: bytes, ids and columns come later.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kb_assets.chunks.chats import CHAT_KIND, Turn, read_turns, speakers_between, turn_parts
from kb_assets.chunks.cutting import Part, cut_block
from kb_assets.chunks.limits import Limits
from kb_assets.chunks.packing import (
    Group,
    Piece,
    SizedSection,
    join_same_date,
    join_small,
    pack,
)
from kb_assets.chunks.sections import Section, common_trail
from kb_core.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk before it has a note."""

    start: int
    end: int
    text: str
    tokens: int
    trail: tuple[str, ...] = ()  # headings above all of it
    anchors: tuple[str, ...] = ()  # headings above its first line
    date: str | None = None  # of the nearest dated heading
    speakers: tuple[str, ...] = ()


def draft_note(
    body: str, sections: Sequence[Section], kind: str, limits: Limits, counter: TokenCounter
) -> list[Draft]:
    """Cut one note that is no card. A note without text gives none."""
    blocks = [block for section in sections for block in section.blocks]
    turns = read_turns(body, blocks) if kind == CHAT_KIND else []
    sized = [_sized(body, section, limits, counter) for section in sections]
    is_whole = sum(section.tokens for section in sized) <= limits.whole_note_tokens
    if is_whole:
        limits = replace(limits, largest_tokens=limits.whole_note_tokens)
    groups = join_same_date(sized) if is_whole or turns else join_small(sized, limits)
    drafts = [
        _draft(body, piece, group, turns)
        for group in groups
        for piece in pack(body, _parts(body, group, turns, limits, counter), limits, counter)
    ]
    if is_whole and len(drafts) == 1:
        # What stands in a whole note is under its title, not under its first heading.
        drafts = [replace(drafts[0], trail=(), anchors=())]
    return [draft for draft in drafts if draft.text]


def _sized(body: str, section: Section, limits: Limits, counter: TokenCounter) -> SizedSection:
    parts = tuple(
        part
        for block in section.blocks
        for part in cut_block(body, block, limits.largest_tokens, counter)
    )
    return SizedSection(section, parts, sum(part.tokens for part in parts))


def _parts(
    body: str, group: Group, turns: Sequence[Turn], limits: Limits, counter: TokenCounter
) -> list[Part]:
    if turns:
        blocks = [block for sized in group for block in sized.section.blocks]
        return turn_parts(body, blocks, turns, limits.largest_tokens, counter)
    return [part for sized in group for part in sized.parts]


def _draft(body: str, piece: Piece, group: Group, turns: Sequence[Turn]) -> Draft:
    own = body[piece.start : piece.end]
    start = piece.start + len(own) - len(own.lstrip())
    covered = list(_covered(group, piece))
    return Draft(
        start=start,
        end=start + len(own.strip()),
        text=body[piece.lead : piece.end].strip(),
        tokens=piece.tokens,
        trail=common_trail(covered),
        anchors=covered[0].trail,
        date=covered[0].date,
        speakers=tuple(speakers_between(turns, start, piece.end)),
    )


def _covered(group: Group, piece: Piece) -> Iterator[Section]:
    """Yield the sections that a piece has a part of."""
    first = bisect_right(group, piece.start, key=_start) - 1
    last = bisect_left(group, piece.end, key=_start)
    return (sized.section for sized in group[first:last])


def _start(sized: SizedSection) -> int:
    return sized.section.blocks[0].start
