"""From chunks to vectors: what is planned, in which order it is embedded, what comes out."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.embedding_work import EmbedPlan, embed_missing
from kb_assets.embeddings.stage import plan_passages
from kb_assets.embeddings.vectors import assemble
from kb_core.contracts import CHUNKS
from kb_core.errors import EmbedderDownError
from kb_core.ids import content_id
from kb_core.tokens import RegexTokenCounter
from resources.caches import EmbeddingCache
from resources.embedder import BadBatchError, RawBatch
from tests.standins.hash_embedder import HashEmbedder

COUNTER = RegexTokenCounter()
LONG = "Plan\n" + " ".join(f"Seat number {number} was sold to a firm." for number in range(12))


def chunk(search_text: str, **columns: Any) -> dict[str, Any]:
    """Fill a row of CHUNKS; only the columns the stage reads matter."""
    plain = {
        "version_id": "v1",
        "chunk_id": content_id(search_text, str(sorted(columns.items()))),
        "text_id": content_id(search_text),
        "note_id": "a.md",
        "is_current": True,
        "ordinal": 0,
        "title": "A",
        "breadcrumb": "A",
        "anchors": [],
        "text": search_text,
        "search_text": search_text,
        "tokens": 1,
        "byte_start": 0,
        "byte_end": 1,
        "written_date": None,
        "written_basis": "none",
        "written_is_weak": False,
        "available_at": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "kind": "note",
        "tenant": "main",
        "readers": [],
        "is_private": False,
        "may_leave": False,
        "aliases": [],
        "source_type": "",
        "authority_role": "",
        "speakers": [],
    }
    return plain | columns


def chunks(*texts: str) -> pa.Table:
    return CHUNKS.table(chunk(text) for text in texts)


def planned(table: pa.Table, embedder: HashEmbedder) -> EmbedPlan:
    return plan_passages(table, embedder.profile, COUNTER)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "embeddings.sqlite") as opened:
        yield opened


class Picky(HashEmbedder):
    """Refuses some texts, and goes down after some batches."""

    def __init__(self, refuses: str = "\0", good_batches: int = 99, **size: Any) -> None:
        super().__init__(**size)
        self._refuses = refuses
        self._good_batches = good_batches

    def embed_batch(self, texts: list[str], *, cpu_only: bool = False) -> RawBatch:
        if len(self.batches) >= self._good_batches:
            raise EmbedderDownError("The server went away.")
        if any(self._refuses in text for text in texts):
            raise BadBatchError("A text is refused.")
        return super().embed_batch(texts)


def test_equal_texts_are_one_text_in_order_of_first_appearance():
    plan = planned(chunks("one", "two"), HashEmbedder())
    doubled = CHUNKS.table(
        [chunk("one"), chunk("two"), chunk("one", version_id="v2"), chunk("two", version_id="v2")]
    )

    assert plan.passages.to_pylist() == [
        {"text_id": content_id(text), "passage": 0, "passage_hash": content_id(text)}
        for text in ("one", "two")
    ]
    assert planned(doubled, HashEmbedder()).passages.equals(plan.passages)


def test_a_small_model_gets_several_passages_for_a_long_text():
    plan = planned(chunks("short", LONG), HashEmbedder(passage_tokens=30))

    assert plan.passages["passage"].to_pylist() == [0, *range(plan.passages.num_rows - 1)]
    assert plan.passages.num_rows > 3
    assert set(plan.texts) == set(plan.passages["passage_hash"].to_pylist())


def test_present_notes_come_before_older_versions_and_each_newest_first():
    old = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    table = CHUNKS.table(
        [
            chunk("old version", is_current=False, written_date="2025"),
            chunk("undated", available_at=old),
            chunk("2024", written_date="2024"),
            chunk("2024-03", written_date="2024-03", available_at=old),
            chunk("undated too", available_at=old),
        ]
    )
    plan = planned(table, HashEmbedder())

    assert list(plan.texts.values()) == ["2024-03", "2024", "undated", "undated too", "old version"]
    assert plan.passages["text_id"].to_pylist() == table["text_id"].to_pylist()


def test_what_may_not_leave_is_not_planned_for_another_machine():
    table = CHUNKS.table([chunk("mine"), chunk("shared", note_id="b.md", may_leave=True)])
    plan = plan_passages(table, HashEmbedder().profile, COUNTER, may_leave_only=True)

    assert list(plan.texts.values()) == ["shared"]


def test_what_may_leave_is_planned_in_the_order_of_the_folders_texts():
    table = CHUNKS.table(
        [
            chunk("in both"),
            chunk("shared", note_id="b.md", may_leave=True),
            chunk("in both", note_id="b.md", may_leave=True),
        ]
    )
    plan = plan_passages(table, HashEmbedder().profile, COUNTER, may_leave_only=True)

    assert plan.passages["text_id"].to_pylist() == table["text_id"].unique().to_pylist()


def test_older_versions_of_a_note_that_became_private_stay_here():
    old = chunk("was open", version_id="v0", is_current=False, may_leave=True)
    plan = plan_passages(
        CHUNKS.table([chunk("private now"), old]),
        HashEmbedder().profile,
        COUNTER,
        may_leave_only=True,
    )

    assert not plan.texts


def test_an_empty_folder_gives_an_empty_matrix_of_the_right_width(cache):
    plan = planned(CHUNKS.empty(), HashEmbedder(dims=32))
    outcome = embed_missing(plan, HashEmbedder(), cache, COUNTER)
    passages, matrix = assemble(plan, cache)

    assert (outcome.embedded, outcome.cached, outcome.pending, outcome.failed) == (0, 0, 0, [])
    assert passages.num_rows == 0
    assert matrix.shape == (0, 32)


def test_only_new_texts_are_embedded(cache):
    embed_missing(planned(chunks("one", "two"), HashEmbedder()), HashEmbedder(), cache, COUNTER)
    embedder = HashEmbedder()
    plan = planned(chunks("one", "two", "three"), embedder)
    outcome = embed_missing(plan, embedder, cache, COUNTER)

    assert embedder.batches == [["three"]]
    assert (outcome.embedded, outcome.cached, outcome.pending) == (1, 2, 0)


def test_another_profile_shares_no_vector(cache):
    embed_missing(planned(chunks("one"), HashEmbedder()), HashEmbedder(), cache, COUNTER)
    wider = HashEmbedder(dims=48)
    plan = planned(chunks("one"), wider)

    assert assemble(plan, cache)[1].shape == (0, 48)
    assert embed_missing(plan, wider, cache, COUNTER).embedded == 1


def test_every_batch_is_stored_before_the_next(cache, tmp_path):
    embedder = HashEmbedder(largest_batch=2)
    plan = planned(chunks("a", "b", "c", "d", "e"), embedder)
    seen: list[int] = []

    def count_stored(done: int, total: int) -> None:
        with EmbeddingCache(tmp_path / "embeddings.sqlite") as other:
            seen.append(len(other.get_many(plan.profile.key(), list(plan.texts))))

    embed_missing(plan, embedder, cache, COUNTER, progress=count_stored)

    assert seen == [2, 4, 5]


def test_progress_says_how_far_of_how_much(cache):
    seen: list[tuple[int, int]] = []
    embedder = HashEmbedder(largest_batch=2)
    embed_missing(
        planned(chunks("a", "b", "c"), embedder),
        embedder,
        cache,
        COUNTER,
        progress=lambda *now: seen.append(now),
    )

    assert seen == [(2, 3), (3, 3)]


def test_out_of_time_the_rest_is_pending_and_the_next_run_goes_on(cache):
    embedder = HashEmbedder(largest_batch=2)
    plan = planned(chunks("a", "b", "c", "d", "e"), embedder)
    looks = iter([False, True])
    first = embed_missing(plan, embedder, cache, COUNTER, deadline=lambda: next(looks))
    passages, matrix = assemble(plan, cache)

    assert (first.embedded, first.pending) == (2, 3)
    assert passages["text_id"].to_pylist() == [content_id("a"), content_id("b")]
    assert len(matrix) == 2

    second = embed_missing(plan, embedder, cache, COUNTER)
    assert (second.embedded, second.cached, second.pending) == (3, 2, 0)


def test_a_text_with_half_its_passages_waits(cache):
    embedder = HashEmbedder(passage_tokens=30, largest_batch=1)
    plan = planned(chunks(LONG, "short"), embedder)
    looks = iter([False, True])
    embed_missing(plan, embedder, cache, COUNTER, deadline=lambda: next(looks))

    assert assemble(plan, cache)[0].num_rows == 0


def test_a_refused_text_is_reported_and_the_others_go_on(cache):
    embedder = Picky(refuses="bad")
    plan = planned(chunks("a", "bad", "c"), embedder)
    outcome = embed_missing(plan, embedder, cache, COUNTER)

    assert outcome.failed == [(content_id("bad"), "A text is refused.")]
    assert (outcome.embedded, outcome.pending, outcome.stopped_by) == (2, 0, "")
    assert assemble(plan, cache)[0]["text_id"].to_pylist() == [content_id("a"), content_id("c")]


def test_an_embedder_that_gives_out_keeps_what_is_done(cache):
    embedder = Picky(good_batches=1, largest_batch=2)
    plan = planned(chunks("a", "b", "c"), embedder)
    outcome = embed_missing(plan, embedder, cache, COUNTER)

    assert (outcome.embedded, outcome.pending) == (2, 1)
    assert outcome.stopped_by == "The server went away."


def test_a_damaged_vector_is_made_again(cache):
    embedder = HashEmbedder()
    plan = planned(chunks("a", "b"), embedder)
    embed_missing(plan, embedder, cache, COUNTER)
    before = assemble(plan, cache)[1]
    cache._db.execute("UPDATE vectors SET vector = zeroblob(128)")

    assert embed_missing(plan, embedder, cache, COUNTER).embedded == 2
    assert assemble(plan, cache)[1].tobytes() == before.tobytes()


texts = st.lists(st.sampled_from(["a", "b", "c", LONG, f"{LONG} More.", " "]), max_size=8)


@settings(max_examples=30, deadline=None)
@given(texts, st.lists(st.integers(0, 3), max_size=4), st.integers(1, 5))
def test_stopping_and_going_on_in_any_batches_gives_the_same_bytes(texts, stops, size):
    table = CHUNKS.table(chunk(text, version_id=str(row)) for row, text in enumerate(texts))
    with TemporaryDirectory() as folder:
        with EmbeddingCache(Path(folder, "once.sqlite")) as cache:
            once = _run(table, cache, HashEmbedder(passage_tokens=30), [])
        with EmbeddingCache(Path(folder, "parts.sqlite")) as cache:
            parts = _run(table, cache, HashEmbedder(passage_tokens=30, largest_batch=size), stops)

    assert once[0].equals(parts[0])
    assert once[1].tobytes() == parts[1].tobytes()


def _run(
    table: pa.Table, cache: EmbeddingCache, embedder: HashEmbedder, stops: list[int]
) -> tuple[pa.Table, np.ndarray]:
    """Embed with a stop after each given number of batches, then to the end."""
    plan = planned(table, embedder)
    for batches in stops:
        looks = iter([False] * batches + [True])
        embed_missing(plan, embedder, cache, COUNTER, deadline=lambda looks=looks: next(looks))
    outcome = embed_missing(plan, embedder, cache, COUNTER)
    assert outcome.pending == 0
    return assemble(plan, cache)
