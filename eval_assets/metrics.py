"""Measures of one ranking against what should have been found. Pure and deterministic.

What is essential is a list of *groups* of note ids: each group is one thing that must be found, and
any of its notes will do (two notes may carry the same title). Ranks count from 1. Definitions are
those of information retrieval: recall, reciprocal rank (Voorhees 1999) and nDCG (Järvelin and
Kekäläinen 2002) with gain 2 for essential and 1 for supporting notes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Group = frozenset[str]

RECALL_DEPTHS = (5, 10, 20)
ALL_GOLD_DEPTHS = (8, 20)
NDCG_DEPTH = 10
_ESSENTIAL_GAIN = 2
_SUPPORTING_GAIN = 1


@dataclass(frozen=True)
class Judgement:
    """What a question should find."""

    essential: tuple[Group, ...]
    supporting: tuple[Group, ...] = ()  # neither essential nor a distractor
    distractors: Group = frozenset()


def measures(ranking: Sequence[str], judged: Judgement) -> dict[str, float]:
    """Return every measure of a ranking of distinct note ids, best first.

    Raises ValueError for a question without anything essential: it has no recall.
    """
    if not judged.essential:
        raise ValueError("a question without essential notes has no recall")
    ranks = [first_rank(ranking, group) for group in judged.essential]
    found = [rank for rank in ranks if rank]
    values = {
        f"recall@{depth}": sum(rank <= depth for rank in found) / len(ranks)
        for depth in RECALL_DEPTHS
    }
    for depth in ALL_GOLD_DEPTHS:
        values[f"all_gold@{depth}"] = float(
            len(found) == len(ranks) and max(found, default=0) <= depth
        )
    values["mrr"] = 1 / min(found) if found else 0.0
    values[f"ndcg@{NDCG_DEPTH}"] = ndcg(ranking, judged, NDCG_DEPTH)
    return values


def first_rank(ranking: Sequence[str], group: Group) -> int:
    """Return the rank of the first note of a group, 0 if none is there."""
    return next((rank for rank, note in enumerate(ranking, start=1) if note in group), 0)


def ndcg(ranking: Sequence[str], judged: Judgement, depth: int) -> float:
    """Return the discounted gain over the best possible one; each group counts once."""
    gains = [(group, _ESSENTIAL_GAIN) for group in judged.essential]
    gains += [(group, _SUPPORTING_GAIN) for group in judged.supporting]
    reached = 0.0
    for group, gain in gains:
        rank = first_rank(ranking[:depth], group)
        reached += gain / math.log2(rank + 1) if rank else 0.0
    ideal = sorted((gain for _, gain in gains), reverse=True)[:depth]
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    return reached / best


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over questions that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {
        name: sum(values) / len(values)
        for name in names
        if (values := [row[name] for row in rows if name in row])
    }
