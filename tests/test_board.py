"""The board: the same counts as the commands, what is over disappears, and text stays text."""

import asyncio
import datetime as dt
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.build.publish import Verdict
from kb_serve.board.charts import line
from kb_serve.board.data import Board, FolderState, Scored, gather
from kb_serve.board.page import HEADERS, make_board, render
from kb_serve.board.runs import LastRun, last_runs, passages_per_second
from kb_serve.board.steps import steps
from kb_serve.coverage import folder_rows
from kb_serve.definitions import make_definitions
from resources.evaluations import Evaluations
from resources.home import Home
from tests.kb_command import kb_json, make_home
from tests.small_vault import make_vault

NOW = dt.datetime(2024, 5, 2, 12, 0, tzinfo=dt.UTC)
BUILD, OTHER = "a" * 32, "b" * 32
LOST = "6 notes are gone at once. If you deleted them: `kb approve-deletions --folder 'People'`."


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    root = make_home(make_vault(folder / "vault"), folder / "home")
    kb_json("build", "--home", str(root))
    return folder


@pytest.fixture
def home(built, tmp_path):
    """A built home and vault of its own for each test."""
    shutil.copytree(built, tmp_path / "copy")
    settings = tmp_path / "copy" / "home" / "kb.toml"
    settings.write_text(settings.read_text().replace(str(built), str(tmp_path / "copy")))
    return Home.open(settings.parent)


def folder(name="Work", *, run=None, scores=(), waiting=0, left=0.0, **counts):
    row = {
        "folder": name,
        "partition": "work-1",
        "files": 3,
        "notes": 2,
        "indexed": 2,
        "skipped": 1,
        "failed": 0,
        "adds_up": True,
        "texts": 4,
        "with_vectors": 4,
    }
    return FolderState(row | counts, waiting, run, tuple(scores), left)


def board(*folders, **changed):
    fields = {
        "root": "/home",
        "vault": "/vault",
        "looked_at": NOW,
        "answers": BUILD,
        "answers_since": NOW,
        "verdict": Verdict(BUILD, answers=BUILD),
        "report": {"notes": 2, "is_complete": 1},
        "folders": folders or (folder(),),
        "scores": (),
        "has_questions": True,
        "makes_vectors": True,
    }
    return Board(**{**fields, **changed})


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


# --- how it is shown


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


HOSTILE = "<script>x</script> \u202e\x1b[31m {{ 7*7 }} \"'&"


def hostile_board():
    run = LastRun("../x?<b>", "failed", 0.0, f"`{HOSTILE}` failed: {HOSTILE}")
    scores = [Scored(NOW.isoformat(), HOSTILE, {"recall_at_10_whole": 0.5, "questions": 2})]
    return board(
        folder(HOSTILE, run=run, scores=scores, waiting=1, partition=HOSTILE),
        folder(HOSTILE, run=run),
        root=HOSTILE,
        vault=HOSTILE,
        verdict=Verdict(OTHER, problems=(HOSTILE,), answers=BUILD),
        report={"evaluation": {"headline": HOSTILE}},
        scores=(Scored(NOW.isoformat(), HOSTILE, {"recall_at_10": 0.5}),) * 3,
    )


def test_hostile_names_stay_text_and_are_made_visible():
    page = render(hostile_board(), NOW)
    found = Elements(page)

    assert "script" not in found.tags
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\\x202e" in page
    assert "{{ 7*7 }}" in page  # shown, not evaluated
    assert not [name for name, _ in found.attributes if name == "style" or name.startswith("on")]
    targets = [value for name, value in found.attributes if name in ("href", "src")]
    assert targets
    assert all(value.startswith(("/", "#")) and "<" not in value for value in targets)


@given(st.text(max_size=40))
def test_no_folder_name_adds_an_element(name):
    plain = Elements(render(board(folder("x")), NOW)).tags

    assert Elements(render(board(folder(name)), NOW)).tags == plain


def test_only_what_needs_somebody_is_marked():
    quiet = render(board(), NOW)
    loud = render(board(folder(failed=2)), NOW)

    assert "alert" not in quiet
    assert re.search(r'class="n alert"[^>]*>2<', loud)


def test_the_page_is_served_without_any_script_and_loads_nothing_from_elsewhere():
    served = asyncio.run(_get(make_board(board), "/board"))
    style = asyncio.run(_get(make_board(board), "/board/style.css"))

    assert served[0]["status"] == style[0]["status"] == 200
    assert (b"content-security-policy", HEADERS["content-security-policy"].encode()) in served[0][
        "headers"
    ]
    assert "script" not in Elements(served[1]["body"].decode()).tags
    assert b"url(" not in style[1]["body"]
    assert b"@import" not in style[1]["body"]


def test_a_damaged_home_is_told_in_words():
    def broken():
        from kb_core.errors import HomeError

        raise HomeError("data/home.json is damaged. Restore it.")

    start, body = asyncio.run(_get(make_board(broken), "/board"))

    assert start["status"] == 500
    assert b"data/home.json is damaged. Restore it." in body["body"]


async def _get(app, path):
    sent, asked = [], [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        return asked.pop() if asked else await asyncio.Future()  # the reader stays

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }
    await app(scope, receive, send)
    return sent[0], {"body": b"".join(message.get("body", b"") for message in sent)}


# --- lines


def test_a_line_stands_between_bottom_and_top_with_the_newest_at_the_right():
    drawn = line("mrr", [0.0, None, 1.0], 100, 20)

    assert [(p.x, p.y, p.index) for p in drawn.points] == [(0, 20, 0), (100, 0, 2)]
    assert drawn.path == "0,20 100,0"
    assert line("mrr", [0.5], 100, 20).path == "100,10"
    assert line("mrr", [None], 100, 20) is None


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1))
def test_no_line_leaves_its_drawing(values):
    drawn = line("x", values, 100, 20)

    points = drawn.points if drawn else ()
    assert all(0 <= p.x <= 100 and 0 <= p.y <= 20 for p in points)
    assert [p.x for p in points] == sorted(p.x for p in points)
    assert len(points) == sum(value is not None for value in values)


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


# --- what the page says of assets, jobs and sensors


def test_every_asset_says_what_it_is_and_what_comes_next_and_every_group_leads_to_the_board():
    linked = {}
    for asset in make_definitions().resolve_asset_graph().assets_defs:
        for key in asset.keys:
            text = asset.descriptions_by_key[key]
            first, _, rest = text.partition("\n\n")
            assert first.count(".") == 1, key  # one sentence
            assert rest.startswith("Next: "), key
            group = asset.group_names_by_key[key]
            linked[group] = linked.get(group, False) or "](/board)" in text

    assert all(linked.values())


def test_every_job_and_sensor_says_what_it_does():
    definitions = make_definitions()

    assert all(job.description for job in definitions.jobs)
    assert all(sensor.description for sensor in definitions.sensors)
