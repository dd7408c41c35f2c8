"""The vector cache: what goes in comes out, whole or not at all, for everybody at once."""

import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.errors import BusyError, StoreError
from kb_core.ids import content_id
from resources import sqlite_files
from resources.caches import EmbeddingCache

PROFILE = "small-4-abc"


def vectors(*names: str) -> dict[str, np.ndarray]:
    return {content_id(name): np.array([len(name), 1, 2, 3], dtype=np.float32) for name in names}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


def test_what_was_put_is_found_again_by_another_process(path):
    stored = vectors("a", "bb")
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)
    with EmbeddingCache(path) as cache:
        found = cache.get_many(PROFILE, list(stored))

    assert list(found) == list(stored)
    for passage, vector in stored.items():
        assert found[passage].dtype == np.float32
        assert found[passage].tobytes() == vector.tobytes()


def test_profiles_never_mix(path):
    stored = vectors("a")
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)

        assert cache.get_many("other-4-abc", list(stored)) == {}


def test_the_first_vector_stays(path):
    (passage,) = stored = vectors("a")
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)
        cache.put_many(PROFILE, {passage: np.zeros(4, dtype=np.float32)})

        assert cache.get_many(PROFILE, [passage])[passage].tobytes() == stored[passage].tobytes()


def test_more_hashes_than_a_query_takes_are_found(path):
    stored = vectors(*(f"text {number}" for number in range(1_203)))
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)

        assert list(cache.get_many(PROFILE, list(stored))) == list(stored)


def test_a_damaged_row_is_a_miss_and_is_deleted(path):
    stored = vectors("a", "bb")
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)
    blob = stored[content_id("a")].tobytes()
    data = path.read_bytes()
    assert data.count(blob) == 1
    path.write_bytes(data.replace(blob, b"\xff" + blob[1:]))

    with EmbeddingCache(path) as cache:
        assert list(cache.get_many(PROFILE, list(stored))) == [content_id("bb")]
        cache.put_many(PROFILE, vectors("a"))
        assert list(cache.get_many(PROFILE, list(stored))) == list(stored)


def test_a_row_under_another_key_is_a_miss(path):
    stored = vectors("a")
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, stored)
    other = content_id("b")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET passage = ?", (bytes.fromhex(other),))
    db.close()

    with EmbeddingCache(path) as cache:
        assert cache.get_many(PROFILE, [other]) == {}


def test_a_batch_that_fails_leaves_nothing(path):
    with EmbeddingCache(path) as cache:
        cache._db.execute(
            "CREATE TRIGGER full AFTER INSERT ON vectors WHEN "
            "(SELECT count(*) FROM vectors) > 1 BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        with pytest.raises(StoreError):
            cache.put_many(PROFILE, vectors("a", "bb", "ccc"))

        assert cache.get_many(PROFILE, list(vectors("a", "bb", "ccc"))) == {}


def test_a_file_that_is_no_database_says_what_to_do(path):
    path.parent.mkdir()
    path.write_bytes(b"no database" * 1_000)

    with pytest.raises(StoreError, match="delete the file"):
        EmbeddingCache(path)


def test_a_lock_that_is_not_given_up_is_not_waited_for_for_ever(path, monkeypatch):
    monkeypatch.setattr(sqlite_files, "BUSY_SECONDS", 0.05)
    with EmbeddingCache(path) as holder, EmbeddingCache(path) as cache:
        holder._db.execute("BEGIN IMMEDIATE")

        with pytest.raises(BusyError):
            cache.put_many(PROFILE, vectors("a"))


def test_only_the_owner_can_read_it(path):
    with EmbeddingCache(path) as cache:
        cache.put_many(PROFILE, vectors("a"))
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}

    assert modes == {0o600}


_WRITER = """
import sys
from pathlib import Path
import numpy as np
from kb_core.ids import content_id
from resources.caches import EmbeddingCache
with EmbeddingCache(Path(sys.argv[1])) as cache:
    for batch in range(20):
        cache.put_many("p", {
            content_id(f"{sys.argv[2]} {batch} {n}"): np.ones(8, np.float32) for n in range(5)
        })
"""


def test_two_processes_write_at_once_and_lose_nothing(path):
    command = [sys.executable, "-c", _WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in ("x", "y")]
    assert [writer.wait() for writer in writers] == [0, 0]

    hashes = [content_id(f"{w} {b} {n}") for w in "xy" for b in range(20) for n in range(5)]
    with EmbeddingCache(path) as cache:
        assert len(cache.get_many("p", hashes)) == len(hashes)


def test_processes_that_make_the_file_at_the_same_moment_all_succeed(tmp_path):
    script = (
        "import sys, time; from pathlib import Path\n"
        "from resources.caches import EmbeddingCache; from resources.leases import Leases\n"
        "for n in range(15):\n"
        "    while time.time() < float(sys.argv[2]) + n * 0.05: pass\n"
        "    with EmbeddingCache(Path(sys.argv[1], f'{n}.sqlite')): pass\n"
        "    with Leases(Path(sys.argv[1], f'l{n}.sqlite')).hold(sys.argv[3]): pass"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(time.time() + 1)]

    racers = [subprocess.Popen([*command, name]) for name in "abc"]

    assert [racer.wait() for racer in racers] == [0, 0, 0]


names = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@settings(max_examples=30, deadline=None)
@given(names, names)
def test_it_finds_exactly_what_was_put_in_the_order_asked(put, asked):
    hashes = [content_id(name) for name in asked]
    with TemporaryDirectory() as folder, EmbeddingCache(Path(folder, "c.sqlite")) as cache:
        cache.put_many(PROFILE, vectors(*put))

        assert list(cache.get_many(PROFILE, hashes)) == list(
            dict.fromkeys(content_id(name) for name in asked if name in put)
        )
