"""What the vault's sensor asks for, tick by tick: what changed, once, and never more."""

import os
import shutil
import time
from dataclasses import replace

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.failures import Failed
from kb_core.errors import ContractError, VaultError
from kb_core.ids import partition_key
from resources.vault import Entry
from sensors.asking import Request, ask, is_final, listed, spoken
from sensors.memory import Asked, Memory, Seen
from sensors.sweep import sights
from tests.small_vault import put
from tests.watched_home import NOTES, Watched, rewrite

WAITING = '[embedder]\nengine = "none"\n[refresh]\nquiet_seconds = 5\n'
MANY = {**NOTES, **{f"Archive/{number}.md": f"# Number {number}\n" for number in range(10)}}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


@pytest.fixture
def watched(tmp_path):
    return Watched.built(tmp_path)


def asked_for(watched, ticked):
    return [(each.job_name, watched.folder(each)) for each in ticked.requests]


def test_nothing_changed_asks_for_nothing_and_says_of_how_many_folders(watched):
    first, second = watched.tick(), watched.tick()

    assert (first.requests, second.requests) == ([], [])
    assert first.reason == second.reason == "Nothing changed in 3 folders."


def test_an_edit_asks_for_its_folder_alone_and_its_run_settles_it(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")

    edited = watched.tick()

    assert asked_for(watched, edited) == [("words", "Work")]
    assert watched.run(edited.requests[0])
    assert "Links and build follow by themselves" in watched.tick().reason


def test_a_new_folder_becomes_a_partition_in_the_tick_that_asks_for_it(watched):
    watched.tick()
    put(watched.vault, "Plans/Crane.md", "# Crane\n\nA crane for the pier.\n")

    ticked = watched.tick()

    assert asked_for(watched, ticked) == [("words", "Plans")]
    assert partition_key("Plans") in watched.instance.get_dynamic_partitions("folder")
    assert watched.run(ticked.requests[0])


def test_a_touched_file_is_looked_at_and_starts_no_run(watched):
    watched.tick()
    os.utime(watched.vault / "Work/Ferry.md")

    assert watched.tick().reason == "Nothing changed in 3 folders."


def test_the_signature_alone_is_enough_no_note_is_opened_when_nothing_moved(watched, monkeypatch):
    watched.tick()
    monkeypatch.setattr("resources.vault.LocalVault.read", None)

    assert watched.tick().reason == "Nothing changed in 3 folders."


def test_a_rewrite_with_equal_size_and_time_is_seen_by_its_inode(watched):
    note = watched.vault / "Work/Ferry.md"
    watched.tick()
    before = note.stat()
    rewrite(note, note.read_text().replace("310", "402"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_a_folder_somebody_writes_in_waits_until_it_is_quiet(tmp_path):
    watched = Watched.built(tmp_path, WAITING)
    watched.ahead = 60
    watched.tick()
    watched.ahead = 0
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")

    young = watched.tick()
    watched.ahead = 30

    assert young.requests == []
    assert young.reason.startswith("Work changed ")
    assert young.reason.endswith("ago: waits until it is quiet.")
    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_a_deletion_leaves_no_stamp_and_waits_one_tick(tmp_path):
    watched = Watched.built(tmp_path, WAITING)
    watched.ahead = 60
    watched.tick()
    (watched.vault / "Work/Ferry.md").unlink()
    watched.ahead = 90

    first = watched.tick()
    watched.ahead = 120

    assert first.reason == "Work changed a moment ago: waits until it is quiet."
    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_a_file_from_the_future_does_not_keep_its_folder_waiting(tmp_path):
    watched = Watched.built(tmp_path, WAITING)
    watched.tick()
    note = put(watched.vault, "Work/Later.md", "# Later\n")
    os.utime(note, (time.time() + 1e6, time.time() + 1e6))
    watched.ahead = 30
    watched.tick()
    watched.ahead = 60

    assert asked_for(watched, watched.tick()) == [("words", "Work")]


@pytest.mark.parametrize("cursor", ["", "{", "[]", '{"format": 1}', '{"format": 9}', "null"])
def test_a_cursor_that_is_lost_rebuilds_no_fresh_folder_and_loses_no_change(watched, cursor):
    watched.tick()
    rewrite(watched.vault / "People/Mara.md", "# Mara\n\nMara Lind left.\n")
    watched.cursor = cursor

    assert asked_for(watched, watched.tick()) == [("words", "People")]


def test_a_wiped_dagster_history_rebuilds_nothing(watched):
    watched.tick()
    watched.instance, watched.cursor = dg.DagsterInstance.ephemeral(), None

    assert watched.tick().reason == "Nothing changed in 3 folders."
    assert len(watched.instance.get_dynamic_partitions("folder")) == 3


def test_a_run_that_is_under_way_is_not_asked_for_twice(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    (request,) = watched.tick().requests
    pretend_run(watched, request, dg.DagsterRunStatus.STARTED)

    again = watched.tick()

    assert again.requests == []
    assert "Work is being read" in again.reason


def test_a_run_whose_process_is_gone_keeps_nobody_waiting(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    (request,) = watched.tick().requests
    tags = {**request.tags, "kb/process": "this-name-has-no-process"}
    pretend_run(watched, replace_tags(request, tags), dg.DagsterRunStatus.STARTED)
    watched.ahead = 60

    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_a_run_request_has_no_key_that_could_swallow_the_next_one(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")

    (request,) = watched.tick().requests

    assert request.run_key is None


def test_a_failed_run_is_asked_for_again_later_and_later(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    asks = []
    for ahead in range(0, 400, 10):
        watched.ahead = float(ahead)
        ticked = watched.tick()
        asks += [ahead] * len(ticked.requests)
        if not ticked.requests:
            assert "Work is not done (" in ticked.reason

    assert asks == [0, 30, 90, 210]


def test_a_failure_no_repeat_can_mend_is_asked_for_again_only_over_another_state(
    watched, monkeypatch
):
    def broken(*_given, **_more):
        raise ContractError("Table 'notes' repeats its key: 2 rows.")

    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    with monkeypatch.context() as patched:
        patched.setattr("kb_assets.notes.run.parse_notes", broken)
        assert not watched.run(watched.tick().requests[0])
    watched.ahead = 100_000
    waiting = watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 403.\n")

    assert waiting.requests == []
    assert "a repeat would not help: Table 'notes' repeats its key" in waiting.reason
    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_other_settings_are_another_state(watched, monkeypatch):
    def broken(*_given, **_more):
        raise ContractError("Table 'notes' repeats its key: 2 rows.")

    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    with monkeypatch.context() as patched:
        patched.setattr("kb_assets.notes.run.parse_notes", broken)
        watched.run(watched.tick().requests[0])
    watched.set('[notes]\ntenant = "harbour"\n')

    assert ("words", "Work") in asked_for(watched, watched.tick())


def test_what_was_wrong_with_the_vault_is_no_reason_to_stop_asking():
    assert not is_final(Failed("VaultError", ""))
    assert not is_final(Failed("MassLossError", ""))
    assert not is_final(Failed("BusyError", ""))
    assert is_final(Failed("ContractError", ""))
    assert is_final(Failed("SettingsError", ""))


@pytest.mark.parametrize("harm", ["missing", "empty", "only files"])
def test_a_vault_that_is_not_there_is_a_reason_and_forgets_nothing(watched, harm):
    watched.tick()
    cursor = watched.cursor
    away = watched.vault.rename(watched.vault.with_name("away"))
    if harm != "missing":
        watched.vault.mkdir()
    if harm == "only files":
        put(watched.vault, "photo.png", b"\x89PNG")

    ticked = watched.tick()
    shutil.rmtree(watched.vault, ignore_errors=True)
    away.rename(watched.vault)

    assert ticked.requests == []
    assert "The vault" in ticked.reason
    assert watched.cursor == cursor
    assert watched.tick().reason == "Nothing changed in 3 folders."


def test_a_mass_loss_waits_for_a_person_and_goes_on_after_the_approval(tmp_path, monkeypatch):
    watched = Watched.built(tmp_path, notes=MANY)
    watched.tick()
    for number in range(6):
        (watched.vault / f"Archive/{number}.md").unlink()
    rewrite(watched.vault / "People/Mara.md", "# Mara\n\nMara Lind left.\n")

    lost = watched.tick()
    again = watched.tick()
    approve(watched, "Archive", monkeypatch)
    approved = watched.tick()

    assert asked_for(watched, lost) == [("words", "People")]
    assert "6 of 11 notes of folder 'Archive' are gone at once" in again.reason
    assert "kb approve-deletions --folder 'Archive'" in again.reason
    assert ("words", "Archive") in asked_for(watched, approved)
    done = [watched.run(each) for each in approved.requests]
    assert all(done)


def approve(watched, folder, monkeypatch):
    """Run the command, as a person would."""
    from click.testing import CliRunner

    from kb_serve.commands.approve_deletions import command

    monkeypatch.chdir(watched.home.root)
    told = CliRunner().invoke(command, ["--folder", folder, "--home", str(watched.home.root)])
    assert told.exit_code == 0, told.output


def test_a_loss_that_waits_is_not_looked_into_at_every_tick(tmp_path, monkeypatch):
    watched = Watched.built(tmp_path, notes=MANY)
    watched.tick()
    for number in range(6):
        (watched.vault / f"Archive/{number}.md").unlink()
    first = watched.tick()
    monkeypatch.setattr("kb_assets.placeholders.run._check_loss", None)

    assert watched.tick().reason == first.reason


def test_a_pruned_folder_is_forgotten_by_the_cursor_and_by_dagster(watched):
    from kb_serve.dagster_instance import unregister
    from resources.history import History

    watched.tick()
    gone = partition_key("Archive")
    assert gone in Memory.read(watched.cursor).done
    shutil.rmtree(watched.vault / "Archive")
    History(watched.home.data / "history").prune([gone])
    unregister(watched.instance, watched.home, [gone])

    ticked = watched.tick()

    assert gone not in Memory.read(watched.cursor).done
    assert gone not in watched.instance.get_dynamic_partitions("folder")
    assert ticked.requests == []


def test_pruning_over_an_empty_vault_forgets_nothing(watched, monkeypatch):
    from click.testing import CliRunner

    from kb_serve.commands.folders import command

    watched.vault.rename(watched.vault.with_name("away"))
    watched.vault.mkdir()
    monkeypatch.chdir(watched.home.root)

    told = CliRunner().invoke(command, ["prune", "--home", str(watched.home.root)])

    assert isinstance(told.exception, VaultError)
    assert len(watched.home.folders()) == 3


def test_a_server_for_vectors_that_is_down_is_said(tmp_path):
    watched = Watched.built(
        tmp_path,
        '[refresh]\nquiet_seconds = 0\n[embedder]\nengine = "ollama"\nurl = "http://127.0.0.1:9"\n',
    )

    assert "No new vectors: " in watched.tick().reason


def test_a_home_where_nothing_was_built_yet_waits_for_a_person(tmp_path):
    ticked = Watched(tmp_path).tick()

    assert ticked.requests == []
    assert "kb build" in ticked.reason


def test_links_and_build_are_asked_for_only_when_nobody_else_does(watched):
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    watched.run(watched.tick().requests[0])
    early = watched.tick()
    watched.ahead = 100

    late = watched.tick()

    assert early.requests == []
    assert [each.job_name for each in late.requests] == ["vault"]
    assert watched.run(late.requests[0])
    assert watched.tick().reason == "Nothing changed in 3 folders."


def test_tables_that_were_lost_are_made_again(watched):
    watched.tick()
    watched.home.store.forget("chunks", partition_key("Work"))

    assert asked_for(watched, watched.tick()) == [("words", "Work")]


def test_broken_settings_are_said_and_end_nothing(watched):
    from kb_core.errors import SettingsError

    def broken():
        raise SettingsError("kb.toml is not valid TOML.")

    wiring = replace(watched.wiring(), open_bench=broken)
    watched.wiring = lambda: wiring

    assert watched.tick().reason == "kb.toml is not valid TOML."


def test_vectors_follow_the_words_one_folder_at_a_time(tmp_path, monkeypatch):
    from tests.standins.hash_embedder import HashEmbedder

    monkeypatch.setattr("kb_assets.embedder_choice.open_embedder", lambda _s: HashEmbedder())
    monkeypatch.setattr("kb_assets.build.run.open_embedder", lambda _s: HashEmbedder())
    watched = Watched.built(tmp_path, "[refresh]\nquiet_seconds = 0\n")
    watched.tick()
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nThe ferry carried 402.\n")
    rewrite(watched.vault / "People/Mara.md", "# Mara\n\nMara Lind left.\n")

    words = watched.tick()
    for request in words.requests:
        watched.run(request)
    first = watched.tick()
    watched.run(first.requests[0])
    second = watched.tick()

    assert {each.job_name for each in words.requests} == {"words"}
    assert asked_for(watched, first) == [("vectors", "People")]
    assert first.requests[0].tags["kb/time-box-minutes"] == "10"
    assert asked_for(watched, second) == [("vectors", "Work")]
    watched.run(second.requests[0])
    third = watched.tick()
    watched.run(third.requests[0])
    assert asked_for(watched, third) == [("vectors", "Archive")]  # it never had any
    assert watched.tick().requests == []


def test_vectors_of_lines_come_last_and_go_on_until_all_are_made(tmp_path, monkeypatch):
    from tests.standins.hash_embedder import HashEmbedder

    monkeypatch.setattr("kb_assets.embedder_choice.open_embedder", lambda _s: HashEmbedder())
    monkeypatch.setattr("kb_assets.build.run.open_embedder", lambda _s: HashEmbedder())
    notes = {"Work/Pier.md": "---\nstatus: open\n---\n# Pier\n\nThe pier.\n"}
    watched = Watched.built(tmp_path, "[refresh]\nquiet_seconds = 0\n", notes)
    watched.tick()
    rewrite(watched.vault / "Work/Pier.md", notes["Work/Pier.md"].replace("open", "shut"))
    asked = []
    for _ in range(2):
        (request,) = watched.tick().requests
        asked.append(request.job_name)
        watched.run(request)
    behind = watched.tick()
    watched.run(dg.RunRequest(job_name="vault"))
    (request,) = watched.tick().requests

    assert asked == ["words", "vectors"]
    assert behind.reason == "Links and build follow by themselves."
    assert (request.job_name, request.partition_key) == ("lines", None)
    assert request.tags["kb/time-box-minutes"] == "10"
    assert watched.run(request)
    assert watched.home.store.pointer("line_vectors").rows == 2  # open before, shut now
    assert "lines" not in [each.job_name for each in watched.tick().requests]


def pretend_run(watched, request, status):
    """Put a run into Dagster's history as if it had been launched."""
    from dagster._core.test_utils import create_run_for_test

    create_run_for_test(
        watched.instance,
        job_name=request.job_name,
        tags={**request.tags, "dagster/partition": request.partition_key},
        status=status,
    )


def replace_tags(request, tags):
    return dg.RunRequest(partition_key=request.partition_key, job_name=request.job_name, tags=tags)


# ---- what is decided without a home

texts = st.text(max_size=8)
numbers = st.floats(0, 2e9)


@given(
    st.builds(
        Memory,
        swept_at=numbers,
        done=st.dictionaries(texts, texts, max_size=3),
        changed=st.dictionaries(texts, st.builds(Seen, texts, numbers, texts), max_size=3),
        waits=st.dictionaries(texts, st.builds(Seen, texts, numbers, texts), max_size=3),
        words=st.dictionaries(
            texts, st.builds(Asked, texts, st.integers(1, 99), numbers), max_size=3
        ),
    )
)
def test_what_is_remembered_is_read_as_it_was_written(memory):
    read = Memory.read(memory.write())

    assert read.write() == memory.write()
    assert read.done == memory.done
    assert read.words == memory.words


@given(st.text())
def test_no_text_is_a_cursor_that_stops_a_tick(text):
    assert isinstance(Memory.read(text), Memory)


@given(st.lists(st.sampled_from(["ok", "fails", "new"]), max_size=30))
def test_over_an_equal_state_runs_are_asked_for_ever_more_rarely(events):
    held: dict[str, Asked] = {}
    now, asks = 1000.0, []
    for number, event in enumerate(events):
        now += 10
        request, _ = ask(
            held,
            "key",
            Request("words", "key"),
            situation=f"state {number if event == 'new' else ''}",
            now=now,
            last_failure=lambda *_given: None,
        )
        asks += [request] if request else []
        if event == "ok":
            held.clear()

    times = [each.times for each in asks if each]
    assert all(1 <= each <= 30 for each in times)
    if "new" not in events and "ok" not in events and len(events) >= 10:
        assert len(asks) <= 4


entries = st.lists(
    st.builds(
        Entry,
        path=st.sampled_from(["a.md", "A/b.md", "A/c.md", "B/d/e.md"]),
        raw_path=st.just(b""),
        size=st.integers(0, 3),
        mtime_ns=st.integers(0, 3),
        state=st.just("local"),
        inode=st.integers(0, 3),
    ),
    unique_by=lambda entry: entry.path,
)
FOLDERS = {partition_key(folder): folder for folder in ("", "A", "B")}


@given(entries, entries)
def test_a_signature_moves_exactly_with_what_the_listing_says(before, after):
    one, two = (sights(listing, FOLDERS, 1, 10.0) for listing in (before, after))

    def told(listing, folder):
        kept = [each for each in listing if each.folder(1) == folder]
        return {(each.path, each.size, each.mtime_ns, each.inode) for each in kept}

    for key, folder in FOLDERS.items():
        is_equal = told(before, folder) == told(after, folder)
        assert (one[key].signature == two[key].signature) == is_equal
    assert sights(before[::-1], FOLDERS, 1, 10.0) == one


def test_a_reason_names_some_and_counts_the_rest():
    assert listed([], "Nothing.") == "Nothing."
    assert listed(["A waits"], "") == "A waits."
    assert listed([f"{number} waits" for number in range(10)], "").endswith("7 waits; and 2 more.")


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "a moment"), (2.4, "2 s"), (120, "2 min"), (7200, "2 h")]
)
def test_time_spans_are_said_in_one_unit(seconds, said):
    assert spoken(seconds) == said
