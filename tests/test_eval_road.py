"""Scores along the main road: every complete build is scored, and one that got worse stays back."""

import json
import shutil

import pytest

from resources.builds import Builds
from resources.home import Home
from tests.eval_vault import TOPICS, make_eval_vault, note_path, note_text, write_questions
from tests.kb_command import kb_json, make_home, run_kb
from tests.ready_home import ready_home
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn() as server:
        yield server


@pytest.fixture(scope="module")
def env(ollama):
    return {"KB_EMBEDDER__ENGINE": "ollama", "KB_EMBEDDER__URL": ollama.url}


@pytest.fixture(scope="module")
def scored(tmp_path_factory, env):
    """A home that was built and scored once; tests that change it take a copy."""
    root = tmp_path_factory.mktemp("scored")
    vault = make_eval_vault(root / "vault")
    home = make_home(vault, root / "home")
    write_questions(home)
    built = kb_json("build", "--home", str(home), env=env)
    return root, built


@pytest.fixture
def own(scored, tmp_path):
    """A copy of the scored home and its vault, to be changed."""
    shutil.copytree(scored[0] / "vault", tmp_path / "vault")
    shutil.copytree(scored[0] / "home", tmp_path / "home")
    settings = tmp_path / "home" / "kb.toml"
    text = settings.read_text().replace(str(scored[0] / "vault"), str(tmp_path / "vault"))
    settings.write_text(text)
    return tmp_path / "vault", tmp_path / "home"


def edit_all(vault, edit):
    for number, topic in enumerate(TOPICS):
        put(vault, note_path(topic), note_text(topic, number, edit))


def history(home):
    return kb_json("eval", "--history", "--home", str(home))["history"]


def test_a_complete_build_is_scored_and_the_scores_lie_beside_it(scored):
    root, built = scored

    scores = built["scores"]
    assert scores["questions"] == len(TOPICS)
    assert scores["recall_at_10"] == 1.0
    rows = Builds(root / "home" / "data").scores(built["build"])["scores"]["rows"]
    assert set(rows) == {
        "hybrid+linked",
        "routed",
        "keyword+linked",
        "hybrid",
        "vector",
        "keyword",
        "bm25s",
    }
    assert [row["build"] for row in history(root / "home")] == [built["build"]]


def test_each_folder_is_scored_inside_and_in_the_whole_vault(scored):
    root, _ = scored
    record = Home.open(root / "home").record("folder-scores")

    assert [row["figures"]["questions"] for row in record.values()] == [6, 6]
    assert all("recall_at_10_inside" in row["figures"] for row in record.values())
    assert all("recall_at_10_whole" in row["figures"] for row in record.values())


def test_scoring_twice_prints_the_same_bytes(scored, env):
    home = str(scored[0] / "home")
    asked = ("eval", "--no-times", "--home", home)
    once, twice = (run_kb(*asked, env=env, cold=cold) for cold in (False, True))

    assert once.returncode == 0, once.stderr
    assert once.stdout == twice.stdout
    for part in ("single_fact\tbm25s\t12", "single_fact\thybrid\t12", "hybrid\tkeyword\t"):
        assert part in once.stdout


def test_a_build_over_unchanged_notes_and_questions_asks_nothing(own, env):
    _, home = own
    kb_json("build", "--home", str(home), env=env)

    again = kb_json("build", "--home", str(home), env=env)

    assert again["changed"] is False
    assert len(history(home)) == 1


def test_new_questions_are_scored_without_a_change_in_the_notes(own, env):
    _, home = own
    write_questions(home, TOPICS[:5])

    built = kb_json("build", "--home", str(home), env=env)

    assert built["scores"]["questions"] == 5
    assert [row["figures"]["questions"] for row in history(home)] == [12, 5]


def test_a_build_by_a_broken_embedder_is_kept_back_and_the_old_one_answers(own, env, ollama):
    vault, home = own
    before = kb_json("search", "cost of the pier", "--home", str(home), env=env)
    edit_all(vault, "Seen again.")
    ollama.scenario.is_broken = True
    try:
        refused = kb_json("build", "--home", str(home), env=env, status=1)
    finally:
        ollama.scenario.is_broken = False

    reasons = [error["message"] for error in refused["errors"]]
    assert any("ndcg@10 of hybrid fell from" in reason for reason in reasons), reasons
    after = kb_json("search", "cost of the pier", "--home", str(home), env=env)
    assert after["build"] == before["build"]
    assert after["results"] == before["results"]
    moved = kb_json(
        *("eval", "--build", Home.open(home).record("last-build")["build"]),
        *("--against", before["build"][:10], "--home", str(home)),
        env=env,
    )
    assert moved["against"] == before["build"]
    assert moved["moved"]["hybrid"]

    accepted = kb_json("publish", "--accept", "--home", str(home), env=env)
    assert accepted["current"] != before["build"]


def test_going_back_pins_the_old_build_until_it_is_let_go(own, env):
    vault, home = own
    first = Builds(home / "data").current()
    edit_all(vault, "Seen in May.")
    second = kb_json("build", "--home", str(home), env=env)["build"]

    back = kb_json("publish", "--rollback", "--home", str(home))
    edit_all(vault, "Seen in June.")
    built = kb_json("build", "--home", str(home), env=env)

    assert (back["current"], back["pinned"]) == (first, first)
    assert (built["build"], built["pinned"]) == (first, first)
    free = kb_json("publish", "--unpin", "--home", str(home))
    assert free["pinned"] == ""
    assert free["current"] not in (first, second)


def test_the_builds_are_listed_with_what_they_scored(scored):
    listed = kb_json("publish", "--list", "--home", str(scored[0] / "home"))["builds"]

    answering = [row for row in listed if "answers" in row["is"]]
    assert len(answering) == 1
    assert answering[0]["recall_at_10"] == 1.0


def test_a_home_without_questions_says_what_to_do(tmp_path):
    home, _, built = ready_home(tmp_path)

    told = run_kb("eval", "--home", str(home))

    assert built["scores"] == {}
    assert "kb questions suggest" in told.stderr
    assert told.returncode == 0


def test_a_slip_in_a_question_file_is_told_and_keeps_no_note_back(own, env):
    vault, home = own
    put(home / "data" / "eval", "slip.jsonl", '{"id": "x"}\n')
    put(vault, "Town/New.md", "# New\n\nThe quay was mended.\n")

    built = kb_json("build", "--home", str(home), env=env, status=1)

    assert built["changed"] is True
    assert "slip.jsonl, line 1" in built["errors"][0]["message"]


def test_a_question_about_a_note_that_is_gone_is_counted_and_not_scored(own, env):
    vault, home = own
    (vault / note_path("pier")).unlink()
    built = kb_json("build", "--home", str(home), env=env)

    asked = kb_json("eval", "--variant", "keyword", "--home", str(home), env=env)

    assert built["scores"]["questions"] == len(TOPICS) - 1
    assert asked["broken"] == ["cost-pier"]


def test_a_sweep_has_a_row_for_each_value_and_a_plot(scored, env, tmp_path):
    home = str(scored[0] / "home")
    plot = tmp_path / "cap.svg"

    asked = ("eval", "--sweep", "cap=1,2", "--plot", str(plot), "--home", home)
    swept = run_kb(*asked, env=env)

    assert swept.returncode == 0, swept.stderr
    assert [line.split("\t")[0] for line in swept.stdout.splitlines()[-3:]] == ["1", "2", "3 (now)"]
    first = plot.read_bytes()
    run_kb(*asked, env=env, cold=True)
    assert plot.read_bytes() == first
    assert b"<svg" in first


def test_rows_are_written_for_every_question_and_variant(scored, env, tmp_path):
    home = str(scored[0] / "home")
    kb_json("eval", "--variant", "keyword,bm25s", "--out", str(tmp_path), "--home", home, env=env)

    for name in ("keyword", "bm25s"):
        rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        assert [row["id"] for row in rows] == [f"cost-{topic}" for topic in TOPICS]
        assert all(row["ranking"] for row in rows)
