"""Rank notes for a question: keyword and vector rankings of chunks, fused, then grouped by note.

Pure: the same view, question and vector give the same ranking, to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kb_core.errors import SettingsError
from kb_search.folder import Folder
from kb_search.fusion import K, reciprocal_rank_fusion
from kb_search.linked import BASE_NOTES, Joined, fused_with
from kb_search.vectors import largest
from kb_search.view import View

Variant = Literal[
    "keyword", "vector", "hybrid", "keyword+linked", "hybrid+linked", "keyword+graph",
    "hybrid+graph", "hybrid+graph-untrimmed", "graph", "routed",
]  # fmt: skip
VARIANTS: tuple[str, ...] = get_args(Variant)
LINKED = "+linked"  # ends the name of a variant that the linked leg joins
KEYWORD_GRAPH, GRAPH_ALONE, ROUTED = "keyword+graph", "graph", "routed"
UNTRIMMED = "-untrimmed"
_LINES = 0.4  # of the budget

# How deep each ranking goes before fusion; deeper changed no measure. It goes deeper by itself
# where so many chunks come from fewer notes than are wanted.
LEG_CHUNKS = 100
_DEEPER = 4


@dataclass(frozen=True)
class Tuning:
    """What a sweep may turn: the fusion's k, how many of a note's chunks are kept, and of the
    graph's lines how far they may be below the best and what share of the budget is theirs.
    """

    k: int = K
    chunks_per_note: int = 3
    margin: float | None = None  # None: that of the embedder's profile
    split: float = _LINES


DEFAULT_TUNING = Tuning()


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
    score: float
    chunks: tuple[RankedChunk, ...]


# One leg's chunks by their place among the view's chunk ids, best first, with their scores.
_Leg = dict[int, float]
_Scored = tuple[int, float]


def rank(
    view: View,
    terms: Sequence[str],
    vector: QueryVector | None,
    variant: str = "hybrid",
    notes: int = 20,
    tuning: Tuning = DEFAULT_TUNING,
    join: Callable[[Sequence[int]], list[Joined]] | None = None,
) -> list[RankedNote]:
    """Return the best notes of the view: each leg places a note by its best chunk, then they fuse.

    Fusing notes and not chunks counts a note that one leg finds by this passage and the other by
    that one; over five development sets it was better in every measure. A note with several good
    chunks is not lifted: adding a share of its further chunks' scores cost recall@5 at every
    share tried. `terms` are the question's, distinct and sorted. A score is BM25 or the cosine
    in a variant of one leg, else the fused one. `join` gives the notes that the linked leg adds to
    a ranking of notes, by the view's numbers. Raises SettingsError for an unknown variant.
    """
    check_variant(variant)
    base = base_of(variant)
    by_words, by_meaning = base != "vector", vector if base != "keyword" else None
    wanted = max(notes, BASE_NOTES) if join else notes
    depth, is_deep_enough = LEG_CHUNKS, False
    while not is_deep_enough:
        keyword = _keyword_leg(view, terms, depth) if by_words else {}
        meaning = _vector_leg(view, by_meaning, depth) if by_meaning else {}
        found = _best_notes(view, keyword, meaning, wanted, tuning)
        is_deep_enough = len(found) == wanted or max(len(keyword), len(meaning)) < depth
        is_deep_enough = is_deep_enough or (join is not None and len(found) >= notes)
        depth *= _DEEPER
    if join:
        found = _joined(view, found, join, terms, tuning)[:notes]
    ranks = (_ranks(keyword), _ranks(meaning))
    return [_ranked_note(view, score, best, *ranks) for score, best in found]


def _joined(
    view: View,
    found: list[tuple[float, list[_Scored]]],
    join: Callable[[Sequence[int]], list[Joined]],
    terms: Sequence[str],
    tuning: Tuning,
) -> list[tuple[float, list[_Scored]]]:
    """Fuse the ranking with the linked leg; a note no other leg found shows its best chunks."""
    number_of = view.note_numbers[view.rows_by_id]
    chunks = {int(number_of[best[0][0]]): best for _, best in found}
    leg = join(list(chunks))
    fused = fused_with(list(chunks), leg, tuning.k) if leg else []
    scores = view.keyword.scores(terms) if any(note not in chunks for note, _ in fused) else None
    return [
        (score, chunks.get(note) or _own_chunks(view, note, scores, tuning.chunks_per_note))
        for note, score in fused
    ] or found


def _own_chunks(
    view: View, note: int, scores: NDArray[np.float64] | None, most: int
) -> list[_Scored]:
    """Return a note's best chunks by words, the first ones where it has none of them."""
    rows = view.rows_of_note(note)
    values = np.zeros(len(rows)) if scores is None else scores[view.docs[rows]]
    best = rows[np.lexsort((rows, -values))][:most]
    return [(int(place), 0.0) for place in view.id_places[best]]


def check_variant(variant: str) -> None:
    """Raise SettingsError for an unknown variant."""
    if variant not in VARIANTS:
        raise SettingsError(f"No search variant {variant!r}. There are: {', '.join(VARIANTS)}.")


def uses_graph(variant: str) -> bool:
    """Tell whether the graph layer takes part in a variant, or may."""
    return "graph" in variant or variant == ROUTED


def base_of(variant: str) -> str:
    """Return the base ranking of a variant: keyword, vector or hybrid."""
    base = variant.partition("+")[0]
    return "hybrid" if base in (GRAPH_ALONE, ROUTED) else base


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


def _best_notes(
    view: View, keyword: _Leg, meaning: _Leg, limit: int, tuning: Tuning
) -> list[tuple[float, list[_Scored]]]:
    """Return up to `limit` notes, best first: each note's score and its few best chunks.

    A leg that found nothing leaves the other's order and scores as they are.
    """
    kept = tuning.chunks_per_note
    if not (keyword and meaning):
        found = _by_note(view, list((keyword or meaning).items()))
        return [(best[0][1], best[:kept]) for best in list(found.values())[:limit]]
    legs = [list(keyword), list(meaning)]
    chunks = _by_note(view, reciprocal_rank_fusion(legs, k=tuning.k))
    notes = reciprocal_rank_fusion([_notes_of(view, leg) for leg in legs], k=tuning.k)
    return [(score, chunks[note][:kept]) for note, score in notes[:limit]]


def _by_note(view: View, ranked: list[_Scored]) -> dict[int, list[_Scored]]:
    """Group ranked chunks by note, notes in the order of their best chunks."""
    rows = view.rows_by_id[[chunk for chunk, _ in ranked]]
    found: dict[int, list[_Scored]] = {}
    for note, chunk in zip(view.note_numbers[rows].tolist(), ranked, strict=True):
        found.setdefault(note, []).append(chunk)
    return found


def _notes_of(view: View, leg: list[int]) -> list[int]:
    return list(dict.fromkeys(view.note_numbers[view.rows_by_id[leg]].tolist()))


def _ranks(leg: _Leg) -> dict[int, int]:
    return {chunk: place for place, chunk in enumerate(leg, start=1)}


def _ranked_note(
    view: View,
    score: float,
    best: list[_Scored],
    keyword: dict[int, int],
    meaning: dict[int, int],
) -> RankedNote:
    places = view.located(view.rows_by_id[[chunk for chunk, _ in best]])
    chunks = tuple(
        RankedChunk(folder, row, score, keyword.get(chunk), meaning.get(chunk))
        for (folder, row), (chunk, score) in zip(places, best, strict=True)
    )
    first = chunks[0]
    return RankedNote(first.folder.rows.note_id(first.row), score, chunks)
