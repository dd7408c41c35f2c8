"""What the answers to a question set add up to: figures by name, and the aims they have. Pure.

Names are `VARIANT.MEASURE`, `VARIANT.CATEGORY.MEASURE`, `VARIANT.lang_LANGUAGE.MEASURE` and
`FIRST_vs_SECOND.…`; `questions…` say how many each mean is taken over.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from benchmarks.report import percentile
from eval_assets.metrics import mean
from eval_assets.significance import sign_test

BASELINE = "bm25s"

Row = dict[str, Any]  # id, category, language, ranking, cpu_ms, measures
Rows = dict[str, list[Row]]  # by variant; every variant has the same questions in the same order
Figures = dict[str, float]

# What two variants are compared by, question by question: it sees every change of rank.
_COMPARED = "ndcg@10"
_GROUP_MEASURES = ("recall@5", "recall@10", "all_gold@8", "mrr", "current_first", "false_refusals")
_DIFFERENCE = "recall@10"
_SAME_LANGUAGE = "same_language"
# A pair is named by its later variant first; those not listed are later, in the order given.
_ORDER = (
    *(BASELINE, "keyword", "vector", "hybrid", "keyword+linked", "hybrid+linked"),
    *("keyword+graph", "hybrid+graph-untrimmed", "hybrid+graph", "routed", "graph"),
)
# What the graph layer stands before: its losses are looked for in every category.
_BASES = {"keyword+graph": "keyword", "hybrid+graph": "hybrid", "routed": "hybrid"}


def figures_and_aims(rows: Rows, left_out: int) -> tuple[Figures, dict[str, str]]:
    """Return every figure of these rows and the aims among them.

    `left_out` counts the set's questions that no mean holds: those without an answer.
    """
    asked = next(iter(rows.values()))
    figures: Figures = {"questions": len(asked), "questions_left_out": left_out}
    for name, found in rows.items():
        figures |= _overall(name, found)
    for key, prefix in (("category", ""), ("language", "lang_")):
        if len(_groups(asked, key)) > 1:
            figures |= _sizes(asked, key, prefix)
            for name, found in rows.items():
                figures |= _by_group(name, found, key, prefix)
    figures |= _current_first_size(asked)
    for first, second in _pairs(list(rows)):
        figures |= _compared(rows, first, second)
        if _BASES.get(first) == second:
            figures |= _compared_by_category(rows, first, second)
    differences, aims = _differences(figures, rows)
    if "hybrid_vs_keyword.is_worse" in figures:
        aims["hybrid_vs_keyword.is_worse"] = "<= 0"
    return figures | differences, aims


def _overall(name: str, found: Sequence[Row]) -> Figures:
    times = [row["cpu_ms"] for row in found]
    return {
        **{f"{name}.{measure}": round(value, 4) for measure, value in _mean(found).items()},
        f"{name}.cpu_ms_p50": round(percentile(times, 0.5), 2),
        f"{name}.cpu_ms_p95": round(percentile(times, 0.95), 2),
    }


def _by_group(name: str, found: Sequence[Row], key: str, prefix: str) -> Figures:
    return {
        f"{name}.{prefix}{group}.{measure}": round(values[measure], 4)
        for group, members in _groups(found, key).items()
        for values in (_mean(members),)
        for measure in _GROUP_MEASURES
        if measure in values
    }


def _sizes(asked: Sequence[Row], key: str, prefix: str) -> Figures:
    counts = sorted(Counter(row[key] for row in asked).items())
    return {f"questions.{prefix}{group}": count for group, count in counts}


def _current_first_size(asked: Sequence[Row]) -> Figures:
    count = sum("current_first" in row["measures"] for row in asked)
    return {"questions.current_first": count} if count else {}


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    ordered = [name for name in _ORDER if name in names]
    ordered += [name for name in names if name not in _ORDER]
    for second, first in combinations(ordered, 2):
        yield first, second


def _compared(rows: Rows, first: str, second: str) -> Figures:
    values = [[row["measures"][_COMPARED] for row in rows[name]] for name in (first, second)]
    test = sign_test(*values)
    name = f"{first}_vs_{second}"
    return {
        f"{name}.wins": test.wins,
        f"{name}.losses": test.losses,
        f"{name}.ties": test.ties,
        f"{name}.p": float(f"{test.p:.4g}"),  # rounded to places, a small one would be 0
        f"{name}.is_worse": int(test.is_worse),
    }


def _compared_by_category(rows: Rows, first: str, second: str) -> Figures:
    found: Figures = {}
    mine, theirs = (_groups(rows[name], "category") for name in (first, second))
    for category, members in mine.items():
        pairs = [
            (one["measures"][_COMPARED], other["measures"][_COMPARED])
            for one, other in zip(members, theirs[category], strict=True)
        ]
        name = f"{first}_vs_{second}.{category}"
        found[f"{name}.wins"] = sum(one > other for one, other in pairs)
        found[f"{name}.losses"] = sum(one < other for one, other in pairs)
    return found


def _differences(figures: Figures, rows: Rows) -> tuple[Figures, dict[str, str]]:
    """Return what must not be negative: words against bm25s, vectors added to words by language."""
    found: Figures = {}
    if "keyword" in rows and BASELINE in rows:
        for measure in ("recall@5", "mrr"):
            difference = figures[f"keyword.{measure}"] - figures[f"{BASELINE}.{measure}"]
            found[f"keyword_minus_{BASELINE}.{measure}"] = round(difference, 4)
    if "keyword" in rows and "hybrid" in rows:
        found |= _language_differences(rows)
    return found, dict.fromkeys(found, ">= 0")


def _language_differences(rows: Rows) -> Figures:
    """Compare within each language the questions whose notes are of that language too."""
    hybrid, keyword = (
        _groups([row for row in rows[name] if row["category"] == _SAME_LANGUAGE], "language")
        for name in ("hybrid", "keyword")
    )
    return {
        f"hybrid_minus_keyword.lang_{language}.{_DIFFERENCE}": round(
            _mean(hybrid[language])[_DIFFERENCE] - _mean(keyword[language])[_DIFFERENCE], 4
        )
        for language in hybrid
    }


def _groups(found: Sequence[Row], key: str) -> dict[str, list[Row]]:
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        groups[row[key]].append(row)
    return dict(sorted(groups.items()))


def _mean(found: Sequence[Row]) -> Figures:
    return mean([row["measures"] for row in found])
