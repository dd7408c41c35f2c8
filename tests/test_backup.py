"""`kb backup` and `kb restore`: the copy answers the same bytes, or nothing counts as restored."""

import json
import shutil
import tomllib

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.direct_build import build_directly
from kb_assets.build.publish import pin
from kb_core.errors import BusyError, HomeError, KbError, StoreError, VaultError
from kb_core.settings import find_home, read_settings
from kb_search.engine import Engine
from kb_serve.commands import backup as backup_command
from kb_serve.commands import restore as restore_command
from kb_serve.keeping.backup import MANIFEST, MIRROR, make_backup, read_backup
from kb_serve.keeping.checks import verify
from kb_serve.keeping.restore import restore, with_vault_path
from kb_serve.new_home import UNFINISHED, make_home
from resources.builds import Builds
from resources.home import Home
from resources.seals import sealed
from tests.kb_command import kb_json, run_kb
from tests.kept_home import copy_home, first, flip, make_kept_home
from tests.ready_home import ready_home
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

QUESTIONS = ("What does the ferry cost a year?", "the pier that was repaired in May")


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


@pytest.fixture(scope="module")
def copied(built, tmp_path_factory):
    """A backup that tests only look at."""
    folder = tmp_path_factory.mktemp("backups") / "one"
    make_backup(built, folder)
    return folder


@pytest.fixture
def own(copied, tmp_path):
    """A backup to be damaged."""
    shutil.copytree(copied, tmp_path / "backup")
    return tmp_path / "backup"


def answers(home):
    engine = Engine.open(home.root, home.settings)
    return json.dumps([engine.search(question).to_json() for question in QUESTIONS])


def below(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_a_restored_home_answers_the_same_bytes_and_has_nothing_to_do(
    built, copied, tmp_path, ollama
):
    restore(copied, tmp_path / "new")
    new = Home.open(tmp_path / "new")
    before = below(new.data / "store")
    ollama.scenario.seen.clear()

    assert answers(new) == answers(built)
    assert verify(new, everything=True).damages == ()
    assert build_directly(new) == []
    assert below(new.data / "store") == before
    assert not [text for batch in ollama.scenario.batches() for text in batch if "\n" in text]


def test_a_restored_home_goes_on_where_the_old_one_stopped(built, copied, tmp_path, ollama):
    vault = tmp_path / "vault"
    shutil.copytree(built.vault_path, vault)
    restore(copied, tmp_path / "new", vault)
    new = Home.open(tmp_path / "new")
    put(vault, "Town/Kiosk.md", "# Kiosk\n\nThe kiosk costs 3 thousand euros a year.\n")
    ollama.scenario.seen.clear()

    build_directly(new)

    embedded = [text for batch in ollama.scenario.batches() for text in batch if "\n" in text]
    assert len(embedded) == 1
    rows = new.store.read_all("notes", ["note_id", "is_current"]).to_pylist()
    assert sum(not row["is_current"] for row in rows) == 1  # the version before the edit


def test_a_backup_holds_the_closure_and_nothing_else(built, copied):
    held = set(read_backup(copied).files)

    assert {"kb.toml", "dagster.yaml", "data/CURRENT", "data/home.json"} <= held
    assert {"data/eval/costs.jsonl", "data/ontology.toml", "data/history/listing.json"} <= held
    assert "data/cache/embeddings.sqlite" in held
    assert not [path for path in held if "leases" in path or path.startswith("data/dagster")]
    builds = [path for path in held if path.startswith("data/builds/")]
    current = Builds(built.data).current()
    assert all(current in path or path.endswith("published.log") for path in builds)
    assert set(below(copied / MIRROR)) == held


def test_a_pinned_earlier_build_is_in_the_backup(home, tmp_path):
    old = Builds(home.data).published()[0]
    pin(home, old)

    make_backup(home, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "new")

    new = Home.open(tmp_path / "new")
    assert Builds(new.data).current() == old
    assert verify(new).damages == ()
    assert answers(new) == answers(home)


def test_copies_share_nothing_with_their_originals(built, copied):
    for path in read_backup(copied).files:
        original, copy = built.root / path, copied / MIRROR / path
        assert copy.stat().st_nlink == 1
        assert copy.stat().st_mode & 0o077 == 0
        if original.exists() and not path.endswith((".sqlite", ".log")):
            assert copy.read_bytes() == original.read_bytes()
            assert copy.stat().st_mtime_ns == original.stat().st_mtime_ns


@pytest.mark.parametrize("place", ["home/backups", "home/data/backup", "vault/backup"])
def test_a_backup_never_lies_in_the_home_or_the_vault(home, built, tmp_path, place):
    root = built.vault_path.parent if place.startswith("vault") else tmp_path

    with pytest.raises(HomeError, match="lies inside"):
        make_backup(home, root / place)

    assert not (root / place).exists()


def test_a_folder_with_anything_in_it_is_refused(home, tmp_path):
    put(tmp_path / "backup", "mine.txt", "x")

    with pytest.raises(HomeError, match="not empty"):
        make_backup(home, tmp_path / "backup")

    assert set(below(tmp_path / "backup")) == {"mine.txt"}


@pytest.mark.parametrize(
    "pattern",
    ["home.json", "history/listing.json", "store/notes/*.json", "history/evaluations.jsonl"],
)
def test_a_damaged_home_is_refused_before_anything_is_copied(home, tmp_path, pattern):
    flip(first(home, pattern))

    with pytest.raises(KbError, match="kb verify"):
        make_backup(home, tmp_path / "backup")

    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("pattern", ["store/notes/*/*.parquet", "history/versions/*/*.parquet"])
def test_a_damaged_table_never_becomes_a_whole_backup(home, tmp_path, pattern):
    flip(first(home, pattern))

    with pytest.raises(StoreError, match="kb verify"):
        make_backup(home, tmp_path / "backup")

    with pytest.raises(StoreError, match="cut off"):
        restore(tmp_path / "backup", tmp_path / "new")
    with pytest.raises(HomeError, match="cut off"):
        make_backup(home, tmp_path / "backup")


def test_a_missing_table_is_no_reason_to_leave_it_out(home, tmp_path):
    first(home, "store/notes/*/*.parquet").unlink()

    with pytest.raises(StoreError, match="missing"):
        make_backup(home, tmp_path / "backup")


def test_nothing_is_copied_while_somebody_writes(home, tmp_path, monkeypatch):
    monkeypatch.setattr("kb_serve.keeping.backup._WAIT_SECONDS", 0.1)

    with home.leases.hold("chunks/town"), pytest.raises(BusyError):
        make_backup(home, tmp_path / "backup")


def test_a_backup_that_lost_any_file_never_becomes_a_home(copied, tmp_path):
    files = sorted(read_backup(copied).files)
    chosen = {"kb.toml", "data/CURRENT", "data/cache/embeddings.sqlite", files[0], files[-1]}
    for number, path in enumerate(sorted(chosen)):
        backup, new = tmp_path / f"b{number}", tmp_path / f"new{number}"
        shutil.copytree(copied, backup)
        if number % 2:
            (backup / MIRROR / path).unlink()
        else:
            flip(backup / MIRROR / path)

        with pytest.raises(StoreError, match="not whole"):
            restore(backup, new)

        with pytest.raises(KbError):
            find_home(str(new), tmp_path)


def test_a_restore_that_was_cut_off_is_recognised(own, tmp_path, built):
    path = next(path for path in read_backup(own).files if path.startswith("data/store"))
    (own / MIRROR / path).unlink()
    with pytest.raises(StoreError):
        restore(own, tmp_path / "new")

    assert (tmp_path / "new" / UNFINISHED).exists()
    with pytest.raises(HomeError, match="was cut off"):
        restore(own, tmp_path / "new")
    with pytest.raises(HomeError, match="was cut off"):
        make_home(built.vault_path, tmp_path / "new")


def test_a_home_that_is_there_is_never_written_over(own, tmp_path):
    put(tmp_path / "new", "kb.toml", "")

    with pytest.raises(HomeError, match="not empty"):
        restore(own, tmp_path / "new")

    assert below(tmp_path / "new") == {"kb.toml": b""}


def test_an_empty_folder_may_become_the_home(own, tmp_path):
    (tmp_path / "new").mkdir()

    restore(own, tmp_path / "new")

    assert not (tmp_path / "new" / UNFINISHED).exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}'])
def test_a_damaged_list_is_no_backup(own, tmp_path, text):
    (own / MANIFEST).write_text(text)

    with pytest.raises(StoreError, match="damaged"):
        restore(own, tmp_path / "new")


@pytest.mark.parametrize("path", ["../outside", "/outside", "data/../../outside"])
def test_a_list_that_leads_elsewhere_is_refused(own, tmp_path, path):
    values = {"format": 1, "build": "", "vault": "", "files": {path: [1, "0"]}}
    (own / MANIFEST).write_bytes(sealed(values))

    with pytest.raises(StoreError, match="damaged"):
        restore(own, tmp_path / "new")


def test_what_is_no_backup_is_said(tmp_path):
    with pytest.raises(StoreError, match="no backup"):
        restore(tmp_path / "nowhere", tmp_path / "new")


def test_a_vault_that_is_not_there_is_refused(own, tmp_path):
    with pytest.raises(VaultError, match="no folder"):
        restore(own, tmp_path / "new", tmp_path / "nowhere")


def test_a_vault_below_the_old_home_is_named_in_full(home, built, tmp_path):
    shutil.copytree(built.vault_path, home.root / "notes")
    settings = home.root / "kb.toml"
    settings.write_text(settings.read_text().replace(str(built.vault_path), "notes"))
    moved = Home.open(home.root)

    make_backup(moved, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "new")

    new = Home.open(tmp_path / "new")
    assert new.vault_path == home.root / "notes"
    assert (new.root / "kb.toml").read_text().startswith("# Mine.\n")


TEXTS = [
    '[vault]\npath = "old"\n',
    '# path = "x"\n[vault] # mine\n# path = "y"\npath = "old" # here\nignore = ["a"]\n\n[notes]\n',
    "[vault]\nignore = []\n",
    '[notes]\ntenant = "a"\n',
    '[notes]\ntenant = "a"\n[vault]\npath="old"\n[search]\nnotes = 3\n',
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_only_the_vaults_place_changes(text):
    before, after = tomllib.loads(text), tomllib.loads(with_vault_path(text, "/new place"))

    assert after["vault"].pop("path") == "/new place"
    before.get("vault", {}).pop("path", None)
    assert {name: part for name, part in after.items() if part} == {
        name: part for name, part in before.items() if part
    }


@pytest.mark.parametrize("text", ['vault.path = "old"\n', 'vault = {path = "old"}\n'])
def test_settings_that_cannot_be_changed_safely_are_refused(text):
    with pytest.raises(HomeError, match="Write path"):
        with_vault_path(text, "/new")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.sampled_from(TEXTS))
def test_any_place_can_be_named(place, text):
    assert tomllib.loads(with_vault_path(text, place))["vault"]["path"] == place


def test_settings_that_name_the_vault_already_keep_their_bytes():
    assert with_vault_path(TEXTS[1], "old") == TEXTS[1]


def test_the_commands_say_what_they_did(home, tmp_path):
    folder, new = tmp_path / "backup", tmp_path / "new"
    arguments = [str(folder), "--home", str(home.root), "--json"]
    made = CliRunner().invoke(backup_command.command, arguments)
    restored = CliRunner().invoke(
        restore_command.command, [str(folder), "--home", str(new), "--json"]
    )

    one, two = (json.loads(done.stdout.splitlines()[-1]) for done in (made, restored))
    assert one["build"] == two["build"] == Builds(home.data).current()
    assert one["files"] == two["files"]
    assert two["vault"] == str(home.vault_path)
    assert read_settings(new)


def test_the_road_by_the_commands_ends_with_equal_answers_and_no_run(tmp_path):
    home, new = ready_home(tmp_path).home, tmp_path / "new"

    kb_json("backup", str(tmp_path / "backup"), "--home", str(home))
    kb_json("restore", str(tmp_path / "backup"), "--home", str(new))

    asked = ("search", "what does the pier cost", "--json", "--home")
    assert run_kb(*asked, str(home)).stdout == run_kb(*asked, str(new), cold=True).stdout
    assert not kb_json("build", "--home", str(new))["changed"]
    assert list((new / "data" / "dagster" / "history" / "runs").glob("*-*.db")) == []
