"""`kb gc`: what nothing needs goes, what anything needs stays, wherever it is cut off."""

import json
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.direct_build import build_directly
from kb_assets.build.publish import pin
from kb_core.errors import BusyError, NotBuiltError, StoreError
from kb_serve.commands.gc import command
from kb_serve.keeping.checks import verify
from kb_serve.keeping.collecting import collect_garbage
from kb_serve.keeping.mending import set_aside
from kb_serve.keeping.named import needed_builds
from resources.builds import FORMAT, Builds
from resources.caches import EmbeddingCache
from resources.closure import build_files, kept_files, stored_files
from resources.collection import collect, plan_collection
from resources.leases import HOME
from resources.tables import TableStore
from tests.kept_home import copy_home, first, flip, make_kept_home
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

NEVER = time.time() + 1_000_000  # everything is older


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn() as server:
        yield server


@pytest.fixture(scope="module")
def built(ollama, tmp_path_factory):
    return make_kept_home(tmp_path_factory.mktemp("kept"), ollama.url)


@pytest.fixture
def home(built, tmp_path):
    return copy_home(built, tmp_path / "home")


def gc(home, *, keep=0, days=0.0, vectors=False, dry_run=False):
    time.sleep(0.01)  # what was copied just now is older than now
    return collect_garbage(home, keep=keep, older_than_days=days, vectors=vectors, dry_run=dry_run)


def last(home):
    return home.record("last-build")["build"]


def files(home):
    return {path for path in home.data.rglob("*") if path.is_file() and "cache" not in path.parts}


def test_only_what_the_home_needs_is_left(home):
    before = len(Builds(home.data).names())

    gone = gc(home)

    assert before > 1
    assert len(gone.planned.builds) == before - 1
    assert Builds(home.data).names() == Builds(home.data).published() == [last(home)]
    named = kept_files(home.store, Builds(home.data), [last(home)])
    there = {path.relative_to(home.store.root).as_posix() for path in stored_files(home.store)}
    assert there == named
    assert verify(home, everything=True).damages == ()
    assert build_directly(home) == []


def test_published_builds_are_kept_to_go_back_to(home):
    published = Builds(home.data).published()

    gc(home, keep=2)

    assert set(Builds(home.data).names()) == set(published)
    assert verify(home).damages == ()


def test_a_pinned_build_stays_whole(home):
    old = Builds(home.data).published()[0]
    pin(home, old)

    gc(home)

    assert old in Builds(home.data).names()
    assert verify(home, build=old).damages == ()


def test_the_build_that_scores_are_compared_with_stays(home):
    old = Builds(home.data).published()[0]
    home.write_record("baseline", {"build": old})

    assert old in needed_builds(home)
    gc(home)

    assert verify(home, build=old).damages == ()


def test_what_is_younger_than_an_hour_stays(home):
    put(home.store.root, f"chunks/all/{'0' * 32}.parquet", "named by nobody")
    before = files(home)

    gc(home, days=1 / 24)

    assert files(home) == before


def test_a_dry_run_says_what_would_go_and_removes_nothing(home):
    before = files(home)

    said = gc(home, dry_run=True)

    assert files(home) == before
    done = gc(home)
    assert (said.planned.builds, said.bytes) == (done.planned.builds, done.bytes)
    assert said.bytes > 0


def test_what_dead_writers_and_mending_left_goes(home):
    put(home.data, "store/chunks/a/x.parquet.tmp-0a1b2c3d", "half")
    put(home.data, "builds/x.report.json.tmp-0a1b2c3d", "half")
    put(home.data, "home.json.tmp-0a1b2c3d", "half")
    put(home.data, f"builds/{'0' * 32}.report.json", "{}")
    set_aside(home, put(home.data, "store/chunks/a/old.parquet", "damaged"))

    gone = gc(home)

    assert len(gone.planned.leftovers) == 4
    assert not [path for path in files(home) if ".tmp-" in path.name or "damaged" in path.parts]
    assert Builds(home.data).orphans() == []


def test_nothing_is_collected_while_somebody_writes(home, monkeypatch):
    monkeypatch.setattr("kb_serve.keeping.collecting._WAIT_SECONDS", 0.1)
    before = files(home)

    with home.leases.hold("chunks/town"), pytest.raises(BusyError, match="chunks/town"):
        gc(home)

    assert files(home) == before


def test_nobody_writes_while_something_is_collected(home):
    with (
        home.leases.hold(HOME),
        pytest.raises(BusyError),
        home.leases.hold("chunks/town", wait_seconds=0),
    ):
        pass


@pytest.mark.parametrize("pattern", ["store/chunks/*.json", "builds/{last}.json"])
def test_a_damaged_pointer_or_manifest_stops_the_collection_before_it_begins(home, pattern):
    flip(first(home, pattern.format(last=last(home))))
    before = files(home)

    with pytest.raises(StoreError, match="kb verify --mend"):
        gc(home)

    assert files(home) == before


class _CutError(Exception):
    pass


def _steps(home, monkeypatch, most):
    """Collect, cut off after `most` removals; return how many there were."""
    done = 0
    unlink = Path.unlink

    def counting(path, missing_ok=False):
        nonlocal done
        if done == most:
            raise _CutError
        done += 1
        unlink(path, missing_ok)

    planned = plan_collection(
        home.data, needed_builds(home), keep=0, aside=home.data / "damaged", until=NEVER
    )
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", counting)
        with suppress(_CutError):
            collect(home.data, planned)
    return done


def test_a_collection_may_be_cut_off_at_every_step(built, tmp_path, monkeypatch):
    whole = copy_home(built, tmp_path / "whole")
    steps = _steps(whole, monkeypatch, -1)
    left = {path.relative_to(whole.root) for path in files(whole)}

    assert steps > 10
    for most in [*range(6), *range(6, steps, 7)]:
        shutil.rmtree(tmp_path / "cut", ignore_errors=True)
        home = copy_home(built, tmp_path / "cut")
        _steps(home, monkeypatch, most)
        # A build that is still listed has all its files.
        assert verify(home).damages == ()
        _steps(home, monkeypatch, -1)
        assert {path.relative_to(home.root) for path in files(home)} == left


def cached(home):
    with closing(sqlite3.connect(home.data / "cache" / "embeddings.sqlite")) as db:
        return {row[0].hex() for row in db.execute("SELECT passage FROM vectors")}


def test_vectors_stay_unless_they_are_asked_for(home):
    before = cached(home)

    gc(home)

    assert cached(home) == before


def test_vectors_of_texts_that_nothing_holds_any_more_go(home):
    profile = home.store.pointer("vectors", home.store.partitions("vectors")[0]).meta["profile"]
    wanted = cached(home)
    with EmbeddingCache(home.data / "cache" / "embeddings.sqlite") as cache:
        cache.put_many(profile, {"0" * 32: np.ones(4, np.float32)})
        cache.put_many("another-model", {next(iter(wanted)): np.ones(4, np.float32)})

    said = gc(home, vectors=True, dry_run=True)
    assert (said.vectors, len(cached(home))) == (2, len(wanted) + 1)

    assert gc(home, vectors=True).vectors == 2
    assert cached(home) == wanted
    assert verify(home).damages == ()


def test_vectors_that_wait_for_the_rest_of_their_folder_are_not_dropped(home):
    first(home, "store/vectors/*.json").unlink()
    before = cached(home)

    with pytest.raises(NotBuiltError, match="kb build"):
        gc(home, vectors=True)

    assert cached(home) == before


def test_the_command_says_what_it_did(home):
    arguments = ["--home", str(home.root), "--older-than", "0", "--keep", "0"]

    dry = CliRunner().invoke(command, [*arguments, "--dry-run", "--json"])
    done = CliRunner().invoke(command, arguments)

    values = json.loads(dry.stdout.splitlines()[-1])
    assert values["dry_run"]
    assert values["bytes"] > 0
    assert "removed" in done.stdout
    assert verify(home).damages == ()


@given(
    st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=5),
    st.sets(st.integers(0, 9), max_size=3),
    st.data(),
)
@settings(max_examples=12, deadline=None)
def test_exactly_the_files_of_builds_and_pointers_that_stay_are_left(builds_of, pointed, data):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = _made(root, builds_of, pointed)
        needed = data.draw(st.sets(st.sampled_from(sorted(set(names)))))
        keep = data.draw(st.integers(0, 3))
        builds, store = Builds(root), TableStore(root / "store")
        builds.log_published(names)

        planned = plan_collection(root, needed, keep=keep, aside=root / "damaged", until=NEVER)
        collect(root, planned)

        wanted = set(needed) | set(list(dict.fromkeys(names[::-1]))[:keep])
        assert set(builds.names()) == wanted
        assert builds.published() == [name for name in names if name in wanted]
        there = {path.relative_to(store.root).as_posix() for path in stored_files(store)}
        expected = {file for name in wanted for file in build_files(builds.read(name))}
        assert there == expected | {f for _, each in store.pointers() for f in each.files.values()}


def _made(root, builds_of, pointed):
    """Write small files; return the builds that name some of them, in order."""
    store, builds = TableStore(root / "store"), Builds(root)
    pointers = {}
    for number in range(10):
        arrays = {"codes": np.array([number])}
        pointers[number] = store.write_arrays(
            "vectors", arrays, partition=f"p{number}", rows=1, inputs={}, code_version="1"
        )
        if number not in pointed:
            (store.root / "vectors" / f"p{number}.json").unlink()
    return [
        builds.write(
            {
                "format": FORMAT,
                "settings": {},
                "vault": {"artifacts": {}},
                "folders": {
                    f"p{number}": {
                        "path": str(number),
                        "artifacts": {"vectors": pointers[number].as_artifact()},
                    }
                    for number in sorted(numbers)
                },
            }
        )
        for numbers in builds_of
    ]
