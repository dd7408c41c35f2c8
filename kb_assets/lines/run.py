"""Embed what links and claims say within the time there is, and write what is complete.

Safe to stop anywhere and to repeat: each batch is kept before the next. Without an embedder the
vectors are put together from those that were made before; a line without one goes by its words.
"""

from collections.abc import Mapping

import numpy as np

from kb_assets.embedder_choice import counter_of, open_for, recorded_profile
from kb_assets.embedding_work import EmbedOutcome, EmbedPlan, embed_missing, gather
from kb_assets.lines import plan
from kb_assets.lines.plan import notes_that_stay, plan_lines
from kb_assets.outcome import Outcome, outcome
from kb_assets.workbench import Workbench
from kb_core.errors import EmbedderError
from kb_search import line_vectors
from kb_search.folder import open_array
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_index import INDEX
from kb_search.line_vectors import LINES, line_arrays
from resources.caches import EmbeddingCache
from resources.embedder import Embedder, EmbedderProfile
from resources.home import Home
from resources.tables import WHOLE, Pointer

VERSION = f"{plan.VERSION}.{line_vectors.VERSION}"


def run(bench: Workbench) -> tuple[Outcome, str]:
    """Return what was made and, if anything is left to do, one sentence that says why."""
    home = bench.home
    embedder, missing = open_for(home)
    problem = str(missing) if missing else ""
    profile = embedder.profile if embedder else recorded_profile(home)
    if profile is None:
        return Outcome(LINES, WHOLE, "", 0, True, {"pending": _line_count(home)}), problem
    inputs = _inputs(home, profile, embedder)
    held = home.store.holds(LINES, WHOLE, inputs, VERSION)
    if held and (held.meta.get("is_finished") or embedder is None):
        return outcome(LINES, WHOLE, [held], is_cached=True), problem
    with home.leases.hold(f"{LINES}/{WHOLE}"):
        made, why = _make(bench, profile, embedder, inputs)
    return made, problem or why


def is_finished(home: Home) -> bool:
    """Tell, without an embedder, whether every line of the present knowledge has its vector."""
    index, held = home.store.pointer(INDEX), home.store.pointer(LINES)
    if index is None or held is None or held.inputs.get(INDEX) != index.hash:
        return index is None
    return bool(held.meta.get("is_finished")) and home.store.is_whole(held)


def is_fresh(home: Home, embedder: Embedder | None) -> bool:
    """Tell whether a run would find nothing to do."""
    profile = embedder.profile if embedder else recorded_profile(home)
    if profile is None or home.store.pointer(INDEX) is None:
        return True
    held = home.store.holds(LINES, WHOLE, _inputs(home, profile, embedder), VERSION)
    return held is not None and (embedder is None or bool(held.meta.get("is_finished")))


def _inputs(home: Home, profile: EmbedderProfile, embedder: Embedder | None) -> dict[str, str]:
    index = home.store.pointer(INDEX)
    found = {INDEX: index.hash if index else "", "profile": profile.key()}
    return found if _is_local(embedder) else {**found, **_chunk_hashes(home)}


def _is_local(embedder: Embedder | None) -> bool:
    return embedder is None or embedder.is_local


def _chunk_hashes(home: Home) -> dict[str, str]:
    return {
        f"chunks/{partition}": pointer.hash
        for partition in home.store.partitions("chunks")
        if (pointer := home.store.pointer("chunks", partition))
    }


def _make(
    bench: Workbench,
    profile: EmbedderProfile,
    embedder: Embedder | None,
    inputs: Mapping[str, str],
) -> tuple[Outcome, str]:
    home = bench.home
    planned = plan_lines(_graph(home), profile, _staying(home, embedder))
    with EmbeddingCache(home.data / "cache" / "embeddings.sqlite") as cache:
        result = _embed(bench, planned, embedder, cache)
        hashes = planned.passages["passage_hash"].to_pylist()
        matrix, has_vector = gather(profile, hashes, cache)
    ids = np.array(planned.passages["text_id"].to_pylist(), str)[has_vector].tolist()
    pointer = _write(home, inputs, ids, matrix[has_vector], result)
    return _outcome(pointer, result), _why_pending(result)


def _graph(home: Home) -> KnowledgeGraph:
    pointer = home.store.pointer(INDEX)
    files = pointer.files if pointer else {}
    return KnowledgeGraph(
        {name: open_array(home.store.root / path, True) for name, path in files.items()}
    )


def _line_count(home: Home) -> int:
    pointer = home.store.pointer(INDEX)
    return pointer.rows if pointer else 0


def _staying(home: Home, embedder: Embedder | None) -> frozenset[str] | None:
    if _is_local(embedder):
        return None
    columns = ["note_id", "may_leave"]
    return notes_that_stay(
        home.store.read("chunks", partition, columns)
        for partition in home.store.partitions("chunks")
    )


def _embed(
    bench: Workbench, planned: EmbedPlan, embedder: Embedder | None, cache: EmbeddingCache
) -> EmbedOutcome:
    waiting = EmbedOutcome(0, 0, len(planned.texts))
    if embedder is None:
        return waiting
    try:
        counter = counter_of(bench.home, planned.profile)
    except EmbedderError as unread:
        return EmbedOutcome(0, 0, len(planned.texts), stopped_by=str(unread))
    return embed_missing(
        planned,
        embedder,
        cache,
        counter,
        deadline=bench.is_time_up,
        progress=lambda done, total: bench.progress("vectors of lines", done, total),
    )


def _write(
    home: Home,
    inputs: Mapping[str, str],
    ids: list[str],
    matrix: np.ndarray,
    result: EmbedOutcome,
) -> Pointer:
    return home.store.write_arrays(
        LINES,
        line_arrays(ids, matrix),
        partition=WHOLE,
        rows=len(ids),
        inputs=inputs,
        code_version=VERSION,
        meta={
            "profile": inputs["profile"],
            "is_finished": not (result.pending or result.stopped_by),
        },
    )


def _outcome(pointer: Pointer, result: EmbedOutcome) -> Outcome:
    counts = {
        "embedded": result.embedded,
        "cached": result.cached,
        "pending": result.pending,
        "embedding_failed": len(result.failed),
    }
    return outcome(LINES, WHOLE, [pointer], is_cached=False, counts=counts)


def _why_pending(result: EmbedOutcome) -> str:
    if result.stopped_by:
        return result.stopped_by
    if result.pending:
        return f"{result.pending} lines wait for the next run: the time was up."
    if result.failed:
        return f"{len(result.failed)} lines could not be embedded; they are scored by words."
    return ""
