"""What an answerer reads: the full text of what was ranked, in the ranking's order. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb_search.hybrid import RankedNote


@dataclass(frozen=True)
class ContextChunk:
    """One chunk as it is read."""

    note: str
    chunk_id: str
    text: str
    tokens: int  # by the home's token counter


def context_chunks(ranked: Sequence[RankedNote]) -> Iterator[ContextChunk]:
    """Yield the chunks of the ranked notes: note after note, a note's best chunk first."""
    for note in ranked:
        for chunk in note.chunks:
            shown = chunk.folder.shown(chunk.row)
            yield ContextChunk(note.note_id, shown["chunk_id"], shown["text"], shown["tokens"])
