"""Rank a folder's questions alone and beside every other folder: nothing may change.

`python -m benchmarks.stable_ranks --vault DIR --folder F` builds the folder alone, ranks 200
questions made of its own words, adds every other folder, and ranks them again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import progress, report
from kb_core.settings import read_settings
from kb_search.engine import Engine

ROOT = Path(__file__).resolve().parent.parent
_VARIANTS = ("keyword", "vector", "hybrid")


def main() -> int:
    """Run the comparison; status 1 if any ranking differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, default=ROOT / "data" / "sample_vault")
    parser.add_argument("--folder", default="Meetings")
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        vault, home = Path(scratch, "vault"), Path(scratch, "home")
        shutil.copytree(arguments.vault / arguments.folder, vault / arguments.folder)
        _kb("init", str(vault), "--home", str(home))
        _kb("build", "--home", str(home))
        questions = list(_questions(vault / arguments.folder, arguments.questions))
        before = _rankings(home, arguments.folder, questions)
        shutil.copytree(arguments.vault, vault, dirs_exist_ok=True)
        _kb("build", "--home", str(home))
        after = _rankings(home, arguments.folder, questions)
    figures: dict[str, float] = {"questions": len(questions)}
    for variant in _VARIANTS:
        pairs = zip(before[variant], after[variant], strict=True)
        figures[f"{variant}_changed"] = sum(old != new for old, new in pairs)
        figures[f"{variant}_empty"] = sum('"results": []' in text for text in after[variant])
    aims = {f"{variant}_changed": "<= 0" for variant in _VARIANTS}
    return 0 if report("stable_ranks", figures, aims) else 1


def _questions(folder: Path, number: int) -> Iterator[str]:
    """Draw runs of three to eight words from the folder's notes; the same ones every time."""
    rng = np.random.default_rng(7)
    texts = [path.read_text("utf-8", "replace").split() for path in sorted(folder.rglob("*.md"))]
    texts = [words for words in texts if len(words) > 20]
    for _ in range(number):
        words = texts[rng.integers(len(texts))]
        start = int(rng.integers(len(words) - 8))
        yield " ".join(words[start : start + int(rng.integers(3, 9))])


def _rankings(home: Path, folder: str, questions: list[str]) -> dict[str, list[str]]:
    engine = Engine.open(home, read_settings(home))
    rankings: dict[str, list[str]] = {}
    for variant in _VARIANTS:
        progress(f"{variant}: {len(questions)} questions")
        results = (
            engine.search(question, folders=[folder], variant=variant).to_json()
            for question in questions
        )
        rankings[variant] = [json.dumps({"results": found["results"]}) for found in results]
    return rankings


def _kb(*arguments: str) -> None:
    command = [sys.executable, "-m", "kb_serve.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
