"""Did the answers get worse? A build's scores against those of the last one that was scored. Pure.

Only questions that did not change are compared. The old build's scores are those it had when it
was new: asked again today, it would suffer from a broken embedder as the new one does.
"""

import math
from collections.abc import Mapping
from typing import Any

# What is read out of a ranking: was it found, was it found high up, can it be read.
GATED = ("recall@10", "ndcg@10", "fact_recall@8k")

# One question that lost is news for its owner, no reason to keep everybody's new notes back.
_FEWEST_LOST = 2
_EQUAL = 1e-9
_AT_ONCE_MS = 50  # a median below this is no delay to anybody

Evaluation = Mapping[str, Any]


def score_problems(
    new: Evaluation, old: Evaluation, *, margin: float, latency_ratio: float
) -> list[str]:
    """Return why a build's scores forbid it to answer; empty when they don't.

    An evaluation holds `variant`, `figures`, `questions` (id -> key and measures) and
    `latency_ratio` (the median of its answers' times over the old build's, both measured in one
    run; absent if the old one could not be asked). `margin` is what a mean may fall by,
    `latency_ratio` the most; a vault that grew tenfold answers later, and nobody notices as long
    as it is at once.
    """
    problems = [
        problem
        for measure in GATED
        if (problem := _fallen(measure, new, old, margin=margin)) is not None
    ]
    ratio = new.get("latency_ratio")
    if ratio is not None and ratio > latency_ratio and not _is_at_once(new):
        problems.append(
            f"answers take {ratio:.1f} times as long as the last build's (at most "
            f"{latency_ratio:.1f}, `publish.latency_ratio`)"
        )
    return problems


def shared_questions(new: Evaluation, old: Evaluation) -> list[str]:
    """Return the ids of questions that both builds were asked in the same words, sorted."""
    mine, theirs = new["questions"], old["questions"]
    return sorted(
        name for name in mine if name in theirs and mine[name]["key"] == theirs[name]["key"]
    )


def _is_at_once(new: Evaluation) -> bool:
    return float(new["figures"].get("latency_ms_p50", math.inf)) < _AT_ONCE_MS


def _fallen(measure: str, new: Evaluation, old: Evaluation, *, margin: float) -> str | None:
    values = [
        (new["questions"][name][measure], old["questions"][name][measure])
        for name in shared_questions(new, old)
        if measure in new["questions"][name] and measure in old["questions"][name]
    ]
    lost = sum(now < before - _EQUAL for now, before in values)
    won = sum(now > before + _EQUAL for now, before in values)
    if lost - won < _FEWEST_LOST:
        return None
    now = sum(value for value, _ in values) / len(values)
    before = sum(value for _, value in values) / len(values)
    if now >= before - margin - _EQUAL:
        return None
    return (
        f"{measure} of {new['variant']} fell from {before:.2f} to {now:.2f} over {len(values)} "
        f"questions ({lost} lost, {won} won; at most -{margin:.2f}, `publish.score_margin`)"
    )
