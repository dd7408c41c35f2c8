"""Turn one thing of a variant and see what it does to every measure. Pure.

`k` is the constant of the fusion by reciprocal rank, `cap` how many chunks of one note are read.
Of the graph, in hundredths: `margin` is how far below the best a line may be, `split` how much of
what is read may be lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eval_assets.metrics import mean
from eval_assets.report import COMPARED, Table, percentile
from eval_assets.scoring import Row, Scores
from eval_assets.significance import sign_test
from kb_core.errors import SettingsError
from kb_search.hybrid import DEFAULT_TUNING
from kb_search.line_scores import UNMEASURED_MARGIN

DEFAULTS = {
    "k": (10, 20, 40, 60, 90, 120),
    "cap": (1, 2, 3, 4, 6, 10),
    "margin": (1, 2, 3, 5, 8, 15),
    "split": (10, 20, 30, 40, 60),
}
# What a search does today, against which the others are compared.
_PRESENT = {
    "k": DEFAULT_TUNING.k,
    "cap": DEFAULT_TUNING.chunks_per_note,
    "margin": round(UNMEASURED_MARGIN * 100),  # of the embedded model; another may have its own
    "split": round(DEFAULT_TUNING.split * 100),
}
_OF_THE_GRAPH = ("margin", "split")
PLOTTED = ("recall@10", "ndcg@10", "all_gold@8", "fact_recall@8k", "precision@8k")


@dataclass(frozen=True)
class Sweep:
    """What is turned, in which variant, and to which values."""

    turned: str
    values: tuple[int, ...]
    variant: str = "hybrid"

    @classmethod
    def parse(cls, text: str, variant: str = "hybrid") -> "Sweep":
        """Read `k` or `cap=1,2,5`; the present value always takes part. Raises SettingsError."""
        turned, _, given = text.partition("=")
        if turned not in DEFAULTS:
            raise SettingsError(f"{turned!r} cannot be swept. There are: {', '.join(DEFAULTS)}.")
        parts = given.split(",") if given else [str(value) for value in DEFAULTS[turned]]
        if not all(part.isdecimal() and int(part) > 0 for part in parts):
            raise SettingsError(f"The values in {text!r} must be whole numbers, as in k=10,60.")
        values = sorted({int(part) for part in parts} | {_PRESENT[turned]})
        is_without = turned in _OF_THE_GRAPH and variant == "hybrid"
        return cls(turned, tuple(values), "hybrid+graph" if is_without else variant)

    @property
    def variants(self) -> dict[int, str]:
        """Return value -> the variant's name."""
        return {value: f"{self.variant}:{self.turned}={value}" for value in self.values}

    @property
    def present(self) -> int:
        """Return the value a search uses."""
        return _PRESENT[self.turned]

    def means(self, scores: Scores) -> dict[int, dict[str, float]]:
        """Return value -> measure -> mean."""
        return {
            value: mean([dict(row.measures) for row in scores.rows[name]])
            for value, name in self.variants.items()
            if name in scores.rows
        }

    def table(self, scores: Scores) -> Table:
        """Return one row per value: its means, and the sign test against the present value."""
        present = scores.rows.get(self.variants[self.present], ())
        rows = []
        for value, means in self.means(scores).items():
            found = scores.rows[self.variants[value]]
            mark = " (now)" if value == self.present else ""
            cells = [f"{means[name]:.3f}" if name in means else "–" for name in PLOTTED]
            times = [row.ms for row in found]
            rows.append(
                (
                    f"{value}{mark}",
                    *cells,
                    _compared(found, present),
                    f"{percentile(times, 0.5):.1f}",
                    f"{percentile(times, 0.95):.1f}",
                )
            )
        columns = (self.turned, *PLOTTED, f"{COMPARED}: won-lost, p", "p50 ms", "p95 ms")
        return Table(f"Sweep of {self.turned} in {self.variant}", columns, tuple(rows))


def _compared(rows: Sequence[Row], present: Sequence[Row]) -> str:
    if not present:  # it could not be asked, though another value could
        return "–"
    pairs = [
        (mine.measures[COMPARED], other.measures[COMPARED])
        for mine, other in zip(rows, present, strict=True)
        if mine.is_scored
    ]
    test = sign_test([mine for mine, _ in pairs], [other for _, other in pairs])
    return f"{test.wins}-{test.losses}, {test.p:.2f}"
