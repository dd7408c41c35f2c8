"""A question over very many chunks: time to load, CPU time and peak memory of a process that asks.

    python -m benchmarks.query --chunks 1000000 --words 60

The build is made here, one folder after the other; a child process that has made nothing opens it
and answers, so that its memory is that of whoever asks. `VmHWM` is the most it ever held, the
pages of files it looked at included.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import percentile, progress, report
from benchmarks.synthetic_build import make_corpus, questions_of, write_build
from kb_search.build import PublishedBuild
from kb_search.hybrid import QueryVector, rank
from kb_search.question import question_terms
from kb_search.view import View

AIMS = {"peak_gib": "< 4"}
_VARIANTS = ("keyword", "vector", "hybrid")
_SCANS_UNTIL_HELD = 2  # from the second scan on codes stay converted
_STATUS = Path("/proc/self/status")


def measure_large(chunks: int, dims: int, words: int, number: int) -> bool:
    """Build, let a child answer, print one JSON line; return whether every aim is met."""
    corpus = make_corpus(chunks, dims, words)
    progress(f"{chunks} chunks of about {words} words, {dims} dims")
    with tempfile.TemporaryDirectory() as scratch:
        home, start = Path(scratch), time.process_time()
        write_build(home, corpus.each())
        built = time.process_time() - start
        progress(f"built in {built:.1f} CPU s")
        last = corpus.folder(len(corpus.sizes) - 1)
        texts, vectors = questions_of([last], number)
        del last
        (home / "questions.json").write_text(json.dumps(texts), "utf-8")
        np.save(home / "questions.npy", vectors)
        figures = _answered(home)
    return report("query", {"chunks": chunks, "build_cpu_s": round(built, 1), **figures}, AIMS)


def _answered(home: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.query_large", str(home)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _ask_all(home: Path) -> dict[str, float]:
    texts = json.loads((home / "questions.json").read_text("utf-8"))
    vectors = np.load(home / "questions.npy")
    start, wall = time.process_time(), time.perf_counter()
    view = View.over(PublishedBuild.open(home))
    for text, vector in list(zip(texts, vectors, strict=True))[:_SCANS_UNTIL_HELD]:
        rank(view, question_terms(text), QueryVector("synthetic", vector))
    figures = {
        "load_cpu_s": round(time.process_time() - start, 2),
        "load_s": round(time.perf_counter() - wall, 2),
    }
    for variant in _VARIANTS:
        taken = [_cpu_and_wall(view, *each, variant) for each in zip(texts, vectors, strict=True)]
        figures |= _times(variant, taken)
    return figures | {"peak_gib": round(_peak_gib(), 3)}


def _cpu_and_wall(view: View, text: str, vector: np.ndarray, variant: str) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    rank(view, question_terms(text), QueryVector("synthetic", vector), variant)
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)


def _times(variant: str, taken: list[tuple[float, float]]) -> Mapping[str, float]:
    cpu, wall = ([each[side] for each in taken] for side in (0, 1))
    return {
        f"{variant}_cpu_ms_p50": round(statistics.median(cpu), 2),
        f"{variant}_cpu_ms_p95": round(percentile(cpu, 0.95), 2),
        f"{variant}_ms_p50": round(statistics.median(wall), 2),
        f"{variant}_ms_p95": round(percentile(wall, 0.95), 2),
    }


def _peak_gib() -> float:
    """Return the most memory this process ever held."""
    for line in _STATUS.read_text("utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) / 2**20
    raise OSError(f"{_STATUS} names no VmHWM: this benchmark needs Linux.")


if __name__ == "__main__":
    print(json.dumps(_ask_all(Path(sys.argv[1]))))
