"""What moved since another build: like is compared with like, and what is not is counted."""

import json
import shutil

import pytest
from click.testing import CliRunner

from eval_assets.evaluation import evaluate
from eval_assets.questions import question_files, read_sets
from kb_assets.build.publish import run_published
from kb_core.errors import SettingsError, StoreError
from kb_core.ids import partition_key
from kb_serve.commands.eval import command
from kb_serve.comparison import moved_since
from kb_serve.scoring import Request, as_values, write_rows
from resources.builds import Builds
from tests.built_home import build, open_home
from tests.eval_vault import TOPICS, make_eval_vault, question_row, write_questions
from tests.small_vault import put

RIVAL = (
    "# What the pier costs a year\n\nWhat does the pier cost a year? See the cost of the pier.\n"
)


@pytest.fixture(scope="module")
def two_builds(tmp_path_factory):
    """A home with a scored build, and one with notes that stand above the pier's own."""
    root = tmp_path_factory.mktemp("two")
    home = open_home(root / "home", make_eval_vault(root / "vault"))
    write_questions(home.root)
    first = build(home)
    evaluate(home)
    for folder in ("Harbour", "Town"):
        put(root / "vault", f"{folder}/Pier cost a year.md", RIVAL)
    second = build(home)
    run_published(home)
    return root, first, second


@pytest.fixture
def own(two_builds, tmp_path):
    root, first, second = two_builds
    shutil.copytree(root / "home", tmp_path / "home")
    return open_home(tmp_path / "home", root / "vault"), first, second


def ask(home, build_name, variants="keyword", folders=()):
    posed = read_sets(question_files(home.data))
    request = Request.make(home, variants, build_name, folders, None)
    _, scores = request.ask(home, posed)
    return request, scores, posed


def since(home, first, second, **asked):
    request, scores, posed = ask(home, second, **asked)
    return moved_since(home, first, request, scores, posed)


def lost(found, variant="keyword"):
    return [each.id for each in found.moved[variant] if each.difference < 0]


def table(home, name):
    folder = Builds(home.data).read(name)["folders"][partition_key("Harbour")]
    return home.store.root / folder["artifacts"]["chunks"]["files"]["table"]


def test_the_question_that_lost_is_named_with_its_ranks(own):
    home, first, second = own

    found = since(home, first[:10], second)

    assert found.build == first
    assert lost(found) == ["cost-pier"]
    (pier,) = [each for each in found.moved["keyword"] if each.id == "cost-pier"]
    assert (pier.best_before, pier.best_after) == (1, 3)
    assert found.uncompared == {"keyword": 0}
    assert "cost-pier" in [row["id"] for row in found.to_json()["moved"]["keyword"]]


def test_a_build_has_not_moved_since_itself(own):
    home, first, _ = own

    assert since(home, first, first).moved == {"keyword": []}


def test_what_was_stored_is_used_though_the_old_builds_files_are_gone(own):
    home, first, second = own
    table(home, first).unlink()

    assert lost(since(home, first, second)) == ["cost-pier"]


def test_a_variant_the_old_build_was_not_asked_then_is_asked_now(own):
    home, first, second = own

    found = since(home, first, second, variants="keyword:cap=1")

    assert lost(found, "keyword:cap=1") == ["cost-pier"]
    assert found.uncompared == {"keyword:cap=1": 0}


def test_questions_in_other_words_are_asked_anew_and_not_passed_over(own):
    home, first, second = own
    rows = [{**question_row(topic), "question": f"cost of the {topic}"} for topic in TOPICS]
    put(home.data / "eval", "costs.jsonl", "\n".join(json.dumps(row) for row in rows))

    found = since(home, first, second)

    assert lost(found) == ["cost-pier"]
    assert found.uncompared == {"keyword": 0}


def test_what_cannot_be_asked_of_the_old_build_any_more_is_counted(own):
    home, first, second = own
    rows = [{**question_row(topic), "question": f"cost of the {topic}"} for topic in TOPICS[:3]]
    rows += [question_row(topic) for topic in TOPICS[3:]]
    put(home.data / "eval", "costs.jsonl", "\n".join(json.dumps(row) for row in rows))
    table(home, first).unlink()

    found = since(home, first, second)

    assert found.uncompared == {"keyword": 3}
    assert "3 could not be compared" in found.tables([])[0].title


def test_within_a_folder_both_builds_are_asked_within_it(own):
    home, first, _ = own

    assert since(home, first, first, folders=["Town"]).moved == {"keyword": []}


def test_a_build_that_was_never_scored_is_asked_now(own):
    home, first, second = own
    (home.data / "builds" / f"{first}.scores.json").unlink()

    assert lost(since(home, first, second)) == ["cost-pier"]
    table(home, first).unlink()
    with pytest.raises(StoreError, match="missing"):
        since(home, first, second)


@pytest.mark.parametrize("text", ["", "[]", '{"scores": {"version": "0"}}', '{"scores": []}'])
def test_scores_that_cannot_be_read_are_as_good_as_none(own, text):
    home, first, second = own
    (home.data / "builds" / f"{first}.scores.json").write_text(text)

    assert lost(since(home, first, second)) == ["cost-pier"]


def test_a_build_that_is_gone_is_told(own):
    home, first, second = own
    (home.data / "builds" / f"{first}.json").unlink()

    with pytest.raises(StoreError, match="No build begins with"):
        since(home, first, second)


def test_asking_bm25s_alone_within_a_folder_says_that_it_cannot(own):
    home, _, _ = own

    with pytest.raises(SettingsError, match="cannot be asked within folders"):
        Request.make(home, "bm25s", None, ["Town"], None)
    assert Request.make(home, "bm25s,keyword", None, ["Town"], None).variants == ("keyword",)


def test_rows_and_values_hold_no_time_when_none_is_wanted(own, tmp_path):
    home, _, second = own
    _, scores, _ = ask(home, second, variants="keyword,keyword:k=20:cap=1")

    write_rows(tmp_path / "out", scores, with_times=False)
    values = as_values(second, scores, with_times=False)

    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["keyword.jsonl", "keyword_k-20_cap-1.jsonl"]
    assert '"ms"' not in (tmp_path / "out" / "keyword.jsonl").read_text()
    assert "_ms" not in json.dumps(values)
    assert values["variants"]["keyword"]["n"] == len(TOPICS)


def kb_eval(home, *options):
    told = CliRunner().invoke(command, [*options, "--variant", "keyword", "--home", str(home.root)])
    if isinstance(told.exception, Exception) and not isinstance(told.exception, SystemExit):
        raise told.exception
    return told


def test_half_a_build_is_scored_with_a_warning(own):
    home, _, second = own
    assert "pending" not in kb_eval(home).stderr

    report = Builds(home.data).report(second)
    Builds(home.data).write_report(second, {**report, "is_complete": 0})

    assert "Parts of this build are pending" in kb_eval(home).stderr


def test_a_slip_in_an_option_is_told_before_anything_is_asked(own, monkeypatch):
    home, _, _ = own
    monkeypatch.setattr(Request, "ask", lambda *_: pytest.fail("it was asked"))

    with pytest.raises(StoreError, match="No build begins"):
        kb_eval(home, "--against", "zz")
    with pytest.raises(SettingsError, match=r"\.svg or \.png"):
        kb_eval(home, "--sweep", "k", "--plot", "k.pdf")
    assert kb_eval(home, "--plot", "k.svg").exit_code == 2


def test_the_command_says_what_moved_and_what_could_not_be_compared(own):
    home, first, _ = own

    told = kb_eval(home, "--against", first[:8], "--json")

    values = json.loads(told.stdout.splitlines()[-1])
    assert values["against"] == first
    assert values["not_compared"] == {"keyword": 0}
