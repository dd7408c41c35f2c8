"""Merge ranked lists by position, so that scores on different scales never meet. Pure."""

import math
from collections.abc import Sequence
from typing import TypeVar

Id = TypeVar("Id", str, int)

K = 60  # Cormack, Clarke and Büttcher (2009)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[Id]], weights: Sequence[float] | None = None, k: int = K
) -> list[tuple[Id, float]]:
    """Rank ids by the sum of weight / (k + rank), best first; return each with its sum.

    Ranks start at 1. A list without an id adds nothing for it, so callers leave out what they
    did not find. A list's weight is 1 unless given. Ties are broken by id.

    >>> [item for item, _ in reciprocal_rank_fusion([["X", "a", "Y"], ["b", "c", "Y"]])]
    ['Y', 'X', 'b', 'a', 'c']
    """
    terms: dict[Id, list[float]] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, item in enumerate(ranking, start=1):
            terms.setdefault(item, []).append(weight / (k + rank))
    # An exact sum, so that the order of the lists cannot move the last bit of a score.
    fused = [(item, math.fsum(parts)) for item, parts in terms.items()]
    return sorted(fused, key=lambda scored: (-scored[1], scored[0]))
