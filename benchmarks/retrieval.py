"""Ask a question set of the search, beside bm25s with its default settings.

`python -m benchmarks.retrieval --set ../shared/benchmarks/2wiki-hipporag` makes a vault of the set,
builds it with `kb build`, asks every question with each variant and prints `VARIANT.MEASURE`;
`--set data/eval` asks the project's own questions of the sample vault, by its own settings.
Homes are kept between runs under data/cache/benchmarks, so nothing is embedded twice.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.question_sets import (
    Question,
    corpus_file,
    default_vault,
    is_home_set,
    read_all_questions,
    read_unanswerable,
    write_vault,
)
from benchmarks.report import progress, report
from benchmarks.retrieval_figures import BASELINE, Figures, Rows, figures_and_aims
from eval_assets.metrics import (
    CURRENT_FIRST_CATEGORIES,
    Behaviour,
    current_first,
    decision_measures,
    measures,
)
from eval_assets.variants import parse
from kb_core.errors import EmbedderMissingError, SettingsError
from kb_core.ids import bytes_hash
from kb_core.settings import FILE_NAME, read_settings
from kb_search.engine import Engine

ROOT = Path(__file__).resolve().parent.parent
_DEPTH = 20
# Up to the value, within the section: no line between begins another.
_VAULT_PATH = re.compile(r"(^\[vault\](?:(?!\n\[).)*?\npath\s*=\s*)[^\n]*", re.M | re.S)

Ranker = Callable[[str], list[str]]


def main() -> int:
    """Run the benchmark; status 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, required=True, help="folder of a question set")
    parser.add_argument("--questions", type=Path, help="one file instead of the set's own")
    parser.add_argument("--vault", type=Path, help="the notes asked about, if not the set's own")
    parser.add_argument("--variant", default="keyword,vector,hybrid")
    parser.add_argument("--out", type=Path, help="write one file of questions per variant here")
    arguments = parser.parse_args()
    variants = arguments.variant.split(",")
    folder: Path = arguments.set.resolve()
    vault, home = _home(folder, arguments.vault)
    built = _build(home, with_vectors=any(variant != "keyword" for variant in variants))
    questions, left_out = read_all_questions(folder, arguments.questions)
    unanswerable = read_unanswerable(folder, arguments.questions)
    rows, refused = _rank_all(questions, unanswerable, home, vault, variants)
    if arguments.out:
        _write(arguments.out, rows)
    figures, aims = figures_and_aims(rows, left_out)
    is_met = report("retrieval", figures | refused, aims, set=folder.name, built=built)
    return 0 if is_met else 1


def _home(folder: Path, given: Path | None) -> tuple[Path, Path]:
    """Return the vault and a home for it, both kept between runs."""
    work = ROOT / "data" / "cache" / "benchmarks" / _work_name(folder)
    vault = given or default_vault(folder)
    if vault is None:
        vault = work / "vault"
        stamp = work / "corpus.txt"
        content = bytes_hash(corpus_file(folder).read_bytes())
        if not stamp.is_file() or stamp.read_text() != content:
            progress(f"writing the notes of {folder.name}")
            write_vault(folder, vault)
            stamp.write_text(content)
    vault = vault.resolve()
    home = work / (f"home-{_path_hash(vault)}" if given else "home")
    is_new = not (home / FILE_NAME).is_file()
    if is_new:
        _kb("init", str(vault), "--home", str(home))
    if is_home_set(folder) and not given:
        _take_settings(folder.parent.parent, home, vault)
        if is_new:
            (home / "data" / "home.json").unlink()  # decided anew with those settings
    return vault, home


def _work_name(folder: Path) -> str:
    if not is_home_set(folder) or folder.parent.parent == ROOT:
        return folder.name
    return f"{folder.name}-{_path_hash(folder)}"  # every home calls its folder the same


def _path_hash(path: Path) -> str:
    return bytes_hash(str(path).encode())[:8]


def _take_settings(source: Path, home: Path, vault: Path) -> None:
    """Give the benchmark's home the settings of the home whose questions are asked."""
    text = (source / FILE_NAME).read_text("utf-8-sig")
    (home / FILE_NAME).write_text(with_vault(text, vault), "utf-8")


def with_vault(settings: str, vault: Path) -> str:
    """Return a kb.toml's text with another vault. Raises SettingsError if it names none."""
    path = json.dumps(str(vault), ensure_ascii=False)  # a JSON string is a TOML one
    moved, count = _VAULT_PATH.subn(lambda found: found[1] + path, settings, count=1)
    if not count:
        raise SettingsError(f"{FILE_NAME} names no vault. Give `path` under [vault].")
    return moved


def _build(home: Path, *, with_vectors: bool) -> dict[str, Any]:
    progress("building" + ("" if with_vectors else " (words only)"))
    start = time.monotonic()
    limit = [] if with_vectors else ["--time-box", "0"]
    output = _kb("build", "--json", *limit, "--home", str(home))
    values = json.loads(output.splitlines()[-1])
    kept = ("embedded", "chunks", "notes", "texts_without_vectors")
    return {**{key: values[key] for key in kept}, "seconds": round(time.monotonic() - start, 1)}


def _rank_all(
    questions: Sequence[Question],
    unanswerable: Sequence[str],
    home: Path,
    vault: Path,
    variants: Sequence[str],
) -> tuple[Rows, Figures]:
    engine = Engine.open(home, read_settings(home))
    rankers: dict[str, Ranker] = {BASELINE: bm25s_ranker(vault)}
    rankers |= {variant: EngineRanker(engine, variant) for variant in variants}
    rows: Rows = {}
    refused: Figures = {}
    for name, ranker in rankers.items():
        progress(f"{name}: {len(questions)} questions")
        rows[name] = [_row(question, ranker) for question in questions]
        if isinstance(ranker, EngineRanker):
            refused |= _refused(name, ranker, unanswerable)
    return rows, refused


def _refused(name: str, ranker: "EngineRanker", unanswerable: Sequence[str]) -> Figures:
    """Ask what the vault does not answer; nothing of a variant that gives no such signal."""
    for question in unanswerable:
        ranker(question)
    did = [ranker.decisions[question] for question in unanswerable]
    if not did or None in did:
        return {}
    return {f"{name}.refused": round(sum(each == "refuse" for each in did) / len(did), 4)}


def _row(question: Question, ranker: Ranker) -> dict[str, Any]:
    start = time.process_time()
    ranking = ranker(question.text)
    cpu_ms = 1000 * (time.process_time() - start)
    decision = ranker.decisions[question.text] if isinstance(ranker, EngineRanker) else None
    known = {note: note for group in question.judged.essential for note in group}
    if known and not any("/" in note or "." in note for note in known):
        ranking = [Path(note).stem for note in ranking]  # a set that knows notes by their stems
    return {
        "id": question.id,
        "category": question.category,
        "language": question.language,
        "ranking": ranking,
        "cpu_ms": round(cpu_ms, 3),
        "measures": _measures(ranking, question) | decision_measures("answer", decision),
    }


def _measures(ranking: list[str], question: Question) -> dict[str, float]:
    values = measures(ranking, question.judged)
    if question.category in CURRENT_FIRST_CATEGORIES:
        judged = question.judged
        essential = frozenset().union(*judged.essential)
        grade_one = judged.distractors.union(*judged.supporting)
        is_first = current_first(ranking, essential, grade_one)
        if is_first is not None:
            values["current_first"] = is_first
    return values


class EngineRanker:
    """Rank by the search itself, and keep what it decided of each question.

    Asking raises EmbedderMissingError where it would answer by words instead of what was named:
    the words' figures must not stand under another name.
    """

    def __init__(self, engine: Engine, variant: str) -> None:
        self.decisions: dict[str, Behaviour | None] = {}
        self._engine = engine
        self._variant = variant
        self._by, self._tuning = parse(variant)

    def __call__(self, question: str) -> list[str]:
        """Return the notes found, best first."""
        found = self._engine.search(question, variant=self._by, notes=_DEPTH, tuning=self._tuning)
        if found.variant != self._by:
            raise EmbedderMissingError(f"{self._variant} was not asked. {found.note}")
        self.decisions[question] = found.decision.behaviour if found.decision else None
        return [row["note"] for row in found.to_json()["results"]]


def bm25s_ranker(vault: Path) -> Ranker:
    """Rank whole notes by bm25s as it comes: its tokeniser, its stop words, its constants."""
    import bm25s

    found = (path.relative_to(vault) for path in vault.rglob("*.md"))
    # Neither Obsidian nor the search reads folders and files that begin with a dot.
    paths = sorted(path.as_posix() for path in found if not path.as_posix().startswith("."))
    paths = [path for path in paths if "/." not in path]
    texts = [(vault / path).read_text("utf-8", "replace") for path in paths]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def rank(question: str) -> list[str]:
        tokens = bm25s.tokenize(question, show_progress=False)
        places, scores = index.retrieve(tokens, k=min(_DEPTH, len(paths)), show_progress=False)
        return [
            paths[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0
        ]

    return rank


def _write(out: Path, rows: Rows) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, found in rows.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in found]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _kb(*arguments: str) -> str:
    command = [sys.executable, "-m", "kb_serve.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
