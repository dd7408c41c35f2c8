"""What `kb eval` does between options and output. Reads the home; writes only where told."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_assets.judge import Judge
from eval_assets.metrics import mean
from eval_assets.plots import check_ending, draw
from eval_assets.questions import Posed
from eval_assets.report import MEASURES, Table, percentile, tables
from eval_assets.scoring import Row, Scores
from eval_assets.sweeps import PLOTTED, Sweep
from eval_assets.variants import BASELINE
from kb_core.errors import SettingsError
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.home import Home

_HISTORY = ("questions", "recall_at_10", "all_gold_at_8", "mrr", "ndcg_at_10", "fact_recall_at_8k")
_HISTORY_PLOTTED = _HISTORY[1:]


@dataclass(frozen=True)
class Request:
    """What is to be asked of which build."""

    variants: tuple[str, ...]
    build: str | None = None  # None: the published one
    folders: tuple[str, ...] = ()
    sweep: Sweep | None = None

    @classmethod
    def make(
        cls,
        home: Home,
        variants: str | None,
        build: str | None,
        folders: Sequence[str],
        sweep: str | None,
    ) -> "Request":
        """Read the options. Raises SettingsError for what does not exist."""
        swept = Sweep.parse(sweep, variants or "hybrid") if sweep else None
        if swept:
            names = tuple(swept.variants.values())
        elif variants:
            names = tuple(part.strip() for part in variants.split(","))
        else:  # the plainest first, so that each is compared with what it should beat
            names = tuple(reversed(home.settings.evaluation.variants))
        if folders:
            names = tuple(name for name in names if name != BASELINE)
        if not names:
            raise SettingsError(f"{BASELINE} cannot be asked within folders. Name another variant.")
        found = Builds(home.data).find(build) if build else None
        return cls(names, found, tuple(folders), swept)

    def ask(self, home: Home, posed: Sequence[Posed]) -> tuple[str, Scores]:
        """Ask everything; return the build's name and the scores."""
        judge = Judge.open(home, self.build)
        return judge.build, judge.score(posed, self.variants, list(self.folders) or None)


def all_tables(request: Request, scores: Scores) -> list[Table]:
    """Return the tables to show for a request."""
    return [request.sweep.table(scores)] if request.sweep else tables(scores)


def write_rows(folder: Path, scores: Scores, *, with_times: bool) -> None:
    """Write one file per variant, a line for each question."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in scores.rows.items():
        lines = [json.dumps(row.to_json(with_times=with_times), ensure_ascii=False) for row in rows]
        file = folder / f"{name.replace(':', '_').replace('=', '-')}.jsonl"
        file.write_text("\n".join(lines) + "\n", "utf-8")


def as_values(build: str, scores: Scores, *, with_times: bool) -> dict[str, Any]:
    """Return the scores as `kb eval --json` prints them: means per variant and category."""
    return {
        "build": build,
        "questions": scores.questions,
        "waiting": scores.waiting,
        "broken": list(scores.broken),
        "problems": dict(scores.problems),
        "variants": {
            name: _variant(rows, with_times=with_times) for name, rows in scores.rows.items()
        },
    }


def draw_sweep(path: Path, sweep: Sweep, scores: Scores) -> None:
    """Draw a sweep's means."""
    means = sweep.means(scores)
    lines = {name: [values.get(name) for values in means.values()] for name in PLOTTED}
    ticks = [str(value) for value in means]
    draw(path, f"{sweep.variant}: sweep of {sweep.turned}", sweep.turned, ticks, lines)


def history_table(home: Home) -> Table:
    """Return what every build scored when it was new, oldest first."""
    rows = tuple(
        (row["at"], row["build"][:12], row["variant"], *_figures(row)) for row in history_rows(home)
    )
    return Table("Every build's scores", ("scored at", "build", "variant", *_HISTORY), rows)


def draw_history(path: Path, home: Home) -> None:
    """Draw the scores of all builds. Raises SettingsError when none was scored."""
    check_ending(path)
    rows = history_rows(home)
    if not rows:
        raise SettingsError("No build was scored yet: there is nothing to draw. Run `kb build`.")
    lines = {name: [row["figures"].get(name) for row in rows] for name in _HISTORY_PLOTTED}
    draw(path, "Scores of every build", "build", [row["build"][:6] for row in rows], lines)


def history_rows(home: Home) -> list[dict[str, Any]]:
    """Return every scoring of a whole build, oldest first."""
    rows = Evaluations(home.data / "history").rows()
    return [row for row in rows if row["folder"] is None]


def _figures(row: dict[str, Any]) -> list[str]:
    values = [row["figures"].get(name) for name in _HISTORY]
    return ["–" if value is None else f"{value:g}" for value in values]


def _variant(rows: Sequence[Row], *, with_times: bool) -> dict[str, Any]:
    categories = sorted({row.category for row in rows})
    return {
        **_means(rows, with_times=with_times),
        "categories": {
            category: _means([r for r in rows if r.category == category], with_times=with_times)
            for category in categories
        },
    }


def _means(rows: Sequence[Row], *, with_times: bool) -> dict[str, Any]:
    values = mean([dict(row.measures) for row in rows])
    times = [row.ms for row in rows]
    timed = {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}
    return {
        "n": sum(row.is_scored for row in rows),
        **{name: round(values[name], 4) for name in MEASURES if name in values},
        **(timed if with_times else {}),
    }
