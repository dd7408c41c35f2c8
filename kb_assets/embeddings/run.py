"""Embed a folder's passages within the time there is, and write what is complete.

Safe to stop anywhere and to repeat: each batch is kept before the next. Without an embedder the
stage writes nothing and says why; the folder is then found by its words.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.choices import read_choices, remember_embedder, token_counter
from kb_assets.embeddings import passages, stage, vectors
from kb_assets.embeddings.stage import EmbedOutcome, EmbedPlan, embed_missing, plan_passages
from kb_assets.embeddings.vectors import assemble
from kb_assets.outcome import Outcome, input_hashes, outcome
from kb_assets.workbench import Workbench
from kb_core.errors import EmbedderError
from kb_core.tokens import TokenCounter
from kb_search import vectors as search
from kb_search.vectors import build_vector_arrays
from resources.caches import EmbeddingCache
from resources.embedder import Embedder, open_embedder
from resources.home import Home
from resources.tables import Pointer
from resources.token_counter import open_token_counter

STAGE = "embeddings"
VERSION = f"{passages.VERSION}.{stage.VERSION}.{vectors.VERSION}.{search.VERSION}"


def run(bench: Workbench, partition: str) -> tuple[Outcome, str]:
    """Return what was made and, if anything is left to do, one sentence that says why."""
    home = bench.home
    try:
        embedder = open_embedder(home.settings.embedder)
        remember_embedder(home, embedder.profile.to_json())
    except EmbedderError as problem:
        return _without_embedder(home, partition), str(problem)
    inputs = _inputs(home, partition, embedder)
    held = home.store.holds("vectors", partition, inputs, VERSION)
    if held and held.meta.get("is_complete"):
        return outcome(STAGE, partition, [held], is_cached=True), ""
    with home.leases.hold(f"{STAGE}/{partition}"):
        return _embed(bench, partition, embedder, inputs)


def is_fresh(home: Home, partition: str, embedder: Embedder) -> bool:
    """Tell whether the folder's vectors are complete."""
    held = home.store.holds("vectors", partition, _inputs(home, partition, embedder), VERSION)
    return held is not None and bool(held.meta.get("is_complete"))


def _without_embedder(home: Home, partition: str) -> Outcome:
    """Leave what is there as it is, so that nothing downstream takes it for changed."""
    texts = home.store.read("chunks", partition, ["text_id"])["text_id"]
    pending = pc.count_distinct(texts).as_py()
    present = input_hashes(home, ["chunks"], partition)
    held = home.store.pointer("vectors", partition)
    if held is None or held.inputs.get("chunks") != present["chunks"]:
        return Outcome(STAGE, partition, "", 0, True, {"pending_texts": pending})
    counts = {"pending_texts": pending - held.rows}
    return outcome(STAGE, partition, [held], is_cached=True, counts=counts)


def _embed(
    bench: Workbench, partition: str, embedder: Embedder, inputs: dict[str, str]
) -> tuple[Outcome, str]:
    home = bench.home
    counter = _counter(home, embedder)
    chunks = home.store.read("chunks", partition)
    # A server on another machine may be sent only what the user allowed to leave this one.
    plan = plan_passages(chunks, embedder.profile, counter, may_leave_only=not embedder.is_local)
    folder = home.folders().get(partition) or "(root)"
    with EmbeddingCache(home.data / "cache" / "embeddings.sqlite") as cache:
        result = embed_missing(
            plan,
            embedder,
            cache,
            counter,
            deadline=bench.is_time_up,
            progress=lambda done, total: bench.progress(f"vectors of {folder}", done, total),
        )
        pointer = _write(home, partition, plan, cache, inputs, chunks)
    made = outcome(STAGE, partition, [pointer], is_cached=False, counts=_counts(result, pointer))
    return made, _why_pending(result)


def _write(
    home: Home,
    partition: str,
    plan: EmbedPlan,
    cache: EmbeddingCache,
    inputs: dict[str, str],
    chunks: pa.Table,
) -> Pointer:
    rows, matrix = assemble(plan, cache)
    texts = pc.unique(chunks["text_id"])
    per_text = _passages_per_text(texts, rows)
    home.store.write("passages", rows, partition=partition, inputs=inputs, code_version=VERSION)
    embedded = int(np.count_nonzero(per_text))
    return home.store.write_arrays(
        "vectors",
        build_vector_arrays(per_text, matrix),
        partition=partition,
        rows=embedded,
        inputs=inputs,
        code_version=VERSION,
        meta={"profile": plan.profile_key, "is_complete": embedded == len(texts)},
    )


def _passages_per_text(texts: pa.Array, rows: pa.Table) -> np.ndarray:
    """Count each text's passages, in the order of the folder's texts; 0 = still pending."""
    positions = pc.index_in(rows["text_id"], value_set=texts).to_numpy()
    return np.bincount(positions, minlength=len(texts)).astype(np.int32)


def _inputs(home: Home, partition: str, embedder: Embedder) -> dict[str, str]:
    hashes = input_hashes(home, ["chunks"], partition)
    counter = _counter(home, embedder).name
    return {**hashes, "profile": embedder.profile.key(), "counter": counter}


def _counter(home: Home, embedder: Embedder) -> TokenCounter:
    """Use the model's own tokens where they are at hand, else those of the home."""
    if embedder.is_in_process:
        return open_token_counter("xlm-r")
    return token_counter(read_choices(home))


def _counts(result: EmbedOutcome, pointer: Pointer) -> dict[str, float]:
    return {
        "embedded": result.embedded,
        "cached": result.cached,
        "pending": result.pending,
        "embedding_failed": len(result.failed),
        "texts_with_vectors": pointer.rows,
    }


def _why_pending(result: EmbedOutcome) -> str:
    if result.stopped_by:
        return result.stopped_by
    if result.pending:
        return f"{result.pending} passages wait for the next run: the time was up."
    if result.failed:
        return f"{len(result.failed)} passages could not be embedded; they are found by words."
    return ""
