"""The policy questions: how they are read, what counts as right, and all of the sample's own."""

import json
import shutil
import tomllib

import pytest

from eval_assets.judge import Judge
from eval_assets.policy_questions import PolicyQuestion, read_policy_questions
from eval_assets.policy_report import policy_markdown, policy_report, policy_stamp
from eval_assets.policy_scoring import (
    CONNECTED,
    SEARCH,
    PolicyRow,
    figures,
    policy_tables,
    policy_values,
    score_policy,
    write_policy,
)
from kb_core.errors import SettingsError
from kb_core.settings import Settings
from kb_search.engine import Engine
from resources.builds import Builds
from resources.home import Home
from tests.built_home import build
from tests.kb_command import ROOT, kb_json, run_kb
from tests.test_connected_command import BLUE, RED, made

ROW = {
    "id": "manuals",
    "question": "Which manual helps with the pump?",
    "principal": "red-reader",
    "as_of": "2026-03-01T06:00:00Z",
    "start": "P7",
    "links": ["depends_on"],
    "depth": 2,
    "attach": ["has_manual"],
    "required": ["Red/D1.md"],
    "forbidden": ["Blue/D3.md"],
    "future": ["Red/D2.md"],
}
UNCLEAR = {
    **{key: ROW[key] for key in ("question", "links", "depth", "attach")},
    "id": "which",
    "start": "feed pump",
    "expected": "ask_back",
    "candidates": ["Blue/X.md", "Red/P7.md"],
}


def write(home, *rows):
    folder = home.data / "eval"
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "policy.jsonl").write_text(text, "utf-8")
    return home


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return made(tmp_path_factory.mktemp("asked"), RED | BLUE)


def scored(home, *rows):
    engine = Engine.open(home.root, home.settings)
    return score_policy(engine, home.settings, [PolicyQuestion(**row) for row in rows])


def connected(home, **changed):
    (row,) = scored(home, {**ROW, **changed})[CONNECTED]
    return row


def test_a_right_answer_finds_what_is_required_and_nothing_else(home):
    row = connected(home)

    assert row.measures == {
        "forbidden": 0,
        "future": 0,
        "recall": 1,
        "all_required": 1,
        "false_ask_backs": 0,
    }
    assert row.outputs == ("Red/D1.md", "Red/P7.md", "Red/S1.md")


def test_every_note_in_an_answer_counts_whatever_its_place(home):
    seen = connected(home, principal="owner", forbidden=["Blue/X.md"], future=["Red/S1.md"])
    asked_back = connected(
        home, **{**UNCLEAR, "principal": "owner", "forbidden": ["Blue/X.md"]}, required=[]
    )

    assert (seen.measures["forbidden"], seen.measures["future"]) == (1, 1)
    assert asked_back.measures["forbidden"] == 1


def test_what_is_required_and_missing_costs_its_share(home):
    row = connected(home, required=["Red/D1.md", "Red/D2.md"], future=[])

    assert (row.measures["recall"], row.measures["all_required"]) == (0.5, 0)


def test_asking_back_is_right_with_exactly_the_candidates(home):
    (both,) = scored(home, UNCLEAR)[CONNECTED]
    (one,) = scored(home, {**UNCLEAR, "candidates": ["Red/P7.md"]})[CONNECTED]
    (clear,) = scored(home, {**UNCLEAR, "start": "P7", "candidates": []})[CONNECTED]

    assert [row.measures["asked_back"] for row in (both, one, clear)] == [1, 0, 0]
    assert connected(home, start="P8").measures["false_ask_backs"] == 1


def test_search_is_asked_the_same_by_the_same_as_of_the_same(home):
    (now,), (then,) = (scored(home, {**ROW, "as_of": at})[SEARCH] for at in (None, ROW["as_of"]))

    assert {"Red/D1.md", "Red/D2.md"} <= set(now.outputs)
    assert "Red/D2.md" not in then.outputs
    assert not any("Blue" in note for note in now.outputs)
    assert (now.measures["future"], then.measures["future"]) == (1, 0)


ROWS = {
    CONNECTED: [
        PolicyRow(
            "a", CONNECTED, ("n",), {"recall": 1.0, "all_required": 1.0, "forbidden": 0.0}, 2.0
        ),
        PolicyRow("b", CONNECTED, (), {"recall": 0.5, "all_required": 0.0, "forbidden": 2.0}, 4.0),
        PolicyRow("c", CONNECTED, (), {"asked_back": 1.0, "forbidden": 1.0}, 1.0),
    ],
    SEARCH: [
        PolicyRow("a", "keyword", (), {"recall": 0.0, "all_required": 0.0}, 1.0),
        PolicyRow("b", "keyword", (), {"recall": 0.5, "all_required": 0.0}, 1.0),
    ],
}


def test_shares_are_means_and_what_must_be_nought_is_a_sum():
    assert figures(ROWS) == {
        "policy_recall": 0.75,
        "policy_all_required": 0.5,
        "policy_forbidden": 3,
        "policy_future": 0,
        "policy_asked_back": 1,
    }
    values = policy_values(ROWS, with_times=True)[CONNECTED]
    assert (values["n"], values["p50_ms"], values["p95_ms"]) == (3, 2.0, 4.0)
    assert "p50_ms" not in policy_values(ROWS, with_times=False)["hybrid (by keyword)"]


def test_the_tables_hold_both_ways_and_how_often_one_beat_the_other():
    whole, compared = policy_tables(ROWS)
    timeless, _ = policy_tables(ROWS, with_times=False)

    assert [row[:5] for row in whole.rows] == [
        ("connected", "3", "0.75", "0.5", "3"),
        ("hybrid (by keyword)", "2", "0.25", "0", "0"),
    ]
    assert whole.columns[-2:] == ("p50 ms", "p95 ms")
    assert timeless.columns == whole.columns[:-2]
    assert compared.rows == (("connected", "hybrid", "1", "0", "1", "1.0000"),)


def test_rows_are_written_one_a_line(tmp_path):
    write_policy(tmp_path / "out", ROWS, with_times=False)
    lines = (tmp_path / "out" / "policy-connected.jsonl").read_text().splitlines()

    assert [json.loads(line)["id"] for line in lines] == ["a", "b", "c"]
    assert "ms" not in json.loads(lines[0])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"required": []}, "names what is required"),
        ({"expected": "ask_back"}, "names what is required"),
        ({"as_of": "soon"}, "as_of is no date"),
        ({"future": ["Red/D1.md"]}, "two roles"),
        ({"depth": 11}, "less than or equal"),
        ({"colour": "red"}, "not permitted"),
    ],
)
def test_a_row_that_cannot_be_asked_is_named_with_its_line(tmp_path, changed, words):
    home = write(Home(tmp_path, Settings()), ROW, {**ROW, "id": "second", **changed})

    with pytest.raises(SettingsError, match=rf"policy\.jsonl, line 2: .*{words}.*Mend that line"):
        read_policy_questions(home.data)


def test_an_id_stands_once_and_no_file_is_no_question(tmp_path):
    home = Home(tmp_path, Settings())

    assert read_policy_questions(home.data) == []
    assert (policy_stamp(home), policy_markdown({})) == ("", "")
    with pytest.raises(SettingsError, match="'manuals' more than once"):
        read_policy_questions(write(home, ROW, ROW).data)


def test_the_report_of_a_build_holds_the_figures_or_says_why_not(tmp_path):
    home = made(tmp_path, RED)
    judge = Judge.open(home)
    assert policy_report(home, judge) == {}

    good = policy_report(write(home, ROW), judge)
    stamp = policy_stamp(home)
    assert good["connected"]["recall"] == 1
    assert "| connected | 1 | 1 | 1 | 0 | 0 |" in policy_markdown(good)

    stranger = policy_report(write(home, {**ROW, "principal": "anna"}), judge)
    assert "not asked: No principal 'anna'" in policy_markdown(stranger)
    assert policy_stamp(home) != stamp
    broken = policy_report(write(home, {**ROW, "depth": -1}), judge)
    assert "line 1" in broken["why_not"]


def test_the_command_prints_both_ways_and_repeats_itself(home):
    write(home, ROW, UNCLEAR)
    how = ("eval", "--policy", "--home", str(home.root))
    first, second = (run_kb(*how, "--no-times", cold=cold) for cold in (False, True))
    values = kb_json(*how)

    assert "connected\t2\t1\t1\t0\t0\t1\t0" in first.stdout
    assert first.stdout == second.stdout
    assert values["policy"]["connected"]["asked_back"] == 1
    assert values["policy"]["hybrid (by keyword)"]["n"] == 2
    assert "leave --sweep out" in run_kb(*how, "--sweep", "k").stderr


def test_the_command_says_where_questions_would_stand(tmp_path):
    home = made(tmp_path, {"Red/P7.md": "P7\n"})
    done = run_kb("eval", "--policy", "--home", str(home.root))

    assert done.returncode == 1
    assert "policy.jsonl is missing" in done.stderr


def test_the_sample_s_own_questions_are_all_answered_rightly(tmp_path):
    sample = tmp_path / "home"
    sample.mkdir()
    text = (ROOT / "kb.toml").read_text("utf-8")
    vault = tomllib.loads(text)["vault"]["path"]
    text = text.replace(f'path = "{vault}"', f'path = "{ROOT / vault}"', 1)
    text = text.replace('token_counter = "auto"', 'token_counter = "regex"')
    (sample / "kb.toml").write_text(text.replace('engine = "auto"', 'engine = "none"'), "utf-8")
    home = Home.open(sample)
    (home.data / "eval").mkdir(parents=True)
    shutil.copy(ROOT / "data" / "eval" / "policy.jsonl", home.data / "eval")
    Builds(home.data).point_to(build(home, with_vectors=False))
    questions = read_policy_questions(home.data)
    scores = score_policy(Engine.open(home.root, home.settings), home.settings, questions)

    assert len(questions) >= 24
    assert figures(scores) == {
        "policy_recall": 1,
        "policy_all_required": 1,
        "policy_forbidden": 0,
        "policy_future": 0,
        "policy_asked_back": 1,
        "policy_false_ask_backs": 0,
    }
    assert [row.measures["forbidden"] + row.measures["future"] for row in scores[SEARCH]] == [
        0
    ] * len(questions)
