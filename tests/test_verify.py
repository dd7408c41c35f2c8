"""`kb verify`: every changed byte is found, and mending brings back just that file."""

import contextlib
import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from benchmarks.direct_build import build_directly
from kb_assets.build.publish import pin
from kb_assets.workbench import Workbench
from kb_core.errors import BusyError, KbError, StoreError
from kb_search.engine import Engine
from kb_serve.builder import Builder
from kb_serve.commands.verify import command
from kb_serve.keeping import damage
from kb_serve.keeping.checks import verify
from kb_serve.keeping.mending import mend
from kb_serve.keeping.named import needed_builds
from resources.builds import Builds
from resources.caches import EmbeddingCache
from resources.closure import build_files, kept_files
from resources.soundness import database_problem, lines_problem
from resources.vector_rows import cache_problem, save_sound_rows
from tests.kb_command import kb_json
from tests.kept_home import copy_home, first, flip, make_kept_home
from tests.ready_home import ready_home
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn() as server:
        yield server


@pytest.fixture(scope="module")
def sound(ollama, tmp_path_factory):
    """A home that tests only look at."""
    return make_kept_home(tmp_path_factory.mktemp("kept"), ollama.url)


@pytest.fixture
def home(sound, tmp_path):
    return copy_home(sound, tmp_path / "home")


def last(home):
    return home.record("last-build")["build"]


def earlier(home):
    return next(name for name in Builds(home.data).published() if name != last(home))


def only_of(home, build):
    """Return a stored file that an earlier build names, and neither the last nor the folders."""
    rest = kept_files(home.store, Builds(home.data), [last(home)])
    return next(
        home.store.root / path
        for path in build_files(Builds(home.data).read(build))
        if path not in rest and "/chunks/" in f"/{path}"
    )


def found(home, **options):
    return verify(home, **options).damages


def stored(home):
    builds = Builds(home.data)
    files = [home.store.root / f for f in kept_files(home.store, builds, needed_builds(home))]
    files += [path for path, _ in home.store.pointers()]
    files += [builds.files(last(home))[0], home.data / "CURRENT"]
    return {path.relative_to(home.data).as_posix(): path.read_bytes() for path in files}


def test_a_sound_home_has_no_damage_and_every_file_counts(sound):
    checked = verify(sound, everything=True)

    assert checked.damages == ()
    assert checked.files > 100
    assert checked.bytes > sum(path.stat().st_size for path in sound.data.rglob("*.npy"))


# What is flipped, what it is called, and the stages that make it anew.
PLACES = [
    ("store/files/*/*.parquet", damage.TABLE, set()),  # looked at anew, and found as it was
    ("store/notes/*/*.parquet", damage.TABLE, {"notes"}),
    ("store/chunks/*/*.parquet", damage.TABLE, {"chunks"}),
    ("store/keyword_index/*/*.npy", damage.TABLE, {"keyword_index"}),
    ("store/vectors/town*/*.npy", damage.TABLE, {"embeddings"}),
    ("store/passages/*/*.parquet", damage.TABLE, {"embeddings"}),
    ("store/note_links/*/*.parquet", damage.TABLE, {"note_links"}),
    ("store/chunks/*.json", damage.POINTER, {"chunks"}),
    ("store/vectors/*.json", damage.POINTER, {"embeddings"}),
    ("store/passages/*.json", damage.POINTER, {"embeddings"}),
    ("builds/{last}.json", damage.MANIFEST, {"build"}),
    ("builds/{last}.report.json", damage.REPORT, {"eval_report"}),
    ("builds/{last}.scores.json", damage.SCORES, {"eval_report"}),
    ("CURRENT", damage.CURRENT, set()),
    ("builds/published.log", damage.PUBLISHED, set()),
    ("last-build.json", damage.RECORD, set()),
    ("last-publish.json", damage.RECORD, set()),
    ("folder-scores.json", damage.RECORD, {"eval_scores"}),
    ("folders.json", damage.FOLDERS, set()),
    ("dagster/other.db", damage.RUNS, set()),
]


@pytest.mark.parametrize(("pattern", "kind", "stages"), PLACES)
def test_a_flipped_bit_is_found_and_only_its_own_stage_is_run_anew(
    home, ollama, pattern, kind, stages
):
    before = stored(home)
    path = first(home, pattern.format(last=last(home)))
    flip(path, position=20 if kind == damage.RUNS else -1)

    (hit,) = [each for each in found(home) if each.kind == kind]
    ollama.scenario.seen.clear()
    mend(home, found(home))
    work = build_directly(home)

    assert hit.path == path.relative_to(home.data).as_posix()
    assert {stage for stage, _ in work} == stages
    assert not [text for batch in ollama.scenario.batches() for text in batch if "\n" in text]
    assert stored(home) == before
    assert found(home, everything=True) == ()


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("history/versions/*/*.parquet", damage.JOURNAL),
        ("history/listing.json", damage.LISTING),
        ("history/evaluations.jsonl", damage.EVALUATIONS),
        ("home.json", damage.HOME),
        ("baseline.json", damage.BASELINE),
    ],
)
def test_what_nothing_makes_anew_is_reported_and_never_mended(home, pattern, kind):
    path = first(home, pattern)
    flip(path)
    damaged = path.read_bytes()

    assert [each.kind for each in found(home)] == [kind]
    assert not kind.is_mendable
    assert mend(home, found(home)) == []
    assert path.read_bytes() == damaged


def test_a_pin_is_the_users_own_decision(home):
    pin(home, earlier(home))
    flip(home.data / "pin.json")

    assert [each.kind for each in found(home)] == [damage.DECISION]


def test_a_journal_without_its_listing_is_damaged(home):
    (home.data / "history" / "listing.json").unlink()

    assert [each.kind for each in found(home)] == [damage.LISTING]


def test_a_missing_file_is_found_and_made_anew(home):
    before = stored(home)
    first(home, "store/notes/*/*.parquet").unlink()

    assert [(each.kind, each.problem) for each in found(home)] == [(damage.TABLE, "it is missing")]
    assert {stage for stage, _ in build_directly(home)} == {"notes"}
    assert stored(home) == before


def test_a_build_that_lost_a_file_for_good_is_let_go_by_mending(home):
    flip(only_of(home, earlier(home)))

    assert [each.kind for each in found(home)] == [damage.OLD_FILE]
    mend(home, found(home))

    assert Builds(home.data).published() == [last(home)]
    assert found(home) == ()


def test_a_file_that_only_the_answering_build_needs_is_not_called_mendable(home):
    pin(home, earlier(home))
    flip(only_of(home, earlier(home)))

    (hit,) = found(home)

    assert hit.kind == damage.ANSWERS_ONLY
    assert "kb publish" in hit.kind.remedy


def test_the_build_that_scores_are_compared_with_is_not_let_go(home):
    home.write_record("baseline", {"build": earlier(home)})
    flip(only_of(home, earlier(home)))

    assert [each.kind for each in found(home)] == [damage.COMPARED_ONLY]
    assert mend(home, found(home)) == []
    assert earlier(home) in Builds(home.data).names()


@pytest.mark.parametrize("pattern", ["store/vectors/town*.json", "store/passages/town*.json"])
def test_no_build_without_the_vectors_comes_between(home, monkeypatch, pattern):
    monkeypatch.chdir(home.root)
    first(home, pattern).unlink()
    before = Builds(home.data).names()

    summary = Builder(Workbench(home), lambda _text: None).run()

    assert summary.errors == []
    assert not summary.is_changed
    assert Builds(home.data).names() == before
    assert found(home) == ()


def test_the_pointer_goes_back_to_the_pinned_build(home):
    pin(home, earlier(home))
    flip(home.data / "CURRENT")

    mend(home, found(home))

    assert Builds(home.data).current() == earlier(home)


def test_files_that_nothing_names_are_checked_on_request(home):
    stray = home.store.root / "chunks" / "all" / f"{'0' * 32}.parquet"
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_bytes(b"x")

    assert found(home) == ()
    assert [each.kind for each in found(home, everything=True)] == [damage.UNUSED]


def test_one_build_can_be_checked_alone(home):
    flip(only_of(home, earlier(home)))

    assert found(home, build=last(home)) == ()
    assert [each.kind for each in found(home, build=earlier(home))] == [damage.OLD_FILE]


def cache_of(home):
    return home.data / "cache" / "embeddings.sqlite"


def rows_of(path):
    with closing(sqlite3.connect(path)) as db:
        return set(db.execute("SELECT profile, passage, checksum, vector FROM vectors"))


def test_a_damaged_vector_is_found_and_the_sound_ones_are_kept(home):
    path = cache_of(home)
    all_rows = rows_of(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE vectors SET vector = zeroblob(4096) WHERE rowid = 2")
        db.commit()

    assert "1 of its vectors" in found(home)[0].problem
    mend(home, found(home))

    assert len(rows_of(path)) == len(all_rows) - 1
    assert rows_of(path) < all_rows
    assert found(home) == ()


def test_rows_on_both_sides_of_a_broken_page_are_saved(tmp_path, sound):
    path = tmp_path / "embeddings.sqlite"
    path.write_bytes(cache_of(sound).read_bytes())
    all_rows = rows_of(path)
    page = 4096 * 8
    path.write_bytes(path.read_bytes()[:page] + b"\xff" * 4096 + path.read_bytes()[page + 4096 :])

    assert cache_problem(path)
    saved = save_sound_rows(path)

    assert 0 < saved < len(all_rows)
    assert rows_of(path) < all_rows
    assert cache_problem(path) == ""
    assert [item.name for item in tmp_path.iterdir()] == ["embeddings.sqlite"]


def test_a_cell_of_another_type_does_not_hide_the_rows_around_it(home, sound):
    path = cache_of(home)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE vectors SET vector = CAST(x'ff80' AS TEXT) WHERE rowid = 2")
        db.execute("UPDATE vectors SET vector = 7 WHERE rowid = 3")
        db.commit()
    passages = [row[1].hex() for row in rows_of(cache_of(sound))]
    profile = home.store.pointer("vectors", home.store.partitions("vectors")[0]).meta["profile"]

    assert "2 of its vectors" in found(home)[0].problem
    with EmbeddingCache(path) as cache:
        assert len(cache.get_many(profile, passages)) == len(passages) - 2


def test_a_cache_with_another_table_is_damaged(home):
    path = cache_of(home)
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE vectorz (x)")

    assert [each.kind for each in found(home)] == [damage.VECTORS]


def test_a_damaged_name_that_is_no_text_is_a_problem_in_words(tmp_path):
    path = tmp_path / "any.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT)")
        db.execute("CREATE INDEX by_body ON events (body)")
        db.executemany("INSERT INTO events (body) VALUES (?)", [(f"{n}" * 9,) for n in range(50)])
        db.commit()
    whole = path.read_bytes()
    start = whole.index(b"by_body")

    # The first letter of a name, and a cell that its index then does not have.
    for position in (start, whole.index(b"4949")):
        flip(path, position, bit=7)
        assert database_problem(path)
        path.write_bytes(whole)
    assert database_problem(path) == ""


def test_the_first_bad_line_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2\n')
    assert lines_problem(path).startswith("line 2:")
    path.write_bytes(b'{"a": 1}\n{"a": 2}')
    assert lines_problem(path) == "line 2 is cut off"


def run(home, *arguments):
    return CliRunner().invoke(command, [*arguments, "--home", str(home.root)])


def test_the_command_ends_with_1_until_everything_is_sound(home):
    assert run(home).exit_code == 0
    flip(first(home, "store/chunks/*/*.parquet"))

    done = run(home, "--json")
    assert done.exit_code == 1
    values = json.loads(done.stdout.splitlines()[-1])
    assert (values["sound"], len(values["damaged"]), values["mended"]) == (False, 1, [])
    assert run(home, "--mend").exit_code == 0
    build_directly(home)
    assert "every byte" in run(home).stdout


def test_mending_leaves_what_needs_a_backup_and_says_so(home):
    flip(first(home, "history/versions/*/*.parquet"))

    done = run(home, "--mend")

    assert done.exit_code == 1
    assert "kb restore" in done.stdout


def test_damaged_leases_stop_neither_checking_nor_mending(home):
    path = home.data / "cache" / "leases.sqlite"
    path.write_bytes(b"no database" * 1000)

    assert run(home).exit_code == 1
    assert run(home, "--mend").exit_code == 0
    build_directly(home)
    assert found(home) == ()


def test_nothing_is_mended_while_somebody_writes(home, monkeypatch):
    monkeypatch.setattr("kb_serve.commands.verify._WAIT_SECONDS", 0.1)
    flip(first(home, "store/chunks/*/*.parquet"))

    with home.leases.hold("chunks/a"):
        done = run(home, "--mend")

    assert isinstance(done.exception, BusyError)
    assert found(home)


def test_a_damaged_database_of_dagsters_is_said_in_words_and_mended(tmp_path):
    home, vault, _ = ready_home(tmp_path)
    put(vault, "Home.md", "# Home\n\nThere is something to run.\n")
    assert (home / "data" / "dagster" / "history" / "runs.db").is_file()
    put(home / "data" / "dagster" / "history", "runs.db", b"no database" * 1000)

    failed = kb_json("build", "--home", str(home), status=1)
    assert "kb verify --mend" in failed["message"]
    assert kb_json("verify", "--mend", "--home", str(home))["mended"]
    assert kb_json("build", "--home", str(home))["changed"]


# Places whose numbers lead to others: without a check, reading them ends in a traceback.
@pytest.mark.parametrize(
    "pattern",
    [
        "store/keyword_index/town*/*.npy",
        "store/vectors/town*/*.npy",
        "store/chunks/town*/*.parquet",
    ],
)
def test_asking_a_damaged_build_ends_in_words(home, pattern):
    for path in sorted(home.data.glob(pattern)):
        whole = path.read_bytes()
        for position in (8, 60, len(whole) // 2, len(whole) - 20):
            flip(path, min(position, len(whole) - 1), bit=position % 8)
            with contextlib.suppress(KbError):
                Engine.open(home.root, home.settings).search("What does the ferry cost a year?")
            path.write_bytes(whole)


def test_no_changed_bit_of_a_table_is_ever_read(home):
    path = first(home, "store/notes/town*/*.parquet")
    whole = path.read_bytes()

    for position in {*range(0, len(whole), len(whole) // 40), len(whole) - 1}:
        flip(path, position, bit=position % 8)
        with pytest.raises(StoreError, match="kb verify"):
            home.store.read("notes", path.parent.name, ["note_id"])
        path.write_bytes(whole)
