"""The main road, with real Dagster runs in real processes: a vault in, a cited result out."""

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb_assets.build.publish import run_published
from kb_assets.build.run import run_build
from kb_assets.notes.run import run as read_notes
from kb_assets.placeholders.run import run as look
from resources.home import Home
from tests.kb_command import ROOT, kb_json, make_home, run_kb
from tests.ready_home import ready_home
from tests.small_vault import NOTES, make_vault, put
from tests.standins.ollama_server import OllamaStandIn


@pytest.fixture
def vault(tmp_path):
    return make_vault(tmp_path / "vault")


@pytest.fixture
def home(vault, tmp_path):
    return make_home(vault, tmp_path / "home")


@pytest.fixture
def little(tmp_path):
    """A new home for a vault of two folders, to be built first by the test."""
    vault = tmp_path / "vault"
    for path in ("Home.md", "Work/Harbour plan.md", "Work/Ferry log.md"):
        put(vault, path, NOTES[path])
    return make_home(vault, tmp_path / "home"), vault


@pytest.fixture
def ready(tmp_path):
    """A home that was built by words, to be changed."""
    return ready_home(tmp_path)


@pytest.fixture
def embedded(tmp_path, ollama):
    """A home that was built with vectors, to be changed."""
    return ready_home(tmp_path, with_ollama(ollama))


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn(models=("bge-m3:latest", "nomic-embed-text:latest")) as server:
        yield server


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A home that was built by words; tests that use it only look."""
    home, vault, _ = ready_home(tmp_path_factory.mktemp("built"))
    put(vault, "Work/Canary.md", "# Canary\n\nThe word quetzalcoatlus stands only here.\n")
    assert kb_json("build", "--home", str(home))["new_versions"] == 1
    return home


def with_ollama(server) -> dict[str, str]:
    return {"KB_EMBEDDER__ENGINE": "ollama", "KB_EMBEDDER__URL": server.url}


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_words_are_searchable_without_an_embedder_and_the_fix_is_named(home, vault):
    before = snapshot(vault)

    built = kb_json("build", "--home", str(home), cold=True)
    found = kb_json("search", "what does the east pier cost", "--home", str(home), cold=True)

    assert built["embedded"] == 0
    assert built["files"] == built["indexed"] + built["skipped"] + built["failed"] == 10
    assert "kb.toml" in built["note"]
    first = found["results"][0]
    assert (first["note"], first["date"]) == ("Work/Harbour plan.md", "2024-03-14")
    assert "120,000" in first["quote"]
    assert first["link"].startswith("obsidian://open?vault=vault&file=Work%2FHarbour%20plan")
    assert "keyword" in found["note"].lower() or "words" in found["note"].lower()
    assert snapshot(vault) == before


def test_a_log_entry_carries_its_own_date_and_a_link_to_its_heading(built):
    found = kb_json("search", "passengers new timetable", "--home", str(built))["results"][0]

    assert (found["note"], found["date"]) == ("Work/Ferry log.md", "2024-07-09")
    assert found["link"].endswith("%232024-07-09")


def test_chinese_is_found_by_words(built):
    found = kb_json("search", "码头的预算", "--home", str(built))["results"]

    assert found[0]["note"] == "People/东港.md"


def test_vectors_are_made_once_and_a_second_build_does_nothing(embedded, ollama):
    home, _, first = embedded
    env = with_ollama(ollama)
    second = kb_json("build", "--home", str(home), env=env)

    assert first["embedded"] == first["texts"] > 0
    assert first["texts_without_vectors"] == 0
    assert (second["embedded"], second["changed"], second["build"]) == (0, False, first["build"])
    found = kb_json("search", "budget of the pier", "--home", str(home), env=env)
    assert found["variant"] == "hybrid"
    assert found["results"][0]["legs"]["vector"]


def test_another_embedder_is_a_migration_with_its_price(embedded, ollama):
    home, _, first = embedded
    env = with_ollama(ollama)
    other = {**env, "KB_EMBEDDER__MODEL": "nomic-embed-text"}

    refused = kb_json("build", "--home", str(home), env=other, status=1)

    assert "kb build --migrate" in refused["message"]
    assert f"about {first['texts']} passages" in refused["message"]
    migrated = kb_json("build", "--migrate", "--home", str(home), env=other)
    assert migrated["embedded"] == first["texts"]
    found = kb_json("search", "pier", "--home", str(home), env=env)
    assert found["variant"] == "keyword"
    assert "made with" in found["note"]


def test_an_embedder_that_does_not_answer_fails_the_build_but_not_the_words(little):
    home, _ = little
    down = {"KB_EMBEDDER__ENGINE": "ollama", "KB_EMBEDDER__URL": "http://127.0.0.1:9"}

    built = kb_json("build", "--home", str(home), env=down, status=1)

    assert "ollama serve" in built["errors"][0]["message"]
    assert built["folders_with_words"] == built["folders"]
    found = kb_json("search", "east pier", "--home", str(home), env=down)
    assert found["results"][0]["note"] == "Work/Harbour plan.md"


def test_an_edit_is_the_only_work_of_the_next_build(embedded, ollama):
    home, vault, _ = embedded
    env = with_ollama(ollama)
    put(vault, "Work/Harbour plan.md", "# Harbour plan\n\nThe pier now costs 140,000 euros.\n")

    built = kb_json("build", "--home", str(home), env=env)

    assert (built["new_versions"], built["gone"], built["embedded"]) == (1, 0, 1)
    found = kb_json("search", "pier costs", "--home", str(home), env=env)["results"][0]
    assert "140,000" in found["quote"]


def test_building_step_by_step_equals_building_at_once(embedded, tmp_path, ollama):
    home, vault, _ = embedded
    env = with_ollama(ollama)
    put(vault, "Work/New.md", "# New\n\nA crane was bought.\n")
    (vault / "Broken" / "Fwd.md").unlink()
    (vault / "People" / "东港.md").rename(vault / "Work" / "东港.md")
    step = kb_json("build", "--home", str(home), env=env)

    other = make_home(vault, tmp_path / "other")
    shutil.copytree(home / "data" / "history", other / "data" / "history")
    at_once = kb_json("build", "--home", str(other), env=env, cold=True)

    assert step["errors"] == at_once["errors"] == []
    assert step["build"] == at_once["build"]


def test_a_build_that_is_killed_goes_on_where_it_was(ready, ollama, tmp_path):
    home = ready.home
    env = with_ollama(ollama)
    assert kb_json("build", "--home", str(home), "--time-box", "0", env=env)["embedded"] == 0
    twin = tmp_path / "twin"
    shutil.copytree(home, twin)
    at_once = kb_json("build", "--home", str(home), env=env)

    for delay in (0.1, 1.0):
        start_and_kill(twin, delay, env)
    resumed = kb_json("build", "--home", str(twin), env=env)

    assert resumed["build"] == at_once["build"]


def start_and_kill(home: Path, delay: float, env: dict[str, str]) -> None:
    """Kill a build some time after it began to read: what it loads before that takes seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kb_serve.cli", "build", "--home", str(home)],
        env={**os.environ, **env, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any(line.startswith("Reading") for line in process.stderr)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_folder_whose_run_was_cut_off_answers_as_before(ready):
    home, vault, first = ready
    put(vault, "Work/Harbour plan.md", "# Harbour plan\n\nThe pier now costs 140,000 euros.\n")
    opened = Home.open(home)
    key = next(key for key, path in opened.folders().items() if path == "Work")
    look(opened, key, dt.datetime.now(dt.UTC))
    read_notes(opened, key)

    half = run_build(opened)
    _, verdict = run_published(opened)

    assert (half.hash, verdict.problems) == (first["build"], ())
    assert kb_json("build", "--home", str(home))["build"] != first["build"]
    found = kb_json("search", "pier costs", "--home", str(home))["results"][0]
    assert "140,000" in found["quote"]


def test_touching_files_changes_nothing(ready):
    home, vault, first = ready
    for path in vault.rglob("*.md"):
        path.touch()

    assert kb_json("build", "--home", str(home))["build"] == first["build"]


def test_adding_a_folder_leaves_the_ranking_of_another_as_it_was(embedded, ollama):
    home, vault, _ = embedded
    env = with_ollama(ollama)

    def ranking(*, cold):
        for variant in ("keyword", "vector", "hybrid"):
            arguments = ("ferry pier passengers", "--folder", "Work", "--variant", variant)
            asked = ("search", *arguments, "--home", str(home))
            yield kb_json(*asked, env=env, cold=cold)["results"]

    before = list(ranking(cold=False))
    for number in range(20):
        put(vault, f"Noise/{number}.md", f"# Ferry pier {number}\n\nThe ferry and the pier.\n")
    kb_json("build", "--home", str(home), env=env)

    assert list(ranking(cold=True)) == before


def test_a_vault_that_vanished_is_an_error_and_the_old_build_answers(ready):
    home, vault, _ = ready
    vault.rename(vault.with_name("away"))

    failed = kb_json("build", "--home", str(home), status=1)

    assert "does not exist" in failed["message"]
    assert kb_json("search", "ferry", "--home", str(home))["results"]


def test_an_emptied_vault_is_an_error_and_nothing_is_deleted(ready):
    home, vault, _ = ready
    shutil.rmtree(vault)
    vault.mkdir()

    assert "is empty" in kb_json("build", "--home", str(home), status=1)["message"]
    assert kb_json("search", "ferry", "--home", str(home))["results"]


def test_a_folder_that_lost_most_notes_waits_for_approval(ready):
    home, vault, _ = ready
    for name in ("Harbour plan.md", "Ferry log.md"):
        (vault / "Work" / name).unlink()

    refused = kb_json("build", "--home", str(home), status=1)

    assert "kb approve-deletions --folder 'Work'" in refused["errors"][0]["message"]
    assert kb_json("search", "east pier", "--home", str(home))["results"]
    approved = kb_json("approve-deletions", "--folder", "Work", "--home", str(home))
    assert approved["approved"] == 2
    assert kb_json("build", "--home", str(home))["gone"] == 2
    notes = {row["note"] for row in kb_json("search", "pier", "--home", str(home))["results"]}
    assert not notes & {"Work/Harbour plan.md", "Work/Ferry log.md"}


def test_bad_notes_are_findings_and_never_stop_the_rest(little):
    home, vault = little
    put(vault, "Work/latin.md", "# Größe\n\nÖl und Kräne\n".encode("cp1252"))
    put(vault, "Work/nul.md", b"# Nul\n\nbefore\x00after the crane\n")
    put(vault, "Work/yaml.md", "---\ntitle: [unclosed\ndate: 2024-02-30\n---\nCrane yaml.\n")
    put(vault, "Work/huge.md", b"# Huge\n\n" + b"crane word\n" * 1_000_000)
    put(vault, "Work/empty.md", b"")
    put(vault, "Work/line\nbreak.md", "# Broken name\n\ncrane\n")
    (vault / "Work" / "loop").symlink_to(vault, target_is_directory=True)
    os.mkfifo(vault / "Work" / "pipe.md")
    unreadable = put(vault, "Work/locked.md", "crane")
    unreadable.chmod(0)

    built = kb_json("build", "--home", str(home))

    checked = kb_json("check", "--home", str(home))
    assert built["errors"] == []
    assert checked["adds_up"]
    reasons = {row["path"]: row["reason"] for row in checked["unread_notes"]}
    assert reasons["Work/huge.md"] == "larger than 10 MB"
    assert reasons["Work/pipe.md"] == "not a regular file"
    found = {row["note"] for row in kb_json("search", "crane", "--home", str(home))["results"]}
    assert {"Work/nul.md", "Work/yaml.md", "Work/line\nbreak.md"} <= found


def test_the_terminal_shows_quote_date_path_and_link(built):
    shown = run_kb("search", "east pier cost", "--home", str(built)).stdout

    assert "Harbour plan  2024-03-14" in shown
    assert "120,000 euros" in shown
    assert "Work/Harbour plan.md" in shown
    assert "obsidian://open?vault=vault" in shown


def test_two_builds_at_once_both_end_well(little):
    home, _ = little
    command = [sys.executable, "-m", "kb_serve.cli", "build", "--json", "--home", str(home)]
    env = {**os.environ, "KB_EMBEDDER__ENGINE": "none", "PYTHONPATH": str(ROOT)}
    pair = [
        subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ended = [json.loads(process.communicate()[0].splitlines()[-1]) for process in pair]

    assert [process.returncode for process in pair] == [0, 0]
    assert [values["errors"] for values in ended] == [[], []]
    assert kb_json("search", "ferry", "--home", str(home))["results"]


def test_the_runs_stand_in_the_homes_own_dagster_history(built):
    assert list((built / "data" / "dagster").rglob("*.db"))
    assert len(kb_json("folders", "--home", str(built))["folders"]) == len(
        {note.rpartition("/")[0] for note in NOTES}
    )


def test_everything_in_the_home_is_for_the_user_alone(built):
    open_to_others = [p for p in (built / "data").rglob("*") if p.stat().st_mode & 0o077]

    assert open_to_others == []


def test_no_note_text_stands_in_dagsters_history(built):
    for path in (built / "data" / "dagster").rglob("*"):
        if path.is_file():
            assert b"quetzalcoatlus" not in path.read_bytes(), path.name


def test_a_home_inside_the_vault_is_refused(vault):
    refused = kb_json("init", str(vault), "--home", str(vault / "kb"), status=1)

    assert "inside the vault" in refused["message"]
    assert not (vault / "kb").exists()


def test_a_vault_set_around_the_home_later_is_refused(home):
    around = {"KB_VAULT__PATH": str(home.parent)}

    refused = kb_json("build", "--home", str(home), env=around, status=1)

    assert "inside the vault" in refused["message"]


def test_a_home_pointed_at_another_vault_is_refused(ready, tmp_path):
    home = ready.home
    other = put(tmp_path / "other vault", "a.md", "Nothing in common.").parent

    refused = kb_json("build", "--home", str(home), env={"KB_VAULT__PATH": str(other)}, status=1)

    assert "another vault" in refused["message"]
    assert kb_json("search", "ferry", "--home", str(home))["results"]


def test_a_vault_that_moved_is_recognised(ready):
    home, vault, first = ready
    moved = vault.rename(vault.with_name("moved"))

    again = kb_json("build", "--home", str(home), env={"KB_VAULT__PATH": str(moved)})

    assert again["build"] == first["build"]
