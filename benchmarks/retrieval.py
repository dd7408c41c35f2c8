"""Ask a public question set of the search, beside bm25s with its default settings.

`python -m benchmarks.retrieval --set ../shared/benchmarks/2wiki-hipporag` makes a vault of the set,
builds it with `kb build`, asks every question with each variant and prints `VARIANT.MEASURE`.
Homes are kept between runs under data/cache/benchmarks, so nothing is embedded twice.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.question_sets import (
    Question,
    corpus_file,
    default_vault,
    load_questions,
    questions_file,
    write_vault,
)
from benchmarks.report import percentile, progress, report
from eval_assets.metrics import mean, measures
from eval_assets.significance import sign_test
from kb_core.ids import bytes_hash
from kb_core.settings import read_settings
from kb_search.engine import Engine

ROOT = Path(__file__).resolve().parent.parent
_DEPTH = 20
_BASELINE = "bm25s"
# What two variants are compared by, question by question: it sees every change of rank.
_COMPARED = "ndcg@10"

Ranker = Callable[[str], list[str]]
Rows = dict[str, list[dict[str, Any]]]


def main() -> int:
    """Run the benchmark; status 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, required=True, help="folder of a question set")
    parser.add_argument("--questions", type=Path, help="default: its dev.jsonl or questions.jsonl")
    parser.add_argument("--vault", type=Path, help="the notes asked about, if not the set's own")
    parser.add_argument("--variant", default="keyword,vector,hybrid")
    parser.add_argument("--out", type=Path, help="write one file of questions per variant here")
    arguments = parser.parse_args()
    variants = arguments.variant.split(",")
    folder: Path = arguments.set.resolve()
    vault, home = _home(folder, arguments.vault)
    built = _build(home, with_vectors=any(variant != "keyword" for variant in variants))
    questions = load_questions(folder, arguments.questions or questions_file(folder))
    rows = _rank_all(questions, home, vault, variants)
    if arguments.out:
        _write(arguments.out, rows)
    figures, aims = _figures(rows, questions)
    is_met = report("retrieval", figures, aims, set=folder.name, built=built)
    return 0 if is_met else 1


def _home(folder: Path, given: Path | None) -> tuple[Path, Path]:
    """Return the vault and a home for it, both kept between runs."""
    work = ROOT / "data" / "cache" / "benchmarks" / folder.name
    vault = given or default_vault(folder)
    if vault is None:
        vault = work / "vault"
        stamp = work / "corpus.txt"
        content = bytes_hash(corpus_file(folder).read_bytes())
        if not stamp.is_file() or stamp.read_text() != content:
            progress(f"writing the notes of {folder.name}")
            write_vault(folder, vault)
            stamp.write_text(content)
    home = work / "home"
    if not (home / "kb.toml").is_file():
        _kb("init", str(vault), "--home", str(home))
    return vault.resolve(), home


def _build(home: Path, *, with_vectors: bool) -> dict[str, Any]:
    progress("building" + ("" if with_vectors else " (words only)"))
    start = time.monotonic()
    limit = [] if with_vectors else ["--time-box", "0"]
    output = _kb("build", "--json", *limit, "--home", str(home))
    values = json.loads(output.splitlines()[-1])
    kept = ("embedded", "chunks", "notes", "texts_without_vectors")
    return {**{key: values[key] for key in kept}, "seconds": round(time.monotonic() - start, 1)}


def _rank_all(
    questions: Sequence[Question], home: Path, vault: Path, variants: Sequence[str]
) -> Rows:
    engine = Engine.open(home, read_settings(home))
    rankers: dict[str, Ranker] = {_BASELINE: _bm25s(vault)}
    rankers |= {variant: _engine_ranker(engine, variant) for variant in variants}
    rows: Rows = {}
    for name, ranker in rankers.items():
        progress(f"{name}: {len(questions)} questions")
        rows[name] = [_row(question, ranker) for question in questions]
    return rows


def _row(question: Question, ranker: Ranker) -> dict[str, Any]:
    start = time.process_time()
    ranking = ranker(question.text)
    cpu_ms = 1000 * (time.process_time() - start)
    known = {note: note for group in question.judged.essential for note in group}
    if known and not any("/" in note or "." in note for note in known):
        ranking = [Path(note).stem for note in ranking]  # a set that knows notes by their stems
    return {
        "id": question.id,
        "category": question.category,
        "ranking": ranking,
        "cpu_ms": round(cpu_ms, 3),
        "measures": measures(ranking, question.judged),
    }


def _engine_ranker(engine: Engine, variant: str) -> Ranker:
    def rank(question: str) -> list[str]:
        found = engine.search(question, variant=variant, notes=_DEPTH)
        return [row["note"] for row in found.to_json()["results"]]

    return rank


def _bm25s(vault: Path) -> Ranker:
    """Rank whole notes by bm25s as it comes: its tokeniser, its stop words, its constants."""
    import bm25s

    paths = sorted(path.relative_to(vault).as_posix() for path in vault.rglob("*.md"))
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


def _figures(rows: Rows, questions: Sequence[Question]) -> tuple[dict[str, float], dict[str, str]]:
    figures: dict[str, float] = {"questions": len(questions)}
    for name, found in rows.items():
        overall = mean([row["measures"] for row in found])
        figures |= {f"{name}.{measure}": round(value, 4) for measure, value in overall.items()}
        times = [row["cpu_ms"] for row in found]
        figures[f"{name}.cpu_ms_p50"] = round(percentile(times, 0.5), 2)
        figures[f"{name}.cpu_ms_p95"] = round(percentile(times, 0.95), 2)
    figures |= _by_category(rows)
    aims: dict[str, str] = {}
    for first, second in (("keyword", _BASELINE), ("hybrid", "keyword"), ("hybrid", _BASELINE)):
        if first in rows and second in rows:
            figures |= _compared(rows, first, second)
    for measure in ("recall@5", "mrr"):
        if "keyword" in rows:
            difference = figures[f"keyword.{measure}"] - figures[f"{_BASELINE}.{measure}"]
            figures[f"keyword_minus_bm25s.{measure}"] = round(difference, 4)
            aims[f"keyword_minus_bm25s.{measure}"] = ">= 0"
    if "hybrid_vs_keyword.is_worse" in figures:
        aims["hybrid_vs_keyword.is_worse"] = "<= 0"
    return figures, aims


def _compared(rows: Rows, first: str, second: str) -> dict[str, float]:
    values = [[row["measures"][_COMPARED] for row in rows[name]] for name in (first, second)]
    test = sign_test(*values)
    name = f"{first}_vs_{second}"
    return {
        f"{name}.wins": test.wins,
        f"{name}.losses": test.losses,
        f"{name}.ties": test.ties,
        f"{name}.p": round(test.p, 4),
        f"{name}.is_worse": int(test.is_worse),
    }


def _by_category(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, found in rows.items():
        groups: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
        for row in found:
            groups[row["category"]].append(row["measures"])
        if len(groups) < 2:
            continue
        for category, measured in sorted(groups.items()):
            for measure in ("recall@5", "recall@10"):
                figures[f"{name}.{category}.{measure}"] = round(mean(measured)[measure], 4)
    return figures


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
