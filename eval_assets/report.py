"""Scores as tables that a person reads: per variant, category and language, and what moved. Pure.

Measures come first and times last, so that two runs over equal input differ in the last columns.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval_assets.metrics import mean
from eval_assets.scoring import Row, Scores
from eval_assets.significance import bootstrap_interval, sign_test

# What two variants are compared by, question by question: it sees every change of rank.
COMPARED = "ndcg@10"
MEASURES = (
    "recall@5",
    "recall@10",
    "recall@20",
    "all_gold@8",
    "all_gold@20",
    "mrr",
    "ndcg@10",
    "fact_recall@8k",
    "note_recall@8k",
    "precision@8k",
    "current_first",
    "refused",
    "false_refusals",
    "asked_back",
    "leaks",
)
_IN_CATEGORY = (
    "recall@5",
    "recall@10",
    "all_gold@8",
    "mrr",
    "ndcg@10",
    "fact_recall@8k",
    "current_first",
)
# Shown where anything gives the signal: the others tell of every variant.
_OPTIONAL = ("refused", "false_refusals", "asked_back", "leaks")
_NO_VALUE = "–"
_EQUAL = 1e-9  # what is nearer than this differs by rounding alone

Rows = Sequence[Row]


@dataclass(frozen=True)
class Table:
    """A table to show."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return it as Markdown, numbers to the right."""
        rule = "|" + "|".join("---" if at == 0 else "---:" for at in range(len(self.columns))) + "|"
        lines = [_markdown_row(row) for row in self.rows]
        return "\n".join([f"**{self.title}**", "", _markdown_row(self.columns), rule, *lines, ""])


def tables(scores: Scores) -> list[Table]:
    """Return every table of a scoring: variants, categories, languages, sign tests."""
    if not any(scores.rows.values()):
        return []
    found = [variant_table(scores), category_table(scores)]
    if len({row.language for rows in scores.rows.values() for row in rows}) > 1:
        found.append(language_table(scores))
    if len(scores.rows) > 1:
        found.append(sign_table(scores))
    return found


def variant_table(scores: Scores) -> Table:
    """Return one row per variant with every measure, n and times."""
    means = {name: mean([dict(row.measures) for row in rows]) for name, rows in scores.rows.items()}
    shown = [
        measure
        for measure in MEASURES
        if measure not in _OPTIONAL or any(measure in values for values in means.values())
    ]
    rows = [
        (name, str(_scored(rows)), *_cells(means[name], shown), *_times(rows))
        for name, rows in scores.rows.items()
    ]
    columns = ("variant", "n", *shown, "p50 ms", "p95 ms")
    return Table("All questions", columns, tuple(rows))


def category_table(scores: Scores) -> Table:
    """Return one row per category and variant."""
    columns = ("category", "variant", *_GROUP_COLUMNS)
    return Table("By category", columns, _grouped(scores, lambda row: row.category))


def language_table(scores: Scores) -> Table:
    """Return one row per language, kind of question and variant.

    Questions in one language about notes in another are a kind of their own.
    """
    columns = ("language", "variant", *_GROUP_COLUMNS)
    return Table("By language", columns, _grouped(scores, _language))


def sign_table(scores: Scores) -> Table:
    """Compare each variant with those before it, question by question."""
    rows = [
        _compared(second, first, scores.rows[second], scores.rows[first])
        for first, second in combinations(scores.rows, 2)
    ]
    columns = ("first", "second", "wins", "losses", "ties", "p", "mean difference", "95%")
    return Table(f"Sign tests ({COMPARED}, question by question)", columns, tuple(rows))


@dataclass(frozen=True)
class Moved:
    """One question that another build answered otherwise."""

    id: str
    category: str
    before: float
    after: float
    best_before: int  # rank of the first note that was gained or lost; 0: absent
    best_after: int

    @property
    def difference(self) -> float:
        """Return how much the compared measure rose."""
        return self.after - self.before


def moved(before: Rows, after: Rows, essential: Mapping[str, Iterable[str]]) -> list[Moved]:
    """Return the questions whose compared measure differs, the worst first.

    Only questions with equal keys are compared. `essential` is question id -> essential notes.
    """
    old = {row.id: row for row in before}
    found = [
        _moved(old[row.id], row, essential.get(row.id, ()))
        for row in after
        if row.id in old and old[row.id].key == row.key and row.is_scored
    ]
    return sorted(
        (each for each in found if abs(each.difference) > _EQUAL),
        key=lambda each: (each.difference, each.id),
    )


def moved_table(found: Sequence[Moved], texts: Mapping[str, str]) -> Table:
    """Show what moved; `texts` is question id -> its words."""
    rows = tuple(
        (
            each.id,
            f"{each.difference:+.3f}",
            f"{each.before:.3f} → {each.after:.3f}",
            f"{_rank(each.best_before)} → {_rank(each.best_after)}",
            texts.get(each.id, ""),
        )
        for each in found
    )
    columns = ("question", "difference", COMPARED, "rank", "asked")
    return Table("What moved, question by question", columns, rows)


def headline(scores: Scores, variant: str) -> str:
    """Return the scores of one variant in one line."""
    rows = scores.rows.get(variant, ())
    values = mean([dict(row.measures) for row in rows])
    shown = ("recall@10", "all_gold@8", "mrr", "fact_recall@8k", "current_first")
    figures = ", ".join(f"{name} {values[name]:.2f}" for name in shown if name in values)
    return (
        f"{_scored(rows)} of {scores.questions} questions scored: {variant} {figures}, "
        f"{percentile(_ms(rows), 0.5):.0f} ms at the median"
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of them do not exceed; 0 for none.

    It is the percentile by nearest rank: rank ceil(share * n), from 1.
    """
    if not values:
        return 0.0
    rank = math.ceil(share * len(values) - _EQUAL)  # 0.95 * 20 must not become 20
    return sorted(values)[max(rank, 1) - 1]


def _markdown_row(cells: Iterable[str]) -> str:
    # A language is whatever its question file says; it must not open another cell or line.
    plain = (" ".join(cell.replace("|", "\\|").split()) for cell in cells)
    return "| " + " | ".join(plain) + " |"


_GROUP_COLUMNS = ("n", *_IN_CATEGORY, "p50 ms", "p95 ms")


def _group_cells(rows: Rows) -> tuple[str, ...]:
    means = mean([dict(row.measures) for row in rows])
    return (str(_scored(rows)), *_cells(means, _IN_CATEGORY), *_times(rows))


def _cells(means: Mapping[str, float], measures: Iterable[str]) -> list[str]:
    return [f"{means[name]:.3f}" if name in means else _NO_VALUE for name in measures]


def _times(rows: Rows) -> tuple[str, str]:
    times = _ms(rows)
    return f"{percentile(times, 0.5):.1f}", f"{percentile(times, 0.95):.1f}"


def _ms(rows: Rows) -> list[float]:
    return [row.ms for row in rows]


def _scored(rows: Rows) -> int:
    return sum(row.is_scored for row in rows)


def _grouped(scores: Scores, group_of: Callable[[Row], str]) -> tuple[tuple[str, ...], ...]:
    groups = sorted({group_of(row) for rows in scores.rows.values() for row in rows})
    return tuple(
        (group, name, *_group_cells([row for row in rows if group_of(row) == group]))
        for group in groups
        for name, rows in scores.rows.items()
    )


def _language(row: Row) -> str:
    is_own_kind = row.category.endswith("_language")
    return f"{row.language} {row.category}" if is_own_kind else row.language


def _compared(first: str, second: str, mine: Rows, theirs: Rows) -> tuple[str, ...]:
    other = {row.id: row.measures[COMPARED] for row in theirs if row.is_scored}
    pairs = [(row.measures[COMPARED], other[row.id]) for row in mine if row.id in other]
    if not pairs:
        return (first, second, *[_NO_VALUE] * 6)
    test = sign_test([a for a, _ in pairs], [b for _, b in pairs])
    differences = [a - b for a, b in pairs]
    low, high = bootstrap_interval(differences)
    average = sum(differences) / len(differences)
    counts = (str(test.wins), str(test.losses), str(test.ties), _chance(test.p))
    return (first, second, *counts, f"{average:+.3f}", f"{low:+.3f} to {high:+.3f}")


def _chance(p: float) -> str:
    return "<.0001" if p < 0.0001 else f"{p:.4f}"


def _moved(before: Row, after: Row, essential: Iterable[str]) -> Moved:
    ranks = [(_place(before, note), _place(after, note)) for note in essential]
    changed = [pair for pair in ranks if pair[0] != pair[1]] or ranks or [(0, 0)]
    first = min(changed, key=lambda pair: min(each or 10**6 for each in pair))
    return Moved(
        after.id,
        after.category,
        before.measures[COMPARED],
        after.measures[COMPARED],
        *first,
    )


def _place(row: Row, note: str) -> int:
    return row.ranking.index(note) + 1 if note in row.ranking else 0


def _rank(place: int) -> str:
    return str(place) if place else _NO_VALUE
