"""Measures of one question: what was ranked, what was decided, what leaked. Pure, deterministic.

What is essential is a list of *groups* of note ids: each group is one thing that must be found, and
any of its notes will do (two notes may carry the same title). Ranks count from 1. Definitions are
those of information retrieval: recall, reciprocal rank (Voorhees 1999) and nDCG (Järvelin and
Kekäläinen 2002) with gain 2 for essential and 1 for supporting notes.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Group = frozenset[str]
Behaviour = Literal["answer", "refuse", "ask_back"]

RECALL_DEPTHS = (5, 10, 20)
ALL_GOLD_DEPTHS = (8, 20)
NDCG_DEPTH = 10
_ESSENTIAL_GAIN = 2
_SUPPORTING_GAIN = 1
# In these it matters that an essential note stands above its outdated or only planned rivals.
CURRENT_FIRST_CATEGORIES = ("temporal", "modality_trap")
# By what an answerer should do: the measure that counts, and what it counts.
_DECISIONS: dict[str, tuple[str, Behaviour]] = {
    "refuse": ("refused", "refuse"),
    "answer": ("false_refusals", "refuse"),
    "ask_back": ("asked_back", "ask_back"),
}


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


def current_first(
    ranking: Sequence[str], essential: Collection[str], grade_one: Collection[str]
) -> float | None:
    """Return 1.0 if the best-ranked essential note stands above every grade-1 note, else 0.0.

    A note that was not ranked stands last: without an essential note the value is 0.0, whatever
    else is missing. None where nothing has grade 1: such a question doesn't count.
    """
    if not grade_one:
        return None
    graded = (note for note in ranking if note in essential or note in grade_one)
    return float(next(graded, None) in essential)


def decision_measures(expected: Behaviour, did: Behaviour | None) -> dict[str, float]:
    """Return the one measure that a question's expected behaviour has: 1.0 or 0.0.

    `refused` (expected "refuse") and `asked_back` (expected "ask_back") are good,
    `false_refusals` (expected "answer") is bad. Empty for a variant that gives no such signal
    (`did` is None), so that its mean is absent and not 0.
    """
    if did is None:
        return {}
    name, counted = _DECISIONS[expected]
    return {name: float(did == counted)}


def leaks(outputs: Iterable[str], forbidden: Iterable[str]) -> int:
    """Return how many different forbidden ids stand in any output; anything but 0 is a fault.

    An output is an id or a text that may name one, read as written: unescape JSON and links
    first. An id inside a longer name or path is another id ("A.md" in "Work/A.md"), but not
    after a blank, since names hold blanks: rather a false alarm than a leak unseen.
    """
    texts = list(outputs)
    names = [_standing_alone(name) for name in set(forbidden)]
    return sum(any(name.search(text) for text in texts) for name in names)


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over questions that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {
        name: sum(values) / len(values)
        for name in names
        if (values := [row[name] for row in rows if name in row])
    }


def _standing_alone(name: str) -> re.Pattern[str]:
    # ASCII only: Chinese and Japanese write a name right behind a word.
    return re.compile(rf"(?<![A-Za-z0-9_/-]){re.escape(name)}(?![A-Za-z0-9_])")
