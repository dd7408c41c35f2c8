"""Ask the sample's questions before and after twelve more folders: nothing within it may change.

`python -m benchmarks.scale_repetition` builds the sample vault alone, asks its 47 questions within
its folders, adds six copies of its own folders under other names (every title twice, every link
with a second candidate) and six of made-up words, builds again and asks again. Rankings, scores,
quotes, dates and lines are compared as JSON, measures and key facts as numbers; times stand beside.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.made_vault import make_vault
from benchmarks.report import percentile, progress, report
from eval_assets.judge import Judge
from eval_assets.questions import Posed, read_questions
from eval_assets.scoring import Row, needs_view
from kb_core.ids import canonical_json
from kb_search.engine import Engine
from resources.home import Home

ROOT = Path(__file__).resolve().parent.parent
_SAMPLE = ROOT / "data" / "sample_vault"
_SETS = ("sample-dev", "sample-test")
_COPIED = ("Wiki", "Projects", "Equipment", "Meetings", "Customers", "Logs")
_VARIANTS = ("keyword", "vector", "hybrid", "hybrid+linked", "hybrid+graph", "routed")
_ROUNDS = 3  # the quickest counts: whatever else the machine does only adds


def main() -> int:
    """Run the comparison; status 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", default=",".join(_VARIANTS))
    parser.add_argument("--notes", type=int, default=360, help="made-up notes in six folders")
    parser.add_argument("--keep", type=Path, help="make vault and home there, and leave them")
    arguments = parser.parse_args()
    variants = arguments.variant.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.keep or Path(scratch)
        vault, root = place / "vault", place / "home"
        shutil.copytree(_SAMPLE, vault)
        _kb("init", str(vault), "--home", str(root))
        before = _asked(root, variants, None)
        _add_folders(vault, arguments.notes)
        after = _asked(root, variants, before.folders)
    figures: dict[str, float | int | None] = {"questions": before.questions}
    for variant in variants:
        figures |= _figures(variant, before, after)
    sides = ("answers_changed", "measures_changed", "not_asked")
    aims = {f"{variant}_{side}": "<= 0" for variant in variants for side in sides}
    return 0 if report("scale_repetition", figures, aims) else 1


class _Answers:
    """What each variant gave for each question within the sample's folders."""

    def __init__(self, home: Home, variants: Sequence[str], folders: list[str] | None) -> None:
        posed = _posed()
        judge = Judge.open(home)
        folders = folders or [each.path or "/" for each in judge.engine.build.folders]
        self.folders = folders
        self.questions = len(posed)
        self.texts: dict[str, list[str]] = {}
        self.rows: dict[str, Sequence[Row]] = {}
        for variant in variants:
            progress(f"{variant}: {len(posed)} questions")
            self.texts[variant] = [
                _text(judge.engine, each.question.question, folders, variant) for each in posed
            ]
            rounds = [judge.score(posed, [variant], folders).rows for _ in range(_ROUNDS)]
            self.rows[variant] = _quickest([each.get(variant, ()) for each in rounds])


def _quickest(rounds: Sequence[Sequence[Row]]) -> list[Row]:
    return [min(rows, key=lambda row: row.ms) for rows in zip(*rounds, strict=True)]


def _text(engine: Engine, question: str, folders: Sequence[str], variant: str) -> str:
    """Return an answer as JSON, without what names the build and counts its folders."""
    found = engine.search(question, folders=folders, variant=variant)
    told: dict[str, Any] = {**found.to_json(), "build": "", "pending": {}}
    lines = [[each.line.core, each.score, each.is_past, each.hops] for each in found.lines]
    return canonical_json({**told, "lines": lines})


def _asked(root: Path, variants: Sequence[str], folders: list[str] | None) -> _Answers:
    progress("building")
    _kb("build", "--home", str(root))
    return _Answers(Home.open(root), variants, folders)


def _figures(variant: str, before: _Answers, after: _Answers) -> Mapping[str, float]:
    texts = zip(before.texts[variant], after.texts[variant], strict=True)
    rows = list(zip(before.rows[variant], after.rows[variant], strict=True))
    for old, new in rows:
        if _measured(old) != _measured(new):
            progress(f"{variant} {old.id}: {dict(old.measures)}, then {dict(new.measures)}")
    times = {
        "before": [row.ms for row in before.rows[variant]],
        "after": [row.ms for row in after.rows[variant]],
    }
    return {
        f"{variant}_answers_changed": sum(old != new for old, new in texts),
        f"{variant}_measures_changed": sum(_measured(old) != _measured(new) for old, new in rows),
        f"{variant}_not_asked": before.questions - len(rows),
        **{
            f"{variant}_{side}_ms_p{share}": round(percentile(taken, share / 100), 2)
            for side, taken in times.items()
            if taken
            for share in (50, 95)
        },
    }


def _measured(row: Row) -> dict[str, Any]:
    return row.to_json(with_times=False)


def _posed() -> list[Posed]:
    files = [ROOT / "data" / "eval" / f"{name}.jsonl" for name in _SETS]
    found = [Posed(file.stem, row) for file in files for row in read_questions(file)]
    return [each for each in found if not needs_view(each.question)]


def _add_folders(vault: Path, notes: int) -> None:
    for at, name in enumerate(_COPIED, start=1):
        shutil.copytree(vault / name, vault / f"Namesake {at} of {name}")
    make_vault(vault, notes=notes, words=notes * 150, folders=12 - len(_COPIED))


def _kb(*arguments: str) -> None:
    command = [sys.executable, "-m", "kb_serve.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
