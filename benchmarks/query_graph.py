"""What the graph layer adds to a question, over a build of the size of the case study.

    python -m benchmarks.query --graph --folders 13

Evidence of 40,903 entities, 34,459 links and 52,866 claims is put together by the real rules,
written as the stages write it, and asked through the search's own door. Every question names
something and implies a type or an attribute. All variants are asked in turn in one run, each once
in each place, after the texts they show were read.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import percentile, progress, report
from benchmarks.synthetic_build import PROFILE, Corpus, make_corpus, questions_of, write_build
from benchmarks.synthetic_knowledge import CLAIMS, ENTITIES, LINKS, Speech
from kb_core.settings import Settings
from kb_knowledge.knowledge import knowledge_of
from kb_knowledge.records import Knowledge
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_index import INDEX, knowledge_arrays
from kb_search.line_vectors import LINES, core_id, line_arrays
from resources.embedder import Embedder
from resources.tables import WHOLE, TableStore

AIMS = {"graph_trimmed_over_hybrid": "<= 3"}
VARIANTS = {
    "hybrid": "hybrid",
    "graph_untrimmed": "hybrid+graph-untrimmed",
    "graph_trimmed": "hybrid+graph",
    "routed": "routed",
}
_MARGIN = 0.15
_WARM_UP = 3
_LINE_TOPICS = 60
_FROM_LINE = 0.8  # how much of a question's vector is that of what it asks for

Artifacts = dict[str, Mapping[str, Any]]


def measure_graph(
    chunks: int,
    dims: int,
    words: int,
    folders: int,
    number: int,
    sizes: tuple[int, int, int] = (ENTITIES, LINKS, CLAIMS),
) -> bool:
    """Build, ask, print one JSON line; return whether every aim is met."""
    corpus = make_corpus(chunks, dims, words, folders)
    speech = Speech(corpus, *sizes)
    figures: dict[str, Any] = {"chunks": chunks, "folders": folders}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        known, taken = _timed(lambda: knowledge_of(speech.evidence))
        figures |= _sizes(known) | {"knowledge_cpu_s": round(taken, 2)}
        progress(f"knowledge: {figures}")
        artifacts, vectors = _written(home, known, dims)
        write_build(home, corpus.folders, artifacts)
        questions = _questions(corpus, speech, vectors, number)
        figures |= _opened(home) | _answered(home, questions)
    ratio = figures["graph_trimmed_cpu_ms_p50"] / figures["hybrid_cpu_ms_p50"]
    return report("query", {**figures, "graph_trimmed_over_hybrid": round(ratio, 3)}, AIMS)


class Asked:
    """A stand-in for an embedder that knows the questions' vectors."""

    name = PROFILE
    trim_margin = _MARGIN

    def __init__(self, questions: Mapping[str, NDArray[np.float32]]) -> None:
        self._questions = questions

    @property
    def profile(self) -> "Asked":
        """The profile: the stand-in is its own."""
        return self

    def key(self) -> str:
        """Return the profile's key."""
        return PROFILE

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a question's vector."""
        return self._questions[text]


def _timed(action: Callable[[], Knowledge]) -> tuple[Knowledge, float]:
    start = time.process_time()
    return action(), time.process_time() - start


def _sizes(known: Knowledge) -> dict[str, int]:
    hubs = sum(each.is_hub for each in known.entities)
    sizes = {name: len(getattr(known, name)) for name in ("entities", "links", "claims")}
    return {**sizes, "hubs": hubs}


def _written(home: Path, known: Knowledge, dims: int) -> tuple[Artifacts, NDArray[np.float32]]:
    """Write the index and the lines' vectors; return them, and each line's vector."""
    store = TableStore(home / "data" / "store")
    arrays = knowledge_arrays(known)
    graph = KnowledgeGraph(arrays)
    cores = [core_id(graph.line(number).core) for number in range(graph.line_count)]
    vectors = _line_vectors(len(cores), dims)
    ids, first = np.unique(cores, return_index=True)
    laid = {INDEX: arrays, LINES: line_arrays(ids.tolist(), vectors[first])}
    made: Artifacts = {
        name: store.write_arrays(
            name,
            each,
            partition=WHOLE,
            rows=graph.line_count,
            inputs={},
            code_version="1",
            meta={"profile": PROFILE},
        ).as_artifact()
        for name, each in laid.items()
    }
    return made, vectors


def _line_vectors(number: int, dims: int) -> NDArray[np.float32]:
    """Return unit vectors around topics: two of one topic have a cosine of about a half."""
    chance = np.random.default_rng(5)
    topics = chance.standard_normal((_LINE_TOPICS, dims), np.float32)
    vectors = chance.standard_normal((number, dims), np.float32)
    vectors += topics[chance.integers(_LINE_TOPICS, size=number)]
    return _unit(vectors)


def _questions(
    corpus: Corpus, speech: Speech, vectors: NDArray[np.float32], number: int
) -> dict[str, NDArray[np.float32]]:
    texts, near = questions_of(corpus.folders, number)
    chance = np.random.default_rng(13)
    wanted = vectors[chance.integers(len(vectors), size=number)]
    mixed = _unit(_FROM_LINE * wanted + (1 - _FROM_LINE) * near)
    return dict(zip(speech.questions(texts), mixed, strict=True))


def _opened(home: Path) -> dict[str, float]:
    """Return how long it takes until the graph can be asked, in milliseconds."""
    start, cpu = time.perf_counter(), time.process_time()
    graph = PublishedBuild.open(home).knowledge
    assert graph is not None
    graph.entity(0)
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return {"graph_open_ms": round(1000 * wall, 2), "graph_open_cpu_ms": round(1000 * used, 2)}


def _answered(home: Path, questions: Mapping[str, NDArray[np.float32]]) -> dict[str, Any]:
    embedder = cast("Embedder", Asked(questions))  # a question asks for no more of it
    build = PublishedBuild.open(home)
    engine = Engine(build, Settings(), "vault", open_embedder=lambda _: embedder)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    lines: dict[str, list[int]] = {name: [] for name in VARIANTS}
    for at, text in enumerate(questions):
        engine.search(text, variant=VARIANTS["graph_trimmed"])  # whoever is first reads the texts
        for name in (*list(VARIANTS)[at % len(VARIANTS) :], *list(VARIANTS)[: at % len(VARIANTS)]):
            cpu, wall = time.process_time(), time.perf_counter()
            found = engine.search(text, variant=VARIANTS[name])
            used = (time.process_time() - cpu, time.perf_counter() - wall)
            if found.variant != VARIANTS[name]:
                raise ValueError(f"{name} was served as {found.variant}: {found.note}")
            if at >= _WARM_UP:
                taken[name].append(used)
                lines[name].append(len(found.guided.answer.lines) if found.guided else 0)
    figures: dict[str, Any] = {}
    for name in VARIANTS:
        figures |= _times(name, taken[name])
        figures[f"{name}_lines_mean"] = round(statistics.mean(lines[name]), 1)
    return figures


def _times(name: str, taken: Sequence[tuple[float, float]]) -> dict[str, float]:
    found = {}
    for side, what in enumerate(("cpu_ms", "ms")):
        values = [1000 * each[side] for each in taken]
        for share in (50, 95):
            found[f"{name}_{what}_p{share}"] = round(percentile(values, share / 100), 2)
    progress(f"{name}: {found}")
    return found


def _unit(rows: np.ndarray) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
