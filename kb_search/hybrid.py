"""Rank notes for a question: keyword and vector rankings of chunks, fused, then grouped by note.

Pure: the same view, question and vector give the same ranking, to the last bit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kb_core.errors import SettingsError
from kb_search.build import Folder
from kb_search.fusion import reciprocal_rank_fusion
from kb_search.vectors import largest
from kb_search.view import View

Variant = Literal["keyword", "vector", "hybrid"]

# How deep each ranking goes before fusion. Twenty notes rarely need more than sixty chunks.
LEG_CHUNKS = 200
SHOWN_CHUNKS = 3


@dataclass(frozen=True)
class QueryVector:
    """The question as a vector, and the key of the profile that made it."""

    profile: str
    values: NDArray[np.float32]


@dataclass(frozen=True)
class RankedChunk:
    """One chunk of the ranking, and its place in each ranking it came from."""

    folder: Folder
    row: int
    chunk_id: str
    score: float
    keyword_rank: int | None
    vector_rank: int | None


@dataclass(frozen=True)
class RankedNote:
    """A note, with its best chunks, best first."""

    note_id: str
    chunks: tuple[RankedChunk, ...]


@dataclass(frozen=True)
class _Leg:
    """One ranking of chunks: ids, best first, with where each is and what it scored."""

    ids: tuple[str, ...]
    places: dict[str, tuple[Folder, int]]
    scores: dict[str, float]

    @property
    def ranks(self) -> dict[str, int]:
        return {chunk_id: rank for rank, chunk_id in enumerate(self.ids, start=1)}


_NOTHING = _Leg((), {}, {})


def rank(
    view: View,
    terms: Sequence[str],
    vector: QueryVector | None,
    variant: str = "hybrid",
    notes: int = 20,
) -> list[RankedNote]:
    """Return the best notes of the view, each placed by its best chunk.

    A note with several good chunks is not lifted: adding a share of its further chunks' scores
    cost recall@5 at every share tried. `terms` are the question's, distinct and sorted. A
    chunk's score is its BM25 or its cosine in a variant of one leg, else the fused one. Raises
    SettingsError for an unknown variant.
    """
    if variant not in get_args(Variant):
        raise SettingsError(
            f"No search variant {variant!r}. There are: {', '.join(get_args(Variant))}."
        )
    keyword = _keyword_leg(view, terms) if variant != "vector" else _NOTHING
    meaning = _vector_leg(view, vector) if vector and variant != "keyword" else _NOTHING
    return _by_note(_merged(keyword, meaning), notes)


def _keyword_leg(view: View, terms: Sequence[str]) -> _Leg:
    scores = view.keyword.scores(terms)
    docs = largest(scores, LEG_CHUNKS)
    docs = docs[scores[docs] > 0]
    return _leg(view, docs, scores[docs])


def _vector_leg(view: View, vector: QueryVector) -> _Leg:
    docs, scores = view.vectors(vector.profile).best(vector.values, LEG_CHUNKS)
    is_near = scores > 0
    return _leg(view, docs[is_near], scores[is_near])


def _leg(view: View, docs: NDArray[np.int64], scores: NDArray[np.float64]) -> _Leg:
    rows, at = view.rows_of(docs)
    places = view.located(rows)
    ids = [folder.rows.chunk_ids[row].as_py() for folder, row in places]
    scored = dict(zip(ids, scores[at].tolist(), strict=True))
    order = sorted(ids, key=lambda chunk_id: (-scored[chunk_id], chunk_id))[:LEG_CHUNKS]
    return _Leg(tuple(order), dict(zip(ids, places, strict=True)), scored)


def _merged(keyword: _Leg, meaning: _Leg) -> Iterable[RankedChunk]:
    """Fuse the legs. One that found nothing leaves the other's order and scores as they are."""
    keyword_ranks, vector_ranks = keyword.ranks, meaning.ranks
    if keyword_ranks and vector_ranks:
        fused = reciprocal_rank_fusion([keyword.ids, meaning.ids])
    else:
        fused = [(each, leg.scores[each]) for leg in (keyword, meaning) for each in leg.ids]
    places = keyword.places | meaning.places
    for chunk_id, score in fused:
        yield RankedChunk(
            *places[chunk_id],
            chunk_id,
            score,
            keyword_ranks.get(chunk_id),
            vector_ranks.get(chunk_id),
        )


def _by_note(chunks: Iterable[RankedChunk], limit: int) -> list[RankedNote]:
    found: dict[str, list[RankedChunk]] = {}
    for chunk in chunks:
        note_id = chunk.folder.rows.note_ids[chunk.row].as_py()
        if note_id in found or len(found) < limit:
            found.setdefault(note_id, []).append(chunk)
    return [RankedNote(note_id, tuple(best[:SHOWN_CHUNKS])) for note_id, best in found.items()]
