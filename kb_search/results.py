"""What a search gives back, as data and as JSON. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kb_search.graph_layer import KeptLine
from kb_search.graph_search import Guided
from kb_search.hybrid import RankedChunk, RankedNote
from kb_search.obsidian import obsidian_link
from kb_search.quote import best_quote
from kb_search.refusal import Decision

_DECIMALS = 9


@dataclass(frozen=True)
class Legs:
    """A chunk's rank in each ranking, from 1; null where it was not found."""

    keyword: int | None
    vector: int | None


@dataclass(frozen=True)
class FoundChunk:
    """One chunk of a note that was found."""

    chunk_id: str
    score: float
    heading: str
    breadcrumb: str
    quote: str
    date: str | None
    date_basis: str
    date_is_weak: bool
    byte_start: int
    byte_end: int
    link: str
    legs: Legs


@dataclass(frozen=True)
class FoundNote:
    """One note that was found: what its best chunk says, and its other good chunks."""

    rank: int
    note: str
    title: str
    kind: str
    score: float  # of the note; its chunks have their own
    best: FoundChunk
    chunks: tuple[FoundChunk, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the note with its best chunk's fields beside its own."""
        own = {"rank": self.rank, "note": self.note, "title": self.title, "kind": self.kind}
        chunks = [asdict(chunk) for chunk in self.chunks]
        return own | asdict(self.best) | {"score": self.score, "chunks": chunks}


@dataclass(frozen=True)
class Pending:
    """What cannot be found by meaning yet, in the folders that were searched."""

    folders_without_vectors: int
    folders: int
    folders_without_words: int  # of the whole vault: registered, and not in this build yet
    texts_without_vectors: int
    texts: int


@dataclass(frozen=True)
class SearchResult:
    """The answer to one search. `note` says in words what the reader must know about it."""

    question: str
    variant: str
    build: str
    pending: Pending
    embedder: str | None
    note: str
    results: tuple[FoundNote, ...]
    ranked: tuple[RankedNote, ...] = field(default=(), repr=False, compare=False)
    guided: Guided | None = field(default=None, repr=False, compare=False)  # where the graph joined

    @property
    def decision(self) -> Decision | None:
        """What an answerer should do; None from a variant that gives no such signal."""
        return self.guided.decision if self.guided else None

    @property
    def lines(self) -> tuple[KeptLine, ...]:
        """The link and claim lines that an answerer may read."""
        return self.guided.answer.lines if self.guided else ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON value."""
        fields = {name: getattr(self, name) for name in ("question", "variant", "build")}
        decided = {"decision": asdict(self.decision)} if self.decision else {}
        return fields | {
            **decided,
            "pending": asdict(self.pending),
            "embedder": self.embedder,
            "note": self.note,
            "results": [found.to_json() for found in self.results],
        }


def found_note(rank: int, note: RankedNote, weights: Mapping[str, float], vault: str) -> FoundNote:
    """Fill in what is shown of a ranked note. `weights` are the question's terms in this scope."""
    shown = [chunk.folder.shown(chunk.row) for chunk in note.chunks]
    chunks = tuple(
        _found_chunk(chunk, fields, weights, vault)
        for chunk, fields in zip(note.chunks, shown, strict=True)
    )
    first = shown[0]
    score = round(note.score, _DECIMALS)
    return FoundNote(rank, note.note_id, first["title"], first["kind"], score, chunks[0], chunks)


def _found_chunk(
    chunk: RankedChunk, fields: Mapping[str, Any], weights: Mapping[str, float], vault: str
) -> FoundChunk:
    heading = fields["anchors"][-1] if fields["anchors"] else ""
    return FoundChunk(
        chunk_id=fields["chunk_id"],
        score=round(chunk.score, _DECIMALS),
        heading=heading,
        breadcrumb=fields["breadcrumb"],
        quote=best_quote(fields["text"], weights),
        date=fields["written_date"],
        date_basis=fields["written_basis"],
        date_is_weak=fields["written_is_weak"],
        byte_start=fields["byte_start"],
        byte_end=fields["byte_end"],
        link=obsidian_link(vault, fields["note_id"], heading),
        legs=Legs(chunk.keyword_rank, chunk.vector_rank),
    )
