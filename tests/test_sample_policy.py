"""The policy questions: what each may and may not find, held against a walk over the notes."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.kb_command import ROOT
from tests.sample_notes import (
    PRINCIPALS,
    available,
    decode,
    history_rows,
    instant,
    linked,
    meant,
    named,
    note_paths,
    properties,
    properties_of,
    read_principals,
    tenant_of,
    version_bytes,
)

KEYS = [
    *("id", "question", "category", "language", "principal", "as_of", "start", "links", "depth"),
    *("attach", "required", "forbidden", "future", "expected", "candidates", "reason"),
]
ROLES = ("required", "forbidden", "future")
FILE = ROOT / "data" / "eval" / "policy.jsonl"

Row = dict[str, Any]
ROWS: list[Row] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
PRINCIPAL = read_principals()
each_question = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
answered = pytest.mark.parametrize(
    "row", [row for row in ROWS if row["expected"] == "answer"], ids=lambda row: row["id"]
)
asked_back = pytest.mark.parametrize(
    "row", [row for row in ROWS if row["expected"] == "ask_back"], ids=lambda row: row["id"]
)


def targets(note: str, names: list[str], sees: Callable[[str], bool]) -> list[str]:
    """Return where a note's properties lead: of each link, the first note that may be seen."""
    found = []
    for name in names:
        for target in linked(properties(note), name):
            found += [next((each for each in meant(note, target) if sees(each)), None)]
    return [each for each in found if each]


def walk(row: Row, start: str, sees: Callable[[str], bool]) -> tuple[set[str], set[str]]:
    """Return the assets reached within a question's depth, and the documents attached to them."""
    reached, edge = {start}, [start]
    for _ in range(row["depth"]):
        steps = [each for note in edge for each in targets(note, row["links"], sees)]
        edge = sorted({n for n in steps if properties(n).get("type") == "asset"} - reached)
        reached |= set(edge)
    return reached, {each for note in reached for each in targets(note, row["attach"], sees)}


def seen_by(row: Row) -> Callable[[str], bool]:
    return PRINCIPAL[row["principal"]].sees


def known_to(row: Row) -> Callable[[str], bool]:
    """What the principal may see and could have seen at the question's instant."""
    at, sees = instant(row["as_of"]), seen_by(row)
    return lambda note: sees(note) and available(note) <= at


def starts(row: Row) -> list[str]:
    return [note for note in named(row["start"]) if known_to(row)(note)]


@each_question
def test_a_row_has_its_keys_in_order_and_its_constant_ones(row):
    assert list(row) == KEYS
    assert (row["category"], row["language"]) == ("policy", "en")
    assert (row["links"], row["attach"]) == (["depends_on"], ["has_manual"])
    assert row["question"].endswith(("?", "."))
    assert row["reason"].endswith(".")


def test_there_are_enough_questions_each_with_an_id_and_words_of_its_own():
    assert len(ROWS) >= 24
    assert [row["id"] for row in ROWS] == [f"policy-{n:02}" for n in range(1, len(ROWS) + 1)]
    assert len({row["question"].casefold() for row in ROWS}) == len(ROWS)


def test_the_questions_cover_every_depth_principal_and_way_to_fail():
    answers = [row for row in ROWS if row["expected"] == "answer"]

    assert {row["depth"] for row in answers} == {0, 1, 2, 3}
    assert {row["principal"] for row in answers} == set(PRINCIPAL)
    assert sum(bool(row["future"]) for row in answers) >= 5
    assert sum(bool(row["forbidden"]) for row in answers) >= 8
    assert Counter(len(row["candidates"]) for row in ROWS if row["expected"] == "ask_back") == {
        0: 6,
        2: 3,
    }


def test_the_principals_say_who_they_are():
    rows = json.loads(PRINCIPALS.read_text(encoding="utf-8"))

    assert list(rows) == ["owner", "quernstow-reader", "glass-reader", "marit"]
    assert all(
        list(row) == ["tenants", "groups", "about"] and row["about"] for row in rows.values()
    )


@each_question
def test_every_note_exists_and_has_one_role(row):
    notes = [note for role in ROLES for note in row[role]]

    assert set(notes) | set(row["candidates"]) <= set(note_paths())
    assert len(set(notes)) == len(notes)


@each_question
def test_an_instant_names_its_zone(row):
    assert row["as_of"] is None or dt.datetime.fromisoformat(row["as_of"]).tzinfo is not None


@answered
def test_an_answered_question_has_one_start_and_something_to_find(row):
    assert len(starts(row)) == 1
    assert row["required"]
    assert row["candidates"] == []


@answered
def test_exactly_the_documents_attached_to_permitted_machines_are_required(row):
    _, documents = walk(row, starts(row)[0], known_to(row))

    assert sorted(row["required"]) == sorted(documents)


@answered
def test_all_that_only_the_instant_keeps_out_is_named_as_future(row):
    reached, documents = walk(row, starts(row)[0], seen_by(row))
    known = known_to(row)

    assert {note for note in reached | documents if not known(note)} <= set(row["future"])


@answered
def test_all_that_only_the_policy_keeps_out_is_forbidden(row):
    start = starts(row)[0]
    beyond = set().union(*walk(row, start, lambda note: True))
    allowed = set().union(*walk(row, start, seen_by(row)))

    assert beyond - allowed <= set(row["forbidden"])


@each_question
def test_a_forbidden_note_is_another_s_or_lies_behind_one_that_is(row):
    behind: set[str] = set()
    for start in starts(row):
        beyond = set().union(*walk(row, start, lambda note: True))
        behind |= beyond - set().union(*walk(row, start, seen_by(row)))
    strangers = {note for note in row["forbidden"] if not seen_by(row)(note)}

    assert set(row["forbidden"]) - strangers <= behind


@each_question
def test_a_future_note_was_not_there_yet(row):
    at = instant(row["as_of"])

    assert [note for note in row["future"] if available(note) <= at] == []
    assert [note for note in row["future"] if not seen_by(row)(note)] == []


@asked_back
def test_a_start_that_is_asked_about_again_names_no_machine_or_several(row):
    assert row["required"] == []
    assert sorted(row["candidates"]) == sorted(starts(row))
    assert len(row["candidates"]) != 1


def test_a_start_that_only_another_may_know_looks_like_one_that_does_not_exist():
    hidden = [row for row in ROWS if not row["candidates"] and row["expected"] == "ask_back"]
    exists = [row for row in hidden if named(row["start"])]

    assert len(exists) >= 3
    assert len(hidden) - len(exists) >= 2
    assert {note for row in exists for note in named(row["start"])} <= {
        note for row in exists for note in (*row["forbidden"], *row["future"])
    }


def test_a_chain_of_machines_changes_tenant_twice():
    names = ("Sub-board", "Transformer", "Yard main switch")
    chain = [note for name in names for note in named(name)]

    assert [tenant_of(note) for note in chain] == ["main", "harbour-glass", "main"]
    assert targets(chain[0], ["depends_on"], lambda note: True) == [chain[1]]
    assert targets(chain[1], ["depends_on"], lambda note: True) == [chain[2]]


def test_no_answer_hangs_on_whether_earlier_versions_are_known():
    names = ("type", "title", "depends_on", "has_manual", "available_at", "date", "created")
    asked = {note for row in ROWS for role in (*ROLES, "candidates") for note in row[role]}
    rows = [row for row in history_rows() if row["note"] in asked]
    first = {row["note"]: row["observed_at"] for row in reversed(rows)}
    by_date = {note: at for note, at in first.items() if "available_at" not in properties(note)}

    assert len(first) >= 4
    for row in rows:
        earlier = properties_of(decode(version_bytes(row) or b"")) or {}
        now = properties(row["note"])
        assert {name: earlier.get(name) for name in names} == {
            name: now.get(name) for name in names
        }
    assert [n for n, at in by_date.items() if at[:10] != available(n).date().isoformat()] == []
