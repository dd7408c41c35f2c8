"""Embed what the cache does not hold, and gather what it does: for passages and for lines alike.

`embed_missing` calls the embedder and fills the cache; it is safe to stop anywhere and to repeat,
since each batch is stored before the next and nothing stored is made again. In which order and
batches that happened leaves no trace in what is gathered. No Dagster.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kb_assets.embedder_doors import Door
from kb_core.errors import EmbedderError
from kb_core.tokens import TokenCounter
from resources.caches import EmbeddingCache
from resources.embedder import Embedder, EmbedderProfile

Deadline = Callable[[], bool]  # true once the time is up
Progress = Callable[[int, int], None]  # texts done, texts in all

_LOOK_UP = 2_000  # hashes asked of the cache at a time, to hold few vectors in memory


@dataclass(frozen=True)
class EmbedPlan:
    """What vectors are made of."""

    profile: EmbedderProfile
    passages: pa.Table  # contract PASSAGES: texts in order of first appearance
    texts: dict[str, str]  # by passage hash, each once, the most wanted first


@dataclass(frozen=True)
class EmbedOutcome:
    """How far a run came, in distinct passages: the four add up to all there are."""

    embedded: int
    cached: int
    pending: int
    failed: list[tuple[str, str]] = field(default_factory=list)  # passage hash, reason
    stopped_by: str = ""  # why the embedder gave out before the end, else empty


def embed_missing(
    plan: EmbedPlan,
    embedder: Embedder,
    cache: EmbeddingCache,
    counter: TokenCounter,
    *,
    deadline: Deadline = lambda: False,
    progress: Progress = lambda done, total: None,
) -> EmbedOutcome:
    """Embed what the cache does not hold, most wanted first, until done or out of time.

    The deadline is looked at between batches. Texts the embedder refuses are reported, not
    raised; if it gives out altogether, what is done is kept and `stopped_by` says why.
    """
    missing = _missing(plan, cache)
    door = Door(embedder, counter)
    failed: list[tuple[str, str]] = []
    done, stopped_by = 0, ""
    for batch in _batches(missing, embedder.largest_batch):
        if deadline():
            break
        try:
            failed += _embed_batch(plan, batch, door, cache)
        except EmbedderError as problem:
            stopped_by = str(problem)
            break
        done += len(batch)
        progress(done, len(missing))
    return EmbedOutcome(
        embedded=done - len(failed),
        cached=len(plan.texts) - len(missing),
        pending=len(missing) - done,
        failed=failed,
        stopped_by=stopped_by,
    )


def gather(
    profile: EmbedderProfile, hashes: Sequence[str], cache: EmbeddingCache
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return a row for each hash, zeros where the cache has no vector, and which have one.

    Raises StoreError if the cache is damaged.
    """
    matrix = np.zeros((len(hashes), profile.dims), dtype=np.float32)
    has_vector = np.zeros(len(hashes), dtype=bool)
    # Page by page, so that no vector is held twice for long.
    for start in range(0, len(hashes), _LOOK_UP):
        some = hashes[start : start + _LOOK_UP]
        known = cache.get_many(profile.key(), list(dict.fromkeys(some)))
        for row, each in enumerate(some, start):
            vector = known.get(each)
            if vector is not None and vector.shape == (profile.dims,):
                matrix[row] = vector
                has_vector[row] = True
    return matrix, has_vector


def _missing(plan: EmbedPlan, cache: EmbeddingCache) -> list[str]:
    """Return the hashes without a sound vector in the cache, most wanted first."""
    missing: list[str] = []
    for some in _batches(list(plan.texts), _LOOK_UP):
        known = cache.get_many(plan.profile.key(), some)
        missing += [passage_hash for passage_hash in some if passage_hash not in known]
    return missing


def _batches(hashes: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(hashes), size):
        yield hashes[start : start + size]


def _embed_batch(
    plan: EmbedPlan, batch: Sequence[str], door: Door, cache: EmbeddingCache
) -> list[tuple[str, str]]:
    """Embed and store one batch, and return what failed."""
    checked = door.embed([plan.texts[passage_hash] for passage_hash in batch])
    cache.put_many(plan.profile.key(), {batch[i]: v for i, v in sorted(checked.vectors.items())})
    return [(batch[position], reason) for position, reason in sorted(checked.failed.items())]
