"""What kb.toml closes after a build is closed at once, and leaves no trace."""

import datetime as dt

import pytest

from kb_core.settings import read_settings
from kb_search.engine import Engine
from kb_search.live_rules import LiveRules, open_view
from kb_search.permissions import HandOver
from kb_search.policy import Policy, Principal
from resources.builds import Builds
from tests.built_home import NOW, build
from tests.permitted_home import (
    CLOSED,
    HERE,
    NOTES,
    READER,
    RULES,
    found,
    made,
    rewritten,
    search,
)
from tests.small_vault import put


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return made(tmp_path_factory.mktemp("permissions"))


def test_what_kb_toml_closes_after_the_build_is_absent_at_once(home, tmp_path):
    closed = rewritten(home, tmp_path, CLOSED)

    assert found(home, READER) == set(NOTES)
    assert found(home, READER, closed) == {"Own/Mine.md", "Else/Note.md"}
    assert found(home, HERE, closed) == set(NOTES)


def test_what_a_note_says_of_itself_goes_before_a_rule_that_came_later(home, tmp_path):
    closed = rewritten(home, tmp_path, CLOSED)
    stranger = Policy(Principal("anna", frozenset({"glass"}), frozenset({"anna"})))

    # In the body, where the words may be about anything, they open nothing.
    assert "Own/Field.md" not in found(home, READER, closed)
    assert "Own/Mine.md" not in found(home, stranger, closed)


def test_words_in_the_body_of_a_note_open_nothing_that_a_later_rule_closes(tmp_path):
    before = '[[folders]]\npath = "Else"\nreaders = ["reader"]\n'
    notes = {
        "Work/Tenant.md": "kiln\n\ntenant:: main\n",
        "Else/Field.md": "kiln\n\nreaders:: reader\n",
        "Else/Own.md": "---\nreaders: reader\n---\nkiln\n",
    }
    home = made(tmp_path, notes, RULES + before)
    later = CLOSED + before.replace('"reader"', '"anna"')
    closed = rewritten(home, tmp_path / "new", later, before)

    assert found(home, READER) == set(notes)
    assert found(home, READER, closed) == {"Else/Own.md"}


def test_an_answer_after_closing_is_that_of_a_vault_without_what_was_closed(home, tmp_path):
    closed = rewritten(home, tmp_path / "new", CLOSED)
    kept = {path: NOTES[path] for path in ("Own/Mine.md", "Else/Note.md")}
    alone = made(tmp_path / "alone", kept)

    shown, absent = (search(at, READER, how).to_json() for at, how in ((home, closed), (alone, 0)))

    assert {**shown, "build": ""} == {**absent, "build": ""}


def test_an_engine_that_is_open_sees_what_kb_toml_closes_meanwhile(tmp_path):
    home = made(tmp_path)
    engine = Engine.open(home.root, home.settings)
    before = engine.search("kiln", variant="keyword", policy=READER)
    with (home.root / "kb.toml").open("a") as file:
        file.write(CLOSED)
    after = engine.search("kiln", variant="keyword", policy=READER)

    assert len(before.results) == len(NOTES)
    assert after == search(home, READER, read_settings(home.root))  # counts and all
    assert {each.note for each in after.results} == {"Own/Mine.md", "Else/Note.md"}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"more": '[policy]\nexclude_notes = ["Work/*"]\n'}, {"Own", "Else"}),
        ({"more": '[[folders]]\npath = "Work"\nprivate = true\n'}, {"Work", "Own", "Else"}),
    ],
)
def test_here_a_later_rule_keeps_out_what_it_names(home, tmp_path, change, kept):
    notes = found(home, HERE, rewritten(home, tmp_path, **change))

    assert {note.partition("/")[0] for note in notes} == kept


@pytest.mark.parametrize(
    ("change", "kept", "told"),
    [
        ({}, {"Work", "Own"}, "1 note"),
        ({"more": '[[folders]]\npath = "Work"\nprivate = true\n'}, {"Own"}, "3 notes"),
        ({"without": '"Work", '}, {"Own"}, "3 notes"),
    ],
)
def test_a_hosted_model_is_sent_nothing_that_was_closed_meanwhile(
    home, tmp_path, change, kept, told
):
    result = search(home, Policy(is_sent=True), rewritten(home, tmp_path, **change))
    notes = {each.note for each in result.results}

    assert {note.partition("/")[0] for note in notes} == kept
    assert result.note == f"{told} stayed on this machine."


def test_what_was_closed_between_finding_and_handing_over_is_dropped(home, tmp_path):
    closed = rewritten(home, tmp_path, CLOSED)
    engine = Engine.open(home.root, home.settings)
    view = engine.view(None, READER)
    ranked = engine.search("kiln", variant="keyword", policy=READER).ranked
    over = HandOver(view, READER, closed)

    kept = over.ranked(ranked)

    assert {note.note_id for note in kept} == {"Own/Mine.md", "Else/Note.md"}
    assert [over.note(note) for note in ("Work/Kiln.md", "Own/Mine.md", "None.md")] == [0, 1, 0]
    assert [over.chunk(_chunk(ranked, note)) for note in ("Work/Kiln.md", "Own/Mine.md")] == [0, 1]
    assert not over.chunk("no such chunk")
    assert (over.withheld, over.words) == (0, "")


def _chunk(ranked, note):
    (chunk,) = next(each for each in ranked if each.note_id == note).chunks
    return chunk.folder.rows.chunk_ids[chunk.row].as_py()


def test_a_rule_closes_what_a_note_said_before_and_what_a_gone_note_said(tmp_path):
    says_so = "---\ntenant: main\n---\nkiln\n"
    notes = {
        "Work/Kiln.md": "kiln one\n",  # says whose it is since the second version
        "Work/Said.md": says_so,  # said so in the first one alone
        "Work/Gone.md": "kiln gone\n",
        "Own/Gone.md": "---\ntenant: main\nreaders: reader\n---\nkiln\n",
    }
    home = made(tmp_path, notes)
    put(tmp_path / "vault", "Work/Kiln.md", says_so)
    put(tmp_path / "vault", "Work/Said.md", "kiln two\n")
    for folder in ("Work", "Own"):
        (tmp_path / "vault" / folder / "Gone.md").unlink()
    Builds(home.data).point_to(build(home, NOW + dt.timedelta(days=30), with_vectors=False))
    closed = rewritten(home, tmp_path / "new", CLOSED)
    then = Policy(READER.principal, as_of=NOW + dt.timedelta(days=1))

    assert found(home, then) == set(notes)
    assert found(home, then, closed) == {"Own/Gone.md"}
    assert found(home, READER, closed) == {"Work/Kiln.md"}
    assert remembered(home, home.settings) == set(notes)
    assert remembered(home, closed) == {"Own/Gone.md"}


def remembered(home, settings):
    """Return the notes whose earlier words are still known to the reader."""
    engine = Engine.open(home.root, settings)
    view = engine.view(None, READER)
    return {
        folder.rows.note_id(row)
        for folder in engine.build.folders
        for row, is_in in enumerate(view.remembered(folder))
        if is_in
    }


def test_the_owner_s_own_door_asks_nothing(home):
    engine = Engine.open(home.root, home.settings)

    assert engine.hand_over(engine.view(None, HERE), HERE).hands_over_all
    assert not engine.hand_over(engine.view(None, READER), READER).hands_over_all


def test_a_view_is_opened_twice_only_where_rules_could_close_something(home):
    engine = Engine.open(home.root, home.settings)

    assert not LiveRules(home.settings, HERE).may_close
    assert open_view(engine.build, None, HERE, home.settings).policy == HERE
