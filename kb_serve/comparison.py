"""What `kb eval --against` says: which questions another build answered otherwise. Reads only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eval_assets.judge import Judge
from eval_assets.questions import Posed
from eval_assets.report import Moved, Table, moved, moved_table
from eval_assets.scoring import Row, Scores
from kb_core.errors import StoreError
from kb_serve.output import counted
from kb_serve.scoring import Request
from resources.builds import Builds
from resources.home import Home


@dataclass(frozen=True)
class Since:
    """What moved since another build, and how many questions that says nothing of."""

    build: str
    moved: Mapping[str, Sequence[Moved]]  # by variant
    uncompared: Mapping[str, int]  # by variant: questions the other build could not answer

    def to_json(self) -> dict[str, Any]:
        """Return it as `kb eval --against --json` prints it."""
        changes = {
            variant: [{**asdict(each), "difference": round(each.difference, 6)} for each in moves]
            for variant, moves in self.moved.items()
        }
        return {"against": self.build, "moved": changes, "not_compared": dict(self.uncompared)}

    def tables(self, posed: Sequence[Posed]) -> list[Table]:
        """Show what moved; one table per variant."""
        texts = {each.question.id: each.question.question for each in posed}
        shown = []
        for variant, changes in self.moved.items():
            table = moved_table(changes, texts)
            title = f"{variant}: {counted(len(changes), 'question')} moved since {self.build[:12]}"
            if left := self.uncompared[variant]:
                title += f"; {left} could not be compared"
            shown.append(Table(title, table.columns, table.rows))
        return shown


def moved_since(
    home: Home, before: str, request: Request, scores: Scores, posed: Sequence[Posed]
) -> Since:
    """Compare scores with those of another build.

    What that build scored when it was new is used where it was asked the same; what it was not
    asked then, or not in these words or folders, it is asked now. Raises StoreError when there is
    no such build, or when it was never scored and files of it are gone.
    """
    name = Builds(home.data).find(before)
    essential = {each.question.id: each.question.essential for each in posed}
    old = _old_rows(home, name, request, scores, posed)
    return Since(
        name,
        {variant: moved(old[variant], rows, essential) for variant, rows in scores.rows.items()},
        {variant: _uncompared(old[variant], rows) for variant, rows in scores.rows.items()},
    )


def _old_rows(
    home: Home, name: str, request: Request, scores: Scores, posed: Sequence[Posed]
) -> dict[str, list[Row]]:
    """Return another build's rows for the variants and questions of these scores."""
    held = Scores.from_json(Builds(home.data).scores(name).get("scores") or {})
    stored = held.rows if held and not request.folders else {}
    rows = {variant: list(stored.get(variant, ())) for variant in scores.rows}
    missing = {
        variant: left
        for variant, found in scores.rows.items()
        if (left := {row.key for row in found} - {row.key for row in rows[variant]})
    }
    if missing and (judge := _open(home, name, is_needed=not stored)):
        for variant, keys in missing.items():
            left_out = [each for each in posed if each.question.key() in keys]
            asked = judge.score(left_out, [variant], list(request.folders) or None)
            rows[variant] += asked.rows.get(variant, ())  # of two rows of one id the later counts
    return rows


def _open(home: Home, name: str, *, is_needed: bool) -> Judge | None:
    try:
        return Judge.open(home, name)
    except StoreError:
        if is_needed:
            raise
        return None  # what it scored once is still worth comparing


def _uncompared(old: Iterable[Row], new: Iterable[Row]) -> int:
    known = {row.key for row in old if row.is_scored}
    return sum(row.is_scored and row.key not in known for row in new)
