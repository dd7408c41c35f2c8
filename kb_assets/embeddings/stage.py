"""From a folder's chunks to cached vectors: what there is to embed, and the embedding itself.

`plan_passages` is pure. `embed_missing` calls the embedder and fills the cache; it is safe to
stop anywhere and to repeat, since each batch is stored before the next and nothing stored is
made again. In which order and batches that happened leaves no trace in the tables.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from kb_assets.embeddings.doors import Door
from kb_assets.embeddings.passages import split_passages
from kb_core.contracts import PASSAGES
from kb_core.errors import EmbedderError
from kb_core.ids import content_id
from kb_core.tokens import TokenCounter
from resources.caches import EmbeddingCache
from resources.embedder import Embedder, EmbedderProfile

VERSION = "1"  # raise it when the same chunks would be planned differently

Deadline = Callable[[], bool]  # true once the time is up
Progress = Callable[[int, int], None]  # texts done, texts in all

_LOOK_UP = 2_000  # hashes asked of the cache at a time, to hold few vectors in memory
_COLUMNS = [
    "text_id", "note_id", "search_text", "is_current", "written_date", "available_at", "may_leave",
]  # fmt: skip


@dataclass(frozen=True)
class EmbedPlan:
    """What a folder's vectors are made of."""

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


def plan_passages(
    chunks: pa.Table,
    profile: EmbedderProfile,
    counter: TokenCounter,
    *,
    may_leave_only: bool = False,
) -> EmbedPlan:
    """Cut a folder's texts into passages, one row each.

    Takes a table of contract CHUNKS. `may_leave_only` plans only what a server on another
    machine may be sent: an older version only if the present one of its note may be, too.
    """
    rows = chunks.select(_COLUMNS).to_pylist()
    wanted = _newest_first(_that_may_leave(rows) if may_leave_only else rows)
    chosen = frozenset(wanted)
    # In order of first appearance among all rows, by which the index numbers its texts: one that
    # may leave in one note may have stood in another, that may not, before.
    texts = {row["text_id"]: row["search_text"] for row in rows if row["text_id"] in chosen}
    hashed = {
        text_id: [
            (content_id(passage), passage)
            for passage in split_passages(text, counter.count, profile.passage_tokens)
        ]
        for text_id, text in texts.items()
    }
    return EmbedPlan(
        profile=profile,
        passages=PASSAGES.table(
            {"text_id": text_id, "passage": ordinal, "passage_hash": passage_hash}
            for text_id, passages in hashed.items()
            for ordinal, (passage_hash, _) in enumerate(passages)
        ),
        texts=dict(pair for text_id in wanted for pair in hashed[text_id]),
    )


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


def _that_may_leave(rows: Sequence[dict]) -> list[dict]:
    """Drop what stays on this machine, and older versions of notes that stay by now."""
    staying = {row["note_id"] for row in rows if row["is_current"] and not row["may_leave"]}
    return [row for row in rows if row["may_leave"] and row["note_id"] not in staying]


def _newest_first(rows: Sequence[dict]) -> list[str]:
    """Order texts: those of present notes before older versions', each newest first."""

    def wanted(row: dict) -> tuple[bool, str]:
        # A longer partial date sorts after the shorter one it begins with: 2024 < 2024-03.
        return row["is_current"], row["written_date"] or row["available_at"].date().isoformat()

    newest = sorted(rows, key=wanted, reverse=True)  # equal ones keep the table's order
    return list(dict.fromkeys(row["text_id"] for row in newest))


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
