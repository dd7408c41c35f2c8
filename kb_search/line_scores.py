"""How near link and claim lines are to a question: by their vectors, else by its words. Pure.

A line's core has one vector, made by the build and found by the core's hash. Where the question has
none of that profile, lines are scored by the share of its words they hold.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from kb_core.text import keyword_tokens
from kb_search.graph_layer import Score
from kb_search.hybrid import QueryVector
from kb_search.knowledge_graph import Line
from kb_search.line_vectors import LineVectors

_DECIMALS = 9
_WORDS_MARGIN = 0.34  # lines by words: a third of the question's weight below the best
UNMEASURED_MARGIN = 0.03  # of models that squeeze their cosines together; see decision 0014


class Scoring(NamedTuple):
    """What scores lines, and how far below the best a line may be."""

    score: Score
    margin: float


def scores_by(
    vectors: LineVectors | None,
    query: QueryVector | None,
    weights: Mapping[str, float],
    profile_margin: float | None = None,
) -> Scoring:
    """Return what scores lines: vectors of the question's own profile, or its words' weights."""
    if vectors is None or query is None or vectors.profile != query.profile:
        return Scoring(partial(_by_words, weights), _WORDS_MARGIN)
    margin = UNMEASURED_MARGIN if profile_margin is None else profile_margin
    return Scoring(partial(_by_vectors, vectors, query, weights), margin)


def _by_vectors(
    vectors: LineVectors, query: QueryVector, weights: Mapping[str, float], lines: Sequence[Line]
) -> Sequence[float]:
    """Score by the cosine; a line whose vector is pending comes last, all pending: by words."""
    matrix, has_vector = vectors.of([line.core for line in lines])
    if not has_vector.any():
        return _by_words(weights, lines)
    near = (matrix.astype(np.float64) * query.values.astype(np.float64)).sum(axis=1)
    near[~has_vector] = 0.0
    found: list[float] = near.round(_DECIMALS).tolist()
    return found


def _by_words(weights: Mapping[str, float], lines: Sequence[Line]) -> Sequence[float]:
    total = sum(weights.values()) or 1.0
    held = (sorted(weights.keys() & set(keyword_tokens(line.core))) for line in lines)
    return [round(sum(weights[word] for word in words) / total, _DECIMALS) for words in held]
