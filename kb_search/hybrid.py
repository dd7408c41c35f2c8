"""Rank notes for a question: keyword and vector rankings of chunks, fused, then grouped by note.

Pure: the same view, question and vector give the same ranking, to the last bit.
"""

from collections.abc import Sequence
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

# How deep each ranking goes before fusion; deeper changed no measure. It goes deeper by itself
# where so many chunks come from fewer notes than are wanted.
LEG_CHUNKS = 100
_DEEPER = 4
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
    score: float
    keyword_rank: int | None
    vector_rank: int | None


@dataclass(frozen=True)
class RankedNote:
    """A note, with its best chunks, best first."""

    note_id: str
    chunks: tuple[RankedChunk, ...]


# One leg's chunks by their place among the view's chunk ids, best first, with their scores.
_Leg = dict[int, float]


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
    check_variant(variant)
    by_words, by_meaning = variant != "vector", vector if variant != "keyword" else None
    depth, is_deep_enough = LEG_CHUNKS, False
    while not is_deep_enough:
        keyword = _keyword_leg(view, terms, depth) if by_words else {}
        meaning = _vector_leg(view, by_meaning, depth) if by_meaning else {}
        found = _by_note(view, _fused(keyword, meaning), notes)
        is_deep_enough = len(found) == notes or max(len(keyword), len(meaning)) < depth
        depth *= _DEEPER
    ranks = (_ranks(keyword), _ranks(meaning))
    return [_ranked_note(view, best, *ranks) for best in found]


def check_variant(variant: str) -> None:
    """Raise SettingsError for an unknown variant."""
    if variant not in get_args(Variant):
        raise SettingsError(
            f"No search variant {variant!r}. There are: {', '.join(get_args(Variant))}."
        )


def _keyword_leg(view: View, terms: Sequence[str], depth: int) -> _Leg:
    scores = view.keyword.scores(terms)
    docs = largest(scores, depth)
    return _leg(view, docs, scores[docs], depth)


def _vector_leg(view: View, vector: QueryVector, depth: int) -> _Leg:
    docs, scores = view.vectors(vector.profile).best(vector.values, depth)
    return _leg(view, docs, scores, depth)


def _leg(view: View, docs: NDArray[np.int64], scores: NDArray[np.float64], depth: int) -> _Leg:
    is_match = scores > 0
    rows, at = view.rows_of(docs[is_match])
    places, scored = view.id_places[rows], scores[is_match][at]
    best = np.lexsort((places, -scored))[:depth]
    return dict(zip(places[best].tolist(), scored[best].tolist(), strict=True))


def _fused(keyword: _Leg, meaning: _Leg) -> list[tuple[int, float]]:
    """Fuse the legs. One that found nothing leaves the other's order and scores as they are."""
    if keyword and meaning:
        return reciprocal_rank_fusion([list(keyword), list(meaning)])
    return list((keyword or meaning).items())


def _by_note(
    view: View, fused: list[tuple[int, float]], limit: int
) -> list[list[tuple[int, float]]]:
    """Group the ranking by note, up to `limit` notes of a few chunks each."""
    rows = view.rows_by_id[[chunk for chunk, _ in fused]]
    found: dict[int, list[tuple[int, float]]] = {}
    for note, chunk in zip(view.note_numbers[rows].tolist(), fused, strict=True):
        if note in found or len(found) < limit:
            found.setdefault(note, []).append(chunk)
    return [best[:SHOWN_CHUNKS] for best in found.values()]


def _ranks(leg: _Leg) -> dict[int, int]:
    return {chunk: place for place, chunk in enumerate(leg, start=1)}


def _ranked_note(
    view: View, best: list[tuple[int, float]], keyword: dict[int, int], meaning: dict[int, int]
) -> RankedNote:
    places = view.located(view.rows_by_id[[chunk for chunk, _ in best]])
    chunks = tuple(
        RankedChunk(folder, row, score, keyword.get(chunk), meaning.get(chunk))
        for (folder, row), (chunk, score) in zip(places, best, strict=True)
    )
    first = chunks[0]
    return RankedNote(first.folder.rows.note_id(first.row), chunks)
