"""Score connected retrieval by the policy questions, beside plain search asked the same.

Both are asked as the same principal, as of the same instant, and timed with the view open. Nothing
forbidden and nothing of the future may stand in any output of either: not as a note, not as a
candidate, not as evidence.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from eval_assets.metrics import mean
from eval_assets.policy_questions import PolicyQuestion
from eval_assets.report import Table, percentile
from eval_assets.significance import sign_test
from kb_core.settings import Settings
from kb_search.connecting import Connecting
from kb_search.engine import Engine
from kb_search.policy import Policy
from kb_search.results import SearchResult

VERSION = "1"  # raise it when equal answers would give other measures
CONNECTED, SEARCH = "connected", "hybrid"
SEARCHED_NOTES = 8
MEASURES = ("recall", "all_required", "forbidden", "future", "asked_back", "false_ask_backs")
_NOUGHT = ("forbidden", "future")
_NO_VALUE = "–"

Result = TypeVar("Result")


@dataclass(frozen=True)
class PolicyRow:
    """One question as one way answered it. Times in milliseconds of wall time."""

    id: str
    by: str  # the way it went: search goes by words where there are no vectors
    outputs: tuple[str, ...]  # every note in the answer, sorted
    measures: Mapping[str, float]
    ms: float

    def to_json(self, *, with_times: bool = True) -> dict[str, Any]:
        """Return the row as files hold it."""
        times = {"ms": self.ms} if with_times else {}
        fields = {"id": self.id, "by": self.by, "outputs": list(self.outputs)}
        return fields | {"measures": dict(self.measures)} | times


PolicyScores = Mapping[str, Sequence[PolicyRow]]  # by way of searching


def score_policy(
    engine: Engine, settings: Settings, questions: Sequence[PolicyQuestion]
) -> PolicyScores:
    """Ask every question both ways.

    Raises SettingsError for an unknown principal, NotBuiltError when the build holds no links.
    """
    found: dict[str, list[PolicyRow]] = {CONNECTED: [], SEARCH: []}
    for question in questions:
        policy = question.policy(settings)
        found[CONNECTED].append(_connected(engine, question, policy))
        found[SEARCH].append(_searched(engine, question, policy))
    return found


def figures(scores: PolicyScores) -> dict[str, float]:
    """Return the means of connected retrieval as flat figures; sums of what must be nought."""
    return {f"policy_{name}": value for name, value in _means(scores[CONNECTED]).items()}


def policy_values(scores: PolicyScores, *, with_times: bool) -> dict[str, Any]:
    """Return the scores as `kb eval --policy --json` prints them."""
    return {
        _called(name, rows): {
            **_means(rows),
            **(_times(rows) if with_times else {}),
            "n": len(rows),
        }
        for name, rows in scores.items()
    }


def policy_tables(scores: PolicyScores, *, with_times: bool = True) -> list[Table]:
    """Return a row per way of searching, and how often one beat the other."""
    rows = []
    for name, found in scores.items():
        means = _means(found)
        cells = [f"{means[each]:g}" if each in means else _NO_VALUE for each in MEASURES]
        times = [f"{each:.1f}" for each in _times(found).values()] if with_times else []
        rows.append((_called(name, found), str(len(found)), *cells, *times))
    columns = ("asked of", "n", *MEASURES, *(("p50 ms", "p95 ms") if with_times else ()))
    return [Table("Policy questions", columns, tuple(rows)), _compared(scores)]


def write_policy(folder: Path, scores: PolicyScores, *, with_times: bool) -> None:
    """Write one file per way of searching, a line for each question."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in scores.items():
        lines = [json.dumps(row.to_json(with_times=with_times), ensure_ascii=False) for row in rows]
        (folder / f"policy-{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _connected(engine: Engine, question: PolicyQuestion, policy: Policy) -> PolicyRow:
    Connecting(engine, policy)  # opens the view and what it says, outside the times
    answer, ms = _timed(lambda: Connecting(engine, policy).connected(question.asked))
    outputs = _notes_in(answer)
    values = _leaks(question, outputs)
    is_asked_back = bool(answer["asked_back"])
    if question.expected == "ask_back":
        candidates = [note for each in answer["candidates"] for note in each["notes"]]
        is_right = is_asked_back and sorted(candidates) == sorted(question.candidates)
        values["asked_back"] = float(is_right)
    else:
        values |= _recall(question, answer["eligible"])
        values["false_ask_backs"] = float(is_asked_back)
    return PolicyRow(question.id, CONNECTED, outputs, values, ms)


def _searched(engine: Engine, question: PolicyQuestion, policy: Policy) -> PolicyRow:
    def search() -> SearchResult:
        asked = question.question
        return engine.search(asked, variant=SEARCH, notes=SEARCHED_NOTES, policy=policy)

    search()
    found, ms = _timed(search)
    notes = [each.note for each in found.results]
    values = _leaks(question, notes)
    if question.expected == "answer":
        values |= _recall(question, notes)
    return PolicyRow(question.id, found.variant, tuple(sorted(notes)), values, ms)


def _timed(ask: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = ask()
    return result, round(1000 * (time.perf_counter() - start), 3)


def _notes_in(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every note that stands anywhere in an answer."""
    entities = [*answer["reached"], *answer["attached"], *answer["candidates"]]
    found = {note for each in entities for note in each["notes"]}
    found |= {note for each in entities for via in each.get("via", ()) for note in via["notes"]}
    return tuple(sorted(found.union(answer["eligible"], (p["note"] for p in answer["passages"]))))


def _leaks(question: PolicyQuestion, outputs: Collection[str]) -> dict[str, float]:
    return {
        "forbidden": float(len(set(question.forbidden).intersection(outputs))),
        "future": float(len(set(question.future).intersection(outputs))),
    }


def _recall(question: PolicyQuestion, notes: Collection[str]) -> dict[str, float]:
    share = len(set(question.required).intersection(notes)) / len(question.required)
    return {"recall": share, "all_required": float(share == 1)}


def _means(rows: Sequence[PolicyRow]) -> dict[str, float]:
    """Return means over the questions that have a measure; sums of what must be nought."""
    values = mean([dict(row.measures) for row in rows])
    values |= {name: sum(row.measures.get(name, 0.0) for row in rows) for name in _NOUGHT}
    return {name: round(values[name], 4) for name in MEASURES if name in values}


def _called(name: str, rows: Sequence[PolicyRow]) -> str:
    """Name a way, and what it came down to where that is something else."""
    others = sorted({row.by for row in rows} - {name})
    return f"{name} (by {', '.join(others)})" if others else name


def _times(rows: Sequence[PolicyRow]) -> dict[str, float]:
    times = [row.ms for row in rows]
    return {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}


def _compared(scores: PolicyScores) -> Table:
    mine, theirs = (
        {row.id: row.measures["recall"] for row in scores[name] if "recall" in row.measures}
        for name in (CONNECTED, SEARCH)
    )
    test = sign_test(list(mine.values()), [theirs[each] for each in mine])
    row = (CONNECTED, SEARCH, str(test.wins), str(test.losses), str(test.ties), f"{test.p:.4f}")
    columns = ("first", "second", "wins", "losses", "ties", "p")
    return Table("Sign test (recall, question by question)", columns, (row,))
