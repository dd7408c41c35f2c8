"""Embed a folder's passages within the time there is, and write what is complete.

Safe to stop anywhere and to repeat: each batch is kept before the next. Without an embedder, or
without time, the folder's vectors are put together from those that were made before, so that one
edited note does not cost its folder all of them; what is missing is found by its words.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.choices import read_choices
from kb_assets.embedder_choice import counter_of, open_for, recorded_profile
from kb_assets.embedding_work import EmbedOutcome, EmbedPlan, embed_missing
from kb_assets.embeddings import passages, stage, vectors
from kb_assets.embeddings.stage import plan_passages
from kb_assets.embeddings.vectors import assemble
from kb_assets.outcome import Outcome, input_hashes, outcome
from kb_assets.workbench import Workbench
from kb_core.errors import EmbedderError
from kb_core.folder_names import shown_path
from kb_core.tokens import TokenCounter
from kb_search import vectors as search
from kb_search.vectors import build_vector_arrays
from resources.caches import EmbeddingCache
from resources.embedder import Embedder, EmbedderProfile
from resources.home import Home
from resources.tables import Pointer

STAGE = "embeddings"
_NAMES = ("vectors", "passages")
VERSION = f"{passages.VERSION}.{stage.VERSION}.{vectors.VERSION}.{search.VERSION}"


def run(bench: Workbench, partition: str) -> tuple[Outcome, str]:
    """Return what was made and, if anything is left to do, one sentence that says why."""
    home = bench.home
    embedder, missing = open_for(home)
    problem = str(missing) if missing else ""
    profile = embedder.profile if embedder else recorded_profile(home)
    try:
        counter = counter_of(home, profile) if profile else None
    except EmbedderError as unread:
        counter, problem = None, problem or str(unread)
    if profile is None or counter is None:
        return _nothing_made(home, partition), problem
    inputs = _inputs(home, partition, profile)
    held = _finished(home, partition, inputs)
    if held:
        return outcome(STAGE, partition, [held], is_cached=True), problem
    with home.leases.hold(f"{STAGE}/{partition}"):
        made, why = _make(bench, partition, profile, counter, embedder)
    return made, problem or why


def is_fresh(home: Home, partition: str, embedder: Embedder | None) -> bool:
    """Tell whether a run would find nothing to do.

    Without an embedder: nothing to put together of vectors that were made before.
    """
    if embedder is None:
        held = _held(home, partition)
        if not held:
            return recorded_profile(home) is None
        present = input_hashes(home, ["chunks"], partition)["chunks"]
        return len(held) == len(_NAMES) and all(
            each.inputs.get("chunks") == present and home.store.is_whole(each) for each in held
        )
    return _finished(home, partition, _inputs(home, partition, embedder.profile)) is not None


def _finished(home: Home, partition: str, inputs: Mapping[str, str]) -> Pointer | None:
    """Return the folder's vectors if nothing is left to do for them, their table included."""
    held = [home.store.holds(name, partition, inputs, VERSION) for name in _NAMES]
    vectors = held[0]
    return vectors if vectors and all(held) and vectors.meta.get("is_finished") else None


def _make(
    bench: Workbench,
    partition: str,
    profile: EmbedderProfile,
    counter: TokenCounter,
    embedder: Embedder | None,
) -> tuple[Outcome, str]:
    home = bench.home
    chunks = home.store.read("chunks", partition)
    # A server on another machine may be sent only what the user allowed to leave this one.
    only_open = embedder is not None and not embedder.is_local
    plan = plan_passages(chunks, profile, counter, may_leave_only=only_open)
    folder = shown_path(home.folders().get(partition, partition))
    result = EmbedOutcome(0, 0, len(plan.texts))
    with EmbeddingCache(home.data / "cache" / "embeddings.sqlite") as cache:
        if embedder:
            result = embed_missing(
                plan,
                embedder,
                cache,
                counter,
                deadline=bench.is_time_up,
                progress=lambda done, total: bench.progress(f"vectors of {folder}", done, total),
            )
        pointer = _write(home, partition, plan, cache, chunks, result)
    made = outcome(STAGE, partition, [pointer], is_cached=False, counts=_counts(result, pointer))
    return made, _why_pending(result)


def _write(
    home: Home,
    partition: str,
    plan: EmbedPlan,
    cache: EmbeddingCache,
    chunks: pa.Table,
    result: EmbedOutcome,
) -> Pointer:
    rows, matrix = assemble(plan, cache)
    per_text = _passages_per_text(pc.unique(chunks["text_id"]), rows)
    inputs = _inputs(home, partition, plan.profile)
    home.store.write("passages", rows, partition=partition, inputs=inputs, code_version=VERSION)
    return home.store.write_arrays(
        "vectors",
        build_vector_arrays(per_text, matrix),
        partition=partition,
        rows=int(np.count_nonzero(per_text)),
        inputs=inputs,
        code_version=VERSION,
        # What the embedder refused is not asked for again until the folder's texts change.
        meta={
            "profile": plan.profile.key(),
            "is_finished": not result.pending and not result.stopped_by,
        },
    )


def _passages_per_text(texts: pa.Array, rows: pa.Table) -> np.ndarray:
    """Count each text's passages, in the order of the folder's texts; 0 = still pending."""
    positions = pc.index_in(rows["text_id"], value_set=texts).to_numpy()
    return np.bincount(positions, minlength=len(texts)).astype(np.int32)


def _inputs(home: Home, partition: str, profile: EmbedderProfile) -> dict[str, str]:
    cut_by = "xlm-r" if profile.passage_tokens else read_choices(home).token_counter
    hashes = input_hashes(home, ["chunks"], partition)
    return {**hashes, "profile": profile.key(), "counter": cut_by}


def _nothing_made(home: Home, partition: str) -> Outcome:
    """Leave what is there as it is, so that nothing downstream takes it for changed."""
    texts = home.store.read("chunks", partition, ["text_id"])["text_id"]
    pending = pc.count_distinct(texts).as_py()
    held = home.store.pointer("vectors", partition)
    if held is None or is_lagging(home, partition):
        return Outcome(STAGE, partition, "", 0, True, {"pending_texts": pending})
    counts = {"pending_texts": pending - held.rows}
    return outcome(STAGE, partition, [held], is_cached=True, counts=counts)


def is_lagging(home: Home, partition: str) -> bool:
    """Tell whether the folder has vectors, of other chunks than it has now or not whole."""
    return bool(_held(home, partition)) and not is_fresh(home, partition, None)


def _held(home: Home, partition: str) -> list[Pointer]:
    """Return what the folder holds of its vectors and their table; one may have been damaged."""
    found = [home.store.pointer(name, partition) for name in _NAMES]
    return [pointer for pointer in found if pointer]


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
