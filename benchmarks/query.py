"""CPU time of a question, over all folders and within one, beside what others take.

    python -m benchmarks.query --chunks 31047 --dims 1024
    python -m benchmarks.query --chunks 1000000 --words 60
    python -m benchmarks.query --graph --folders 13

The build is synthetic and real: a Zipf vocabulary with a window of its own words per folder,
written to a scratch home by the same writers and read by the same readers as any other. The floor
is bm25s plus a plain float32 product with every vector, neither of which can keep a folder's
scores its own.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bm25s
import numpy as np
import tantivy
from numpy.typing import NDArray

from benchmarks.query_large import measure_large
from benchmarks.report import cpu_ms, progress, report
from benchmarks.synthetic_build import (
    FIRST_SHARE,
    FOLDERS,
    Corpus,
    make_corpus,
    questions_of,
    write_build,
)
from kb_search.build import PublishedBuild
from kb_search.hybrid import QueryVector, rank
from kb_search.question import question_terms
from kb_search.view import View

AIMS = {"hybrid_all_over_floor": "<= 1.5", "one_folder_share": "<= 2"}
_DEPTH = 200
_THREADS = "OPENBLAS_NUM_THREADS"
_WARM_UP = 3
_MOST_IN_MEMORY = 200_000  # chunks; the peers need all texts and vectors at once

Asker = Callable[[str, NDArray[np.float32]], object]


@dataclass(frozen=True)
class Questions:
    """What is asked: words, and the vector that stands for them."""

    texts: list[str]
    vectors: NDArray[np.float32]


def main() -> None:
    """Measure and print one JSON line."""
    options = _options()
    if options.chunks > _MOST_IN_MEMORY:
        measure_large(options.chunks, options.dims, options.words, options.questions)
        return
    if options.graph:
        from benchmarks.query_graph import measure_graph  # the peers need none of it

        measure_graph(
            options.chunks, options.dims, options.words, options.folders, options.questions
        )
        return
    corpus = make_corpus(options.chunks, options.dims, options.words, options.folders)
    questions = Questions(*questions_of(corpus.folders, options.questions))
    progress(f"{options.chunks} chunks of about {options.words} words, {options.dims} dims")
    with tempfile.TemporaryDirectory() as scratch:
        start = time.process_time()
        write_build(Path(scratch), corpus.folders)
        built = time.process_time() - start
        progress(f"built in {built:.1f} CPU s")
        askers = _ours(Path(scratch)) | _others(corpus)
        figures = _medians(askers, questions)
    figures["build_cpu_s"] = built
    floor = figures["bm25s_cpu_ms_p50"] + figures["float32_scan_cpu_ms_p50"]
    figures["hybrid_all_over_floor"] = figures["hybrid_all_cpu_ms_p50"] / floor
    share = figures["hybrid_one_folder_cpu_ms_p50"] / figures["hybrid_all_cpu_ms_p50"]
    figures["one_folder_share"] = share / FIRST_SHARE
    report("query", {key: round(value, 4) for key, value in figures.items()}, AIMS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="CPU time of a question.")
    parser.add_argument("--chunks", type=int, default=31_047)
    parser.add_argument("--dims", type=int, default=1_024)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--folders", type=int, default=FOLDERS)
    parser.add_argument("--graph", action="store_true", help="the graph layer beside hybrid")
    return parser.parse_args()


def _ours(home: Path) -> dict[str, Asker]:
    build = PublishedBuild.open(home)
    views = {"all": View.over(build), "one_folder": View.over(build, ["folder 00"])}
    return {
        f"{variant}_{name}": _asker(view, variant)
        for name, view in views.items()
        for variant in ("keyword", "vector", "hybrid")
    }


def _asker(view: View, variant: str) -> Asker:
    def ask(text: str, vector: NDArray[np.float32]) -> object:
        return rank(view, question_terms(text), QueryVector("synthetic", vector), variant)

    return ask


def _others(corpus: Corpus) -> dict[str, Asker]:
    texts = [text for folder in corpus.folders for text in folder.texts]
    matrix = np.concatenate([folder.vectors for folder in corpus.folders])
    return {
        "float32_scan": _float32_asker(matrix),
        "tantivy": _tantivy_asker(texts),
        "bm25s": _bm25s_asker(texts),
    }


def _medians(askers: dict[str, Asker], questions: Questions) -> dict[str, float]:
    """Return each asker's median CPU time of a question in milliseconds.

    Every question goes to all of them in turn, so that a busy moment is a busy moment for all.
    """
    times: dict[str, list[float]] = {name: [] for name in askers}
    for at, (text, vector) in enumerate(zip(questions.texts, questions.vectors, strict=True)):
        for name, ask in askers.items():
            taken = cpu_ms(partial(ask, text, vector))
            if at >= _WARM_UP:
                times[name].append(taken)
    medians = {f"{name}_cpu_ms_p50": statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        progress(f"{name}: {median:.2f}")
    return medians


def _float32_asker(matrix: np.ndarray) -> Asker:
    def ask(text: str, vector: NDArray[np.float32]) -> object:
        scores = matrix @ vector
        best = np.argpartition(scores, -_DEPTH)[-_DEPTH:]
        return best[np.argsort(-scores[best])]

    return ask


def _bm25s_asker(texts: Sequence[str]) -> Asker:
    start = time.process_time()
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    progress(f"bm25s built in {time.process_time() - start:.1f} CPU s")

    def ask(text: str, vector: NDArray[np.float32]) -> object:
        tokens = bm25s.tokenize([text], show_progress=False)
        return retriever.retrieve(tokens, k=_DEPTH, show_progress=False)

    return ask


def _tantivy_asker(texts: Sequence[str]) -> Asker:
    start = time.process_time()
    schema = tantivy.SchemaBuilder().add_text_field("body", index_option="freq").build()
    index = tantivy.Index(schema)
    writer = index.writer(num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(body=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    progress(f"tantivy built in {time.process_time() - start:.1f} CPU s")

    def ask(text: str, vector: NDArray[np.float32]) -> object:
        return searcher.search(index.parse_query(text, ["body"]), _DEPTH)

    return ask


def _with_one_thread() -> None:
    """Start again with one BLAS thread: a second one spins, and its CPU time would count."""
    if os.environ.get(_THREADS) != "1":
        arguments = [sys.executable, "-m", "benchmarks.query", *sys.argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, _THREADS: "1"})  # noqa: S606


if __name__ == "__main__":
    _with_one_thread()
    main()
