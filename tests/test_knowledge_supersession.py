"""What supersedes what by its date, what is a set, and what is in conflict."""

import time
from collections.abc import Callable

import pytest

from kb_knowledge.records import Claim
from tests.made_evidence import (
    KILN,
    Told,
    related,
    stated_by,
    states,
)


def test_a_later_written_date_supersedes() -> None:
    known = stated_by(("9 kW", "2024-05-01"), ("8 kW", "2024-03"), ("7 kW", "2023"))
    assert states(known) == [
        ("7 kW", "superseded", "2024-03"),
        ("8 kW", "superseded", "2024-05-01"),
        ("9 kW", "current", None),
    ]
    assert related(known) == [("7 kW", "SUPERSEDED_BY", "8 kW"), ("8 kW", "SUPERSEDED_BY", "9 kW")]


def test_the_same_value_written_later_supersedes_nothing() -> None:
    known = stated_by(("9 kW", "2024-05-01"), ("9000 W", "2024-03"))
    assert {each.state for each in known.claims} == {"current"}


def test_a_value_that_came_back_was_superseded_in_between() -> None:
    known = stated_by(("9 kW", "2021"), ("8 kW", "2022"), ("9 kW", "2023"))
    assert [
        each.state for each in sorted(known.claims, key=lambda each: each.written_date or "")
    ] == [
        "superseded",
        "superseded",
        "current",
    ]


def test_what_holds_from_later_is_not_written_later() -> None:
    known = stated_by(("8 kW", "2024-03"), ("9 kW", "2024-03"))
    assert related(known)[0][1] == "CONFLICTS_WITH"
    told = Told()
    for at, day in enumerate(("2020-01", "2030-01")):
        place = told.chunk(f"{at}.md", written_date="2024-03")
        place.states("power", f"{at} kW", subject=KILN, valid_from=day)
    assert {each.state for each in told.known().claims} == {"current"}


@pytest.mark.parametrize(
    "dates", [("2024", "2024-03-05"), ("2024-03", "2024-03-05"), ("2024", "2024")]
)
def test_differing_values_of_one_date_conflict_at_the_coarser_precision(
    dates: tuple[str, str],
) -> None:
    known = stated_by(("8 kW", dates[0]), ("9 kW", dates[1]))
    assert {each.state for each in known.claims} == {"current"}
    assert [each.kind for each in known.relations] == ["CONFLICTS_WITH"]


def test_entries_of_one_note_never_conflict() -> None:
    told = Told()
    for piece, date in enumerate(("2024-03", "2024-03-05")):
        place = told.chunk("Log.md", piece, written_date=date, is_dated=True)
        place.states("power", f"{piece} kW")
    assert told.known().relations == []


def test_a_settled_conflict_is_none() -> None:
    known = stated_by(("7 kW", "2024-03-05"), ("8 kW", "2024-03-05"), ("9 kW", "2024-06"))
    assert {kind for _, kind, _ in related(known)} == {"SUPERSEDED_BY"}


@pytest.mark.parametrize("is_weak", [True, False])
def test_a_weak_date_or_none_orders_nothing(is_weak: bool) -> None:
    told = Told()
    told.chunk("A.md", written_date="2020").states("power", "8 kW", subject=KILN)
    date = "2024" if is_weak else None
    place = told.chunk("B.md", written_date=date, written_is_weak=is_weak)
    place.states("power", "9 kW", subject=KILN)
    assert states(told.known()) == [("8 kW", "current", None), ("9 kW", "undated", None)]
    assert told.known().relations == []


@pytest.mark.parametrize("modality", ["plan", "opinion", "hypothetical", "ai_suggestion"])
def test_what_is_no_fact_never_supersedes_one(modality: str) -> None:
    told = Told()
    told.chunk("A.md", written_date="2020").states("power", "8 kW", subject=KILN)
    place = told.chunk("B.md", written_date="2024")
    place.states("power", "9 kW", subject=KILN, modality=modality)
    assert states(told.known()) == [("8 kW", "current", None), ("9 kW", "current", None)]


def test_a_fact_marks_the_plan_it_contradicts() -> None:
    told = Told()
    told.chunk("A.md", written_date="2020").states("power", "9 kW", subject=KILN, modality="plan")
    told.chunk("B.md", written_date="2024").states(
        "power", "8 kW", subject=KILN, modality="reported"
    )
    assert related(told.known()) == [("9 kW", "SUPERSEDED_BY", "8 kW")]


def test_two_opinions_of_a_day_are_no_conflict() -> None:
    assert not stated_by(
        ("good", "2024-05-01"), ("bad", "2024-05-01"), modality="opinion"
    ).relations
    assert stated_by(("8 kW", "2024-05-01"), ("9 kW", "2024-05-01"), modality="plan").relations


def test_values_side_by_side_are_a_set() -> None:
    told = Told()
    told.chunk("A.md", written_date="2024").states("colour", "red").states("colour", "blue")
    told.chunk("A.md", 1, written_date="2024").states("colour", "green")
    assert {each.state for each in told.known().claims} == {"current"}
    assert told.known().relations == []


def test_a_later_set_supersedes_what_is_not_in_it() -> None:
    told = Told()
    for at, (date, colours) in enumerate((("2023", "red blue"), ("2024", "blue green"))):
        place = told.chunk(f"{at}.md", written_date=date)
        for colour in colours.split():
            place.states("colour", colour, subject=KILN)
    known = told.known()
    assert [row for row in states(known) if row[1] != "current"] == [("red", "superseded", "2024")]
    assert not [each for each in known.relations if each.kind == "CONFLICTS_WITH"]


def test_entries_of_one_log_order_by_their_headings() -> None:
    told = Told()
    for piece, (date, value) in enumerate((("2024-05-02", "9 kW"), ("2024-04-01", "8 kW"))):
        place = told.chunk("Log.md", piece, written_date=date, is_dated=True)
        place.states("power", value)
    assert states(told.known()) == [
        ("8 kW", "superseded", "2024-05-02"),
        ("9 kW", "current", None),
    ]


def _many(count: int, make: Callable[[int], tuple[str, str]]) -> float:
    """Return the CPU seconds for claims of one attribute."""
    rows = [make(at) for at in range(count)]
    told = Told()
    for at, (value, date) in enumerate(rows):
        told.chunk(f"{at}.md", written_date=date).states("power", value, subject=KILN)
    start = time.process_time()
    told.known()
    return time.process_time() - start


@pytest.mark.parametrize(
    "make",
    [
        lambda at: ("same", f"{1000 + at}"),
        lambda at: (f"value {at}", "2024"),
        lambda at: (f"value {at % 2}", f"{1000 + at}"),
    ],
    ids=["all say the same", "all differ on one day", "to and fro"],
)
def test_many_claims_of_one_attribute_take_time_in_proportion(
    make: Callable[[int], tuple[str, str]],
) -> None:
    few, many = (min(_many(size, make) for _ in range(3)) for size in (500, 4000))
    assert many < 40 * few  # eight times as many: 64 times as long if compared in pairs


def test_conflicts_beyond_what_anybody_reads_are_counted() -> None:
    known = stated_by(*((f"{at} kW", "2024") for at in range(23)))
    assert len(known.relations) == 20 * 19 // 2
    assert known.counts == {"conflicts_not_compared": 3}
    assert all(isinstance(each, Claim) for each in known.claims)
