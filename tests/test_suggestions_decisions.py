"""Kept and dropped suggestions, and questions that no longer hold."""

import stat

import pytest

from eval_assets.questions import Fact, Question, read_questions
from eval_assets.suggestions.decisions import Decisions
from eval_assets.suggestions.standing import Standing
from kb_core.errors import SettingsError
from resources.home import Home


def row(name: str, quote: str = "East pier", note: str = "Work/Plan.md", **more) -> Question:
    fact = Fact(fact="it is east", note=note, quote=quote)
    return Question(
        id=name, question="Which pier?", category="single_fact", essential=(note,), facts=(fact,),
        **more,
    )  # fmt: skip


@pytest.fixture
def home(tmp_path) -> Home:
    (tmp_path / "kb.toml").write_text("")
    return Home.open(tmp_path)


def test_kept_questions_are_on_the_disk_at_once_and_for_the_user_alone(home):
    decisions = Decisions(home)
    decisions.keep([row("own-0000000001")])
    decisions.keep([row("own-0000000002")])
    decisions.keep([row("own-0000000001").model_copy(update={"question": "Which one?"})])
    file = home.data / "eval" / "questions.jsonl"
    assert [(each.id, each.question) for each in read_questions(file)] == [
        ("own-0000000001", "Which one?"),
        ("own-0000000002", "Which pier?"),
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_dropped_ids_are_remembered_and_a_dropped_question_is_scored_no_longer(home):
    decisions = Decisions(home)
    decisions.keep([row("own-0000000001")])
    assert decisions.drop("own-0000000001") is True
    assert decisions.drop("own-0000000002") is False
    assert Decisions(home).kept() == []
    assert Decisions(home).dropped() == ["own-0000000001", "own-0000000002"]
    assert Decisions(home).taken() == {"own-0000000001", "own-0000000002"}


def test_a_damaged_list_of_dropped_ids_is_said_with_its_path(home):
    file = home.data / "eval" / "dropped.json"
    file.parent.mkdir(parents=True)
    for text in ("{", "[]", '{"dropped": [1]}', '{"dropped": "x"}'):
        file.write_text(text)
        with pytest.raises(SettingsError, match=r"dropped\.json is damaged"):
            Decisions(home).dropped()


def test_questions_whose_notes_or_quotes_are_gone_are_broken():
    standing = Standing({"Work/Plan.md": [(False, "West  pier"), (True, "The East\npier.")]})
    assert standing.broken([row("a"), row("b", quote="East  pier")]) == []
    (gone,) = standing.broken([row("c", note="Work/Gone.md")])
    assert (gone.id, gone.missing_notes, gone.missing_quotes) == ("c", ("Work/Gone.md",), ())
    (changed,) = standing.broken([row("d", quote="West pier")])
    assert (changed.missing_notes, changed.missing_quotes) == ((), ("Work/Plan.md",))


def test_a_question_about_an_earlier_day_may_rest_on_an_earlier_version():
    standing = Standing({"Work/Plan.md": [(False, "West pier")]})
    assert standing.broken([row("a", quote="West pier", as_of="2024-05-02")]) == []
    assert len(standing.broken([row("b", quote="West pier")])) == 1
