"""Ask every question of every variant and measure what came back. No Dagster; writes nothing.

Equal builds, questions and variants give equal rows but for their times.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_assets.metrics import (
    CURRENT_FIRST_CATEGORIES,
    current_first,
    decision_measures,
    leaks,
    mean,
    measures,
)
from eval_assets.questions import Posed, Question
from eval_assets.reading import CountTokens, reading_measures
from eval_assets.variants import Asked, Variant

VERSION = "1"  # raise it when equal answers would give other measures
TRIALS = 3  # how often a variant is asked whose answers are random
_DECIMALS = 6


@dataclass(frozen=True)
class Row:
    """One question as one variant answered it. Times in milliseconds of wall time."""

    id: str
    set: str
    key: str  # of the question: rows of equal keys may be compared
    category: str
    language: str
    ranking: tuple[str, ...]
    measures: Mapping[str, float]
    ms: float

    def to_json(self, *, with_times: bool = True) -> dict[str, Any]:
        """Return the row as files hold it."""
        times = {"ms": self.ms} if with_times else {}
        return {
            "id": self.id,
            "set": self.set,
            "key": self.key,
            "category": self.category,
            "language": self.language,
            "ranking": list(self.ranking),
            "measures": dict(self.measures),
            **times,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Row":
        """Return the row that `to_json` wrote."""
        return cls(**{**values, "ranking": tuple(values["ranking"])})

    @property
    def is_scored(self) -> bool:
        """Tell whether the ranking measures hold for it: it has an answer that can be found."""
        return "mrr" in self.measures


@dataclass(frozen=True)
class Scores:
    """What all variants gave for all questions."""

    rows: Mapping[str, Sequence[Row]]  # by variant, in the order asked
    questions: int  # in the files, whether asked or not
    waiting: int = 0  # need a view by principal or instant, which the search does not have yet
    broken: tuple[str, ...] = ()  # ids whose essential notes are not in the build
    problems: Mapping[str, str] = field(default_factory=dict)  # variant -> why it was not asked

    def to_json(self) -> dict[str, Any]:
        """Return the scores as a build's scores file holds them."""
        return {
            "version": VERSION,
            "questions": self.questions,
            "waiting": self.waiting,
            "broken": list(self.broken),
            "problems": dict(self.problems),
            "rows": {name: [row.to_json() for row in rows] for name, rows in self.rows.items()},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Scores | None":
        """Return the scores that `to_json` wrote; None for another version's."""
        if values.get("version") != VERSION:
            return None
        return cls(
            rows={
                name: [Row.from_json(row) for row in rows] for name, rows in values["rows"].items()
            },
            questions=values["questions"],
            waiting=values["waiting"],
            broken=tuple(values["broken"]),
            problems=values["problems"],
        )


def score(
    posed: Sequence[Posed],
    variants: Sequence[Variant],
    present: Collection[str],
    count_tokens: CountTokens,
    *,
    folders: Sequence[str] | None = None,
) -> Scores:
    """Ask each variant all questions, one variant after the other.

    `present` are the notes of the build. A question whose essential notes are gone is not asked,
    nor is one that needs a principal or an instant. A variant that cannot do what its name says
    for each of them (vectors without an embedder) has no rows; `problems` says why.
    """
    there = frozenset(present)
    asked = [each for each in posed if not needs_view(each.question)]
    whole = [each for each in asked if there.issuperset(each.question.essential)]
    broken = [each for each in asked if not there.issuperset(each.question.essential)]
    rows: dict[str, list[Row]] = {}
    problems: dict[str, str] = {}
    for variant in variants if whole else ():
        found, problem = _rows(whole, variant, count_tokens, folders)
        if problem:
            problems[variant.name] = problem
        else:
            rows[variant.name] = found
    return Scores(
        rows,
        questions=len(posed),
        waiting=len(posed) - len(asked),
        broken=tuple(each.question.id for each in broken),
        problems=problems,
    )


def needs_view(question: Question) -> bool:
    """Tell whether a question is asked by somebody else than the owner, or as of a day."""
    return question.principal != "owner" or question.as_of is not None


def median_ratio(
    variant: Variant, other: Variant, questions: Sequence[Question], *, rounds: int = TRIALS
) -> float | None:
    """Return how many times as long one variant takes as the other, at the median.

    They are asked in turn, so that whatever else the machine does slows both. None without
    questions, and where one of them cannot do what its name says: going by words alone takes a
    fraction of the time, and would make the other look slow.
    """
    pair = (variant, other)
    if not questions or any(each.ask(questions[0].question).problem for each in pair):
        return None
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for question in questions:
            for each, taken in zip(pair, times, strict=True):
                start = time.perf_counter()
                each.ask(question.question)
                taken.append(time.perf_counter() - start)
    mine, theirs = (sorted(taken)[len(taken) // 2] for taken in times)
    return mine / theirs


def _rows(
    posed: Sequence[Posed],
    variant: Variant,
    count_tokens: CountTokens,
    folders: Sequence[str] | None,
) -> tuple[list[Row], str]:
    """Return the rows of a variant, or why it cannot do what its name says.

    Every answer is looked at: an embedder may give out half-way, and words would pass for it.
    """
    variant.ask(posed[0].question.question, folders)  # loads models and files, outside the times
    trials = TRIALS if variant.is_random else 1
    rows = []
    for each in posed:
        asked = [variant.ask(each.question.question, folders) for _ in range(trials)]
        problem = next((one.problem for one in asked if one.problem), "")
        if problem:
            return [], problem
        rows.append(_row(each, asked, count_tokens))
    return rows, ""


def _row(posed: Posed, asked: Sequence[Asked], count_tokens: CountTokens) -> Row:
    question = posed.question
    measured = mean([_measured(question, each, count_tokens) for each in asked])
    return Row(
        id=question.id,
        set=posed.set,
        key=question.key(),
        category=question.category,
        language=question.language,
        ranking=asked[0].ranking,
        measures={name: round(value, _DECIMALS) for name, value in measured.items()},
        ms=round(1000 * min(each.seconds for each in asked), 3),
    )


def _measured(question: Question, asked: Asked, count_tokens: CountTokens) -> dict[str, float]:
    values: dict[str, float] = {}
    judged = question.judgement
    if judged.essential:
        values |= measures(asked.ranking, judged)
        values |= reading_measures(asked.passages, judged.essential, question.facts, count_tokens)
    if question.category in CURRENT_FIRST_CATEGORIES:
        first = current_first(asked.ranking, question.essential, question.grade_one)
        values |= {} if first is None else {"current_first": first}
    values |= decision_measures(question.expected, asked.decision)
    if question.forbidden:
        outputs = [*asked.ranking, *(passage.note for passage in asked.passages)]
        values["leaks"] = leaks(outputs, question.forbidden)
    return values
