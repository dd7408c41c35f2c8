"""The sample vault's own questions: counted exactly, and every quote really in its note."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kb_command import ROOT

VAULT = ROOT / "data" / "sample_vault"
FILES = {name: ROOT / "data" / "eval" / f"sample-{name}.jsonl" for name in ("dev", "test")}
COUNTS = {
    "dev": {
        "single_fact": 3,
        "multi_hop": 3,
        "roll_up": 3,
        "temporal": 2,
        "modality_trap": 2,
        "broad_theme": 2,
        "alias": 1,
        "unanswerable": 1,
    },
    "test": {
        "single_fact": 5,
        "multi_hop": 5,
        "roll_up": 4,
        "temporal": 4,
        "modality_trap": 3,
        "broad_theme": 3,
        "alias": 3,
        "disambiguation": 1,
        "unanswerable": 2,
    },
}
KEYS = [
    *("id", "question", "category", "language", "principal", "as_of"),
    *("essential", "supporting", "distractors", "facts", "expected", "reason"),
]
QUOTE_CHARS = range(20, 161)

Row = dict[str, Any]


def read_rows(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


ROWS = {name: read_rows(file) for name, file in FILES.items()}
ALL_ROWS = [row for rows in ROWS.values() for row in rows]
each_question = pytest.mark.parametrize("row", ALL_ROWS, ids=[row["id"] for row in ALL_ROWS])


def folded(text: str) -> str:
    return " ".join(text.split())


def read_note(path: str) -> str:
    return folded((VAULT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_each_file_holds_its_share_of_every_category(name):
    assert Counter(row["category"] for row in ROWS[name]) == COUNTS[name]


def test_both_files_together_hold_forty_seven_questions():
    assert [len(rows) for rows in ROWS.values()] == [17, 30]


@pytest.mark.parametrize("key", ["id", "question"])
def test_no_id_and_no_question_stands_twice(key):
    values = [folded(row[key]).casefold() for row in ALL_ROWS]

    assert len(set(values)) == len(values)


@each_question
def test_a_row_has_its_keys_in_order(row):
    assert list(row) == KEYS
    assert (row["language"], row["principal"], row["as_of"]) == ("en", "owner", None)


@each_question
def test_an_id_names_its_category(row):
    assert row["id"].startswith(f"sample-{row['category']}-")


@each_question
def test_a_question_asks_and_gives_its_reason(row):
    assert row["question"].endswith(("?", "."))
    assert row["reason"].endswith(".")


@each_question
def test_every_note_is_in_the_vault_and_has_one_role(row):
    notes = [*row["essential"], *row["supporting"], *row["distractors"]]

    assert len(set(notes)) == len(notes)
    assert [note for note in notes if not (VAULT / note).is_file()] == []


@each_question
def test_every_essential_note_gives_a_fact_and_no_other_note_does(row):
    assert {fact["note"] for fact in row["facts"]} == set(row["essential"])


@each_question
def test_every_quote_stands_in_its_note(row):
    for fact in row["facts"]:
        assert list(fact) == ["fact", "note", "quote"]
        assert folded(fact["quote"]) in read_note(fact["note"])


@each_question
def test_every_quote_is_evidence_and_short(row):
    assert [f["quote"] for f in row["facts"] if len(f["quote"]) not in QUOTE_CHARS] == []


@each_question
def test_only_what_the_vault_does_not_answer_is_refused(row):
    is_unanswerable = row["category"] == "unanswerable"

    assert row["expected"] == ("refuse" if is_unanswerable else "answer")
    assert bool(row["essential"]) != is_unanswerable


@each_question
def test_a_category_has_the_notes_it_needs(row):
    if row["category"] == "multi_hop":
        assert len(row["essential"]) >= 2
    if row["category"] in ("temporal", "modality_trap"):
        assert row["distractors"]
