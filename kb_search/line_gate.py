"""Which link and claim lines may be handed over: those of which every note may be.

A line that also stands on a refused note would tell of it by its phrases and counts. What is
superseded may stand in a chunk of an older version, which no view ranks; it goes with the note that
said it. Pure but for what the view reads from its files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from kb_search.graph_layer import KeptLine
from kb_search.hybrid import RankedChunk, RankedNote
from kb_search.view import View


class Shown(Protocol):
    """What may be handed over, asked right before it is."""

    @property
    def hands_over_all(self) -> bool:
        """Tell whether there is nothing to ask."""

    def ranked(self, found: Sequence[RankedNote]) -> list[RankedNote]:
        """Return what may of a ranking."""


def may_be_shown(lines: Sequence[KeptLine], view: View, shown: Shown) -> tuple[KeptLine, ...]:
    """Return the lines that may be handed over, in their order."""
    if shown.hands_over_all:
        return tuple(lines)
    wanted: dict[str, set[str]] = {}
    for kept in lines:
        for note in kept.line.note_ids:
            wanted.setdefault(note, set()).update(_chunk_ids(kept))
    asked = [_asked(view, note, chunks) for note, chunks in wanted.items() if note in view.notes]
    found = shown.ranked([note for note in asked if note.chunks])
    allowed = {note.note_id: {_id(chunk) for chunk in note.chunks} for note in found}
    return tuple(kept for kept in lines if _may(kept, allowed))


def chunks_of(view: View, note: str, wanted: Iterable[str]) -> list[RankedChunk]:
    """Return those chunks of a note in view that are wanted by id, in the table's order."""
    rows = view.located(view.rows_of_note(view.notes[note]))
    ids = frozenset(wanted)
    every = [RankedChunk(folder, row, 0.0, None, None) for folder, row in rows]
    return [chunk for chunk in every if _id(chunk) in ids]


def first_chunk(view: View, note: str) -> RankedChunk:
    """Return the first chunk in view of a note that has any."""
    folder, row = view.located(view.rows_of_note(view.notes[note])[:1])[0]
    return RankedChunk(folder, row, 0.0, None, None)


def _asked(view: View, note: str, wanted: Iterable[str]) -> RankedNote:
    """Return a note with the chunks to ask about; its first one where no view has them."""
    chunks = chunks_of(view, note, wanted) or [first_chunk(view, note)]
    return RankedNote(note, 0.0, tuple(chunks))


def _chunk_ids(kept: KeptLine) -> Sequence[str]:
    link, claim = kept.line.link, kept.line.claim
    if link is not None:
        return link.chunk_ids
    return (claim.chunk_id,) if claim is not None else ()


def _may(kept: KeptLine, allowed: Mapping[str, set[str]]) -> bool:
    """Tell whether each note of a line may be handed over, with a chunk that says it."""
    wanted = set(_chunk_ids(kept))
    return bool(kept.line.note_ids) and all(
        note in allowed and (kept.is_past or not wanted.isdisjoint(allowed[note]))
        for note in kept.line.note_ids
    )


def _id(chunk: RankedChunk) -> str:
    found: str = chunk.folder.rows.chunk_ids[chunk.row].as_py()
    return found
