"""What the board says: the same counts as the commands, and what to do until its cause is over."""

import datetime as dt
import shutil
from dataclasses import replace

import dagster as dg
import pytest

from kb_assets.build.publish import Verdict
from kb_serve.board.data import gather
from kb_serve.board.page import render
from kb_serve.board.runs import LastRun, last_runs, passages_per_second
from kb_serve.board.steps import steps
from kb_serve.coverage import folder_rows
from resources.evaluations import Evaluations
from resources.home import Home
from tests.boards import BUILD, NOW, OTHER, board, folder
from tests.kb_command import kb_json, make_home
from tests.ready_home import ready_home
from tests.small_vault import make_vault

LOST = "6 notes are gone at once. If you deleted them: `kb approve-deletions --folder 'People'`."


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    ready_home(folder)
    return folder


@pytest.fixture
def home(built, tmp_path):
    """A built home and vault of its own for each test."""
    shutil.copytree(built, tmp_path / "copy")
    settings = tmp_path / "copy" / "home" / "kb.toml"
    settings.write_text(settings.read_text().replace(str(built), str(tmp_path / "copy")))
    return Home.open(settings.parent)


def commands(shown):
    return [command for step in steps(shown) for command in step.commands]


# --- what is shown


def test_the_board_counts_as_kb_folders_and_kb_check_do(home):
    shown = gather(home, {}, None)
    listed = kb_json("folders", "--home", str(home.root))["folders"]

    assert [dict(state.counts) for state in shown.folders] == listed == folder_rows(home)
    assert sum(state.pending for state in shown.folders) == sum(row["texts"] for row in listed) > 0


def test_the_board_names_the_build_that_answers_and_what_was_said_of_the_last(home):
    shown = gather(home, {}, None)

    assert (
        shown.answers
        == kb_json("publish", "--list", "--home", str(home.root))["builds"][-1]["build"]
    )
    assert shown.verdict.why_not == ""
    assert shown.report["notes"] == 8
    assert shown.looked_at < dt.datetime.now(dt.UTC)


def test_scores_of_the_vault_and_of_a_folder_are_kept_apart_and_in_order(home):
    history = Evaluations(home.data / "history")
    part = folder_rows(home)[0]["partition"]
    for number, name in enumerate([None, part, None, part]):
        row = {"at": NOW.isoformat(), "build": BUILD, "folder": name, "figures": {"mrr": number}}
        history.append(row)

    shown = gather(home, {}, None)

    assert [scored.figures["mrr"] for scored in shown.scores] == [0, 2]
    assert [scored.figures["mrr"] for scored in shown.folders[0].scores] == [1, 3]
    assert shown.folders[1].scores == ()


def test_notes_that_vanished_wait_until_they_are_back_or_the_deletion_is_confirmed(home):
    part = next(row["partition"] for row in folder_rows(home) if row["folder"] == "People")
    runs = {part: LastRun("r", "failed", 0.0, LOST)}
    people = home.vault_path / "People"
    held = {note.name: note.read_bytes() for note in people.glob("*.md")}

    def state():
        return next(s for s in gather(home, runs, None).folders if s.counts["partition"] == part)

    for name in held:
        (people / name).unlink()
    assert (state().waiting, state().needs_help) == (2, True)

    (people / "Mara Lind.md").write_bytes(held["Mara Lind.md"])
    (people / "东港.md").write_bytes(held["东港.md"])
    assert (state().waiting, state().needs_help) == (0, False)

    for name in held:
        (people / name).unlink()
    kb_json("approve-deletions", "--folder", "People", "--home", str(home.root))
    assert (state().waiting, state().needs_help) == (0, False)


def test_time_left_is_the_pending_part_of_a_folders_passages_at_the_known_speed(home):
    row = max(folder_rows(home), key=lambda row: row["texts"])

    def left(speed):
        states = gather(home, {}, speed).folders
        return next(s for s in states if s.counts["partition"] == row["partition"]).seconds_left

    assert left(None) is None  # nobody knows
    assert left(2.0) == pytest.approx(row["texts"] / 2.0)  # one vector a text: no profile yet
    assert folder(left=0.0).pending == 0


def test_a_home_without_a_build_says_what_to_do(tmp_path):
    root = make_home(make_vault(tmp_path / "vault"), tmp_path / "home")

    shown = gather(Home.open(root), {}, None)

    assert shown.answers == ""
    assert commands(shown) == ["kb build"]
    assert "Nothing answers yet" in render(shown, NOW)


# --- what to do now


def test_nothing_is_left_to_do_when_everything_is_done():
    assert steps(board()) == []
    assert "Nothing: every note is read" in render(board(), NOW)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (
            board(verdict=Verdict(OTHER, problems=("mrr fell",), answers=BUILD)),
            [
                "kb eval --build bbbbbbbbbbbb --against aaaaaaaaaaaa",
                "kb build",
                "kb publish --accept",
            ],
        ),
        (board(verdict=Verdict(OTHER, pinned=BUILD, answers=BUILD)), ["kb publish --unpin"]),
        (board(folder(waiting=2)), ["kb approve-deletions --folder Work", "kb build"]),
        (
            board(folder("it's & more", waiting=2)),
            ["kb approve-deletions --folder 'it'\"'\"'s & more'", "kb build"],
        ),
        (board(folder(failed=1)), ["kb check"]),
        (board(folder(adds_up=False)), ["kb build"]),
        (board(folder(with_vectors=1, left=60.0)), ["kb build"]),
        (board(folder(with_vectors=1), makes_vectors=False), []),
        (board(has_questions=False), ["kb questions suggest", "kb build"]),
    ],
)
def test_each_cause_has_its_commands(shown, expected):
    assert commands(shown) == expected


def test_a_failed_run_is_told_in_its_own_words_with_the_way_to_it():
    run = LastRun("run-1", "failed", 0.0, "The disk is full. Free some space.")

    (step,) = steps(board(folder(run=run)))

    assert "The disk is full" in step.why
    assert step.link == "/runs/run-1"
    assert steps(board(folder(run=replace(run, problem="")))) == []


def test_the_time_that_vectors_take_is_said_or_how_to_find_out():
    known = board(folder(with_vectors=1, left=300.0), folder(with_vectors=0, left=300.0))
    unknown = board(folder(with_vectors=1, left=300.0), folder(with_vectors=0, left=None))

    assert "about 10 min" in steps(known)[0].why
    assert "kb doctor" in steps(unknown)[0].why
    assert "switched off" in render(board(folder(with_vectors=1), makes_vectors=False), NOW)


# --- what Dagster's history says

PARTS = dg.StaticPartitionsDefinition(["good", "bad", "scored", "stopped"])


@dg.asset(partitions_def=PARTS)
def embeddings(context):
    if context.partition_key == "bad":
        raise ValueError("a note's own words")
    if context.partition_key == "stopped":
        raise dg.DagsterExecutionInterruptedError("Ctrl-C")
    return dg.MaterializeResult(metadata={"embedded": 200})


def run_once(instance, partition, name="vectors"):
    definitions = dg.Definitions(
        assets=[embeddings], jobs=[dg.define_asset_job(name, selection=[embeddings])]
    )
    job = definitions.resolve_job_def(name)
    job.execute_in_process(instance=instance, partition_key=partition, raise_on_error=False)


def test_the_last_run_that_read_a_folder_is_its_state_and_no_error_quotes_a_note():
    with dg.DagsterInstance.ephemeral() as instance:
        run_once(instance, "good")
        run_once(instance, "bad")
        run_once(instance, "bad", "scores")
        run_once(instance, "scored", "scores")
        run_once(instance, "stopped")
        found = last_runs(instance, ["bad", "good", "scored", "stopped", "unknown"])

    states = {part: run.state for part, run in found.items()}
    assert states == {"bad": "failed", "good": "succeeded", "stopped": "stopped"}
    assert found["stopped"].problem == ""
    assert found["bad"].problem
    assert "own words" not in found["bad"].problem
    assert found["good"].problem == ""


def test_speed_is_what_the_last_runs_embedded_over_the_time_they_took():
    with dg.DagsterInstance.ephemeral() as instance:
        assert passages_per_second(instance) is None
        run_once(instance, "good")
        (record,) = instance.get_run_records(limit=1)
        (step,) = instance.get_run_step_stats(record.dagster_run.run_id)

        assert passages_per_second(instance) == pytest.approx(
            200 / (step.end_time - step.start_time)
        )
