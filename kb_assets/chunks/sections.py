"""Divide a note at its headings. Pure, linear.

A section is a heading with what stands below it, up to the next heading of any level; what
stands above the first heading is a section too. The headings above a section, outermost first and
its own included, are its trail; a first heading that repeats the note's title is left out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kb_assets.chunks.blocks import Block, read_blocks
from kb_assets.chunks.written_dates import Own, heading_date


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's own part of a note, never empty."""

    trail: tuple[str, ...]
    level: int  # of its heading; 0 above the first heading
    date: str | None  # the nearest dated heading of its trail
    blocks: tuple[Block, ...]


def read_sections(body: str, title: str, own: Own = Own.UNDATED) -> list[Section]:
    """Return a note's sections in order; a note without text has none.

    A first heading that repeats the title speaks of the whole note, and dates only a note without
    a date of its own: "Election of January 2019" may have been written before.
    """
    sections: list[Section] = []
    above: list[Block] = []
    blocks: list[Block] = []
    for block in read_blocks(body):
        if block.level:
            _add(sections, above, blocks, title, own)
            above = [heading for heading in above if heading.level < block.level]
            above.append(block)
            blocks = []
        blocks.append(block)
    _add(sections, above, blocks, title, own)
    return sections


def _add(
    sections: list[Section],
    above: Sequence[Block],
    blocks: Sequence[Block],
    title: str,
    own: Own,
) -> None:
    if not blocks:
        return
    trail = [heading.title for heading in above]
    below = trail[1:] if trail and _is_same(trail[0], title) else trail
    dating = trail if own is Own.UNDATED else below
    dates = [date for date in (heading_date(heading, own) for heading in dating) if date]
    sections.append(
        Section(
            trail=tuple(heading for heading in below if heading),
            level=above[-1].level if above else 0,
            date=dates[-1] if dates else None,
            blocks=tuple(blocks),
        )
    )


def _is_same(heading: str, title: str) -> bool:
    return heading.casefold().split() == title.casefold().split()


def common_trail(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return the headings above all of these sections: what can be said of them together."""
    first, last = min(s.trail for s in sections), max(s.trail for s in sections)
    # Whatever the smallest and the largest of sorted trails share, all of them share.
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return first[:shared]
