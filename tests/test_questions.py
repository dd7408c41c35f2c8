"""Question files: a slip is named with its place, and what was written is read back."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.questions import (
    Question,
    question_files,
    questions_text,
    read_questions,
    read_sets,
)
from kb_core.errors import SettingsError

ROW = {
    "id": "q1",
    "question": "What does the pier cost?",
    "category": "single_fact",
    "essential": ["Work/Pier.md"],
}


def write(folder: Path, *rows: object, name: str = "own.jsonl") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines), "utf-8")
    return file


def row(**changed: object) -> dict[str, object]:
    return {**ROW, **changed}


def test_what_is_left_out_has_its_default(tmp_path):
    (question,) = read_questions(write(tmp_path, ROW))

    assert (question.language, question.principal, question.as_of) == ("en", "owner", None)
    assert (question.expected, question.facts) == ("answer", ())


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path):
    file = write(tmp_path, "\ufeff" + json.dumps(ROW), "", "  ")

    assert len(read_questions(file)) == 1


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    file = write(tmp_path, json.dumps(row(question="one\u2028two?"), ensure_ascii=False))

    assert read_questions(file)[0].question == "one\u2028two?"


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (row(id=""), "id: "),
        (row(question=3), "question: "),
        (row(category="Single fact"), "category: "),
        (row(essential=[]), "names its essential notes"),
        (row(expected="refuse"), "another names none"),
        (row(expected="maybe"), "expected: input should be 'answer'"),
        (row(supporting=["Work/Pier.md"]), "1 notes have two roles"),
        (row(essential=["a.md", "a.md"]), "1 notes have two roles"),
        (
            row(facts=[{"fact": "f", "note": "b.md", "quote": "q"}]),
            "1 facts come from notes that answer nothing",
        ),
        (row(facts=[{"fact": "f", "note": "Work/Pier.md", "quote": ""}]), "facts.0.quote: "),
        (row(color="red"), "color: extra inputs"),
        ("{", "row: invalid json"),
        ("[]", "row: "),
    ],
)
def test_a_slip_is_told_with_its_line_and_key(tmp_path, slip, told):
    file = write(tmp_path, row(id="fine"), "", slip)

    with pytest.raises(SettingsError) as problem:
        read_questions(file)

    assert f"{file}, line 3: " in str(problem.value)
    assert told in str(problem.value)


def test_what_a_slip_says_never_repeats_the_question(tmp_path):
    file = write(tmp_path, row(question="quetzal", essential=[], expected="answer"))

    with pytest.raises(SettingsError) as problem:
        read_questions(file)

    assert "quetzal" not in str(problem.value)


def test_one_id_twice_is_refused_in_a_file_and_over_files(tmp_path):
    twice = write(tmp_path, ROW, ROW)
    with pytest.raises(SettingsError, match="'q1' more than once"):
        read_questions(twice)

    first, second = (write(tmp_path, ROW, name=f"{name}.jsonl") for name in "ab")
    with pytest.raises(SettingsError, match="'q1' stands in several files: a, b"):
        read_sets([first, second])


def test_a_file_that_is_none_is_told(tmp_path):
    with pytest.raises(SettingsError, match="There is no question file"):
        read_questions(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(SettingsError, match="cannot be read as UTF-8"):
        read_questions(tmp_path / "latin.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        read_questions(tmp_path / "folder.jsonl")


def test_the_homes_files_are_read_by_name_and_without_the_policy_set(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "policy.jsonl", "._a.jsonl", "a.json"):
        write(tmp_path / "eval", ROW, name=name)

    assert [file.name for file in question_files(tmp_path)] == ["a.jsonl", "b.jsonl"]
    assert question_files(tmp_path / "nowhere") == []


def test_a_note_is_known_by_its_composed_name(tmp_path):
    decomposed = unicodedata.normalize("NFD", "Café/Menü.md")
    fact = {"fact": "f", "note": decomposed, "quote": "q"}

    (question,) = read_questions(write(tmp_path, row(essential=[decomposed], facts=[fact])))

    assert question.essential == ("Café/Menü.md",)
    assert question.facts[0].note == "Café/Menü.md"


def test_the_reason_decides_no_score_and_everything_else_does():
    question = Question(**ROW)

    assert question.key() == Question(**row(reason="because")).key()
    others = [
        row(question="What did the pier cost?"),
        row(essential=["Work/Quay.md"]),
        row(supporting=["Work/Quay.md"]),
        row(distractors=["Work/Quay.md"]),
        row(facts=[{"fact": "f", "note": "Work/Pier.md", "quote": "q"}]),
        row(as_of="2024-01-01T00:00:00+00:00"),
        row(category="temporal"),
    ]
    assert len({question.key(), *(Question(**each).key() for each in others)}) == 8


def test_grades_are_those_of_the_roles():
    question = Question(**row(supporting=["s.md"], distractors=["d.md"], forbidden=["f.md"]))

    assert question.judgement.essential == (frozenset({"Work/Pier.md"}),)
    assert question.judgement.supporting == (frozenset({"s.md"}),)
    assert question.judgement.distractors == {"d.md"}
    assert question.grade_one == {"s.md", "d.md"}


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
notes = st.lists(texts.map(lambda text: unicodedata.normalize("NFC", text)), min_size=1, max_size=4)


@given(ids=st.lists(texts, unique=True, max_size=4), words=texts, essential=notes, reason=texts)
def test_what_is_written_is_read_back(tmp_path_factory, ids, words, essential, reason):
    rows = [
        Question(
            id=each,
            question=words,
            category="single_fact",
            essential=tuple(dict.fromkeys(essential)),
            reason=reason,
        )
        for each in ids
    ]
    file = tmp_path_factory.mktemp("read-back") / "own.jsonl"
    file.write_text(questions_text(rows), "utf-8", newline="")

    assert read_questions(file) == rows
