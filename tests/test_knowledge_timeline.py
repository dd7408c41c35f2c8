"""Logs and head lines, and what held on a day."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_knowledge.timeline import state_at
from tests.made_evidence import KILN, Told, claim, edited, logged, note, stated_by, states


def test_a_log_beats_the_head_line_for_the_past_and_not_for_the_present() -> None:
    known = logged(("2003-05-02", "draft"), ("2006-04-01", "accepted"))
    assert states(known) == [
        ("accepted", "superseded", "2024-01-01"),
        ("draft", "superseded", "2006-04-01"),
        ("final", "current", None),
    ]


def test_a_head_line_that_was_seen_later_says_nothing_of_the_day_asked_about() -> None:
    told = Told()
    told.chunk("Proposal.md", day=300, written_date="2003-01-01").states("status", "final")
    log = told.chunk("Log.md")
    log.states("status", "draft", subject=note("Proposal"), basis="log", valid_from="2003-05-02")
    assert states(told.known()) == [
        ("draft", "superseded", "2024-10-27"),
        ("final", "current", None),
    ]
    for day, head in ((299, "undated"), (300, "current")):
        assert claim(told.known(as_of_day=day), "final").state == head
    assert claim(told.known(as_of_day=299), "draft").state == "current"


def test_a_log_line_after_the_head_line_was_seen_supersedes_it() -> None:
    known = logged(("2003-05-02", "draft"), ("2024-06-01", "withdrawn"))
    assert claim(known, "final").until == "2024-06-01"
    assert claim(known, "withdrawn").state == "current"


def test_a_head_line_of_weak_date_counts_beside_a_log() -> None:
    known = logged(("2003-05-02", "draft"), written_is_weak=True)
    assert claim(known, "final").state == "current"
    assert claim(known, "draft").state == "superseded"


def test_a_log_that_is_gone_dates_no_head_line() -> None:
    told = Told()
    told.chunk("Proposal.md", written_is_weak=True).states("status", "final")
    log = told.chunk("Log.md", is_readable=False)
    log.states("status", "draft", subject=note("Proposal"), basis="log", valid_from="2003")
    assert claim(told.known(), "final").state == "undated"


def test_a_dated_entry_of_the_note_itself_is_no_head_line() -> None:
    known = logged(("2003-05-02", "draft"), is_dated=True)
    assert states(known) == [("draft", "current", None), ("final", "superseded", "2003-05-02")]


def test_two_log_lines_of_one_day_stand_side_by_side() -> None:
    known = logged(("2003-05-02", "draft"), ("2003-05-02", "active"), head="active")
    assert {each.until for each in known.claims if each.value == "draft"} == {"2024-01-01"}


@pytest.mark.parametrize(
    ("date", "held"),
    [
        ("2003-02", []),  # the head line does not say how it was before all logs
        ("2003-05-01", []),
        ("2003-05-02", ["draft"]),
        ("2003", ["draft"]),
        ("2005", ["draft"]),
        ("2006", ["accepted"]),  # at the end of the year
        ("2006-03", ["draft"]),
        ("2010", ["accepted"]),
        ("2025", ["final"]),
    ],
)
def test_the_state_on_a_day_is_what_the_log_says(date: str, held: list[str]) -> None:
    known = logged(("2003-05-02", "draft"), ("2006-04-01", "accepted"))
    assert [each.value for each in state_at(known.claims, date)] == held


def test_the_head_line_joins_the_log_where_both_say_the_same() -> None:
    known = logged(("2003-05-02", "draft"), ("2006-04-01", "final"))
    assert [each.basis for each in state_at(known.claims, "2010")] == ["log"]
    assert [each.value for each in state_at(known.claims, "2005-01")] == ["draft"]


def test_a_head_line_that_came_later_joins_the_log() -> None:
    told = edited(("draft",), ("final",), basis="header")
    log = told.chunk("Log.md")
    log.states("power", "final", subject=note("Kiln"), basis="log", valid_from="2024-01-05")
    found = {day: state_at(told.known().claims, day) for day in ("2024-01-10", "2024-01-11")}
    assert [sorted(e.basis for e in each) for each in found.values()] == [
        ["log"],
        ["header", "log"],
    ]


def test_a_head_line_that_ended_holds_before_the_log_begins() -> None:
    told = edited(("draft",), ("final",), basis="header")
    log = told.chunk("Log.md")
    log.states("power", "sealed", subject=note("Kiln"), basis="log", valid_from="2024-06-01")
    assert [each.value for each in state_at(told.known().claims, "2024-01-05")] == ["draft"]
    assert [each.value for each in state_at(told.known().claims, "2024-01-20")] == ["final"]


@pytest.mark.parametrize(
    ("day", "bases"), [("2003", ["log"]), ("2004", ["field"]), ("2006", ["log"])]
)
def test_a_dated_statement_elsewhere_counts_until_the_log_goes_on(
    day: str, bases: list[str]
) -> None:
    told = Told()
    log = told.chunk("Log.md")
    for date, value in (("2003", "draft"), ("2006", "final")):
        log.states("status", value, subject=KILN, basis="log", valid_from=date)
    other = told.chunk("Minutes.md", written_date="2004")
    other.states("status", "accepted", subject=KILN, basis="field")
    assert [each.basis for each in state_at(told.known().claims, day)] == bases


def test_without_a_log_the_state_on_a_day_is_what_was_written_by_then() -> None:
    known = edited(("8 kW",), ("9 kW",)).known()
    held = {day: [each.value for each in state_at(known.claims, day)] for day in (
        "2023", "2024-01-01", "2024-01-10", "2024-01-11", "2024", "2025")}  # fmt: skip
    assert list(held.values()) == [[], ["8 kW"], ["8 kW"], ["9 kW"], ["9 kW"], ["9 kW"]]


def test_rows_of_a_dated_table_hold_from_their_day() -> None:
    told = Told()
    place = told.chunk("Prices.md", written_date="2025-03-14")
    for day, price in (("2023", "£1,890"), ("2024-06-01", "£2,050"), ("2025-04-01", "£2,190")):
        place.states("price", price, subject=KILN, basis="table", valid_from=day)
    known = told.known()
    assert {each.state for each in known.claims} == {"current"}
    asked = ("2022", "2024-05-31", "2024-06-01", "2024", "2026")
    held = [[each.value for each in state_at(known.claims, day)] for day in asked]
    assert held == [[], ["£1,890"], ["£2,050"], ["£2,050"], ["£2,190"]]


def test_a_row_that_holds_from_a_later_day_beats_what_was_written_before() -> None:
    told = Told()
    told.chunk("Minutes.md", written_date="2024-01").states(
        "price", "£2,000", subject=KILN, basis="field"
    )
    table = told.chunk("Prices.md", written_date="2025-03-14")
    table.states("price", "£2,050", subject=KILN, basis="table", valid_from="2024-06-01")
    claims = told.known().claims
    held = [[each.value for each in state_at(claims, day)] for day in ("2024-05", "2024-07")]
    assert held == [["£2,000"], ["£2,050"]]


def test_what_has_no_date_or_ended_holds_on_no_day() -> None:
    told = Told()
    told.chunk("A.md", written_date=None).states("power", "8 kW")
    told.chunk("B.md", written_is_weak=True).states("power", "9 kW")
    told.chunk("C.md").states("power", "7 kW", valid_from="2020", valid_to="2021-06")
    known = told.known()
    assert [each.value for each in state_at(known.claims, "2021-06-30")] == ["7 kW"]
    assert state_at(known.claims, "2021-07") == []
    assert state_at(known.claims, "2030") == []


def test_states_of_many_things_are_told_apart_and_keep_their_order() -> None:
    told = Told()
    for path in ("A.md", "B.md"):
        told.chunk(path).states("power", "8 kW").states("colour", "red")
    claims = told.known().claims
    assert state_at(claims, "2024") == list(claims)
    assert state_at(list(reversed(claims)), "2024") == list(reversed(claims))


_NOTED = st.tuples(
    st.sampled_from("abc"), st.sampled_from(["2023", "2024", "2024-03", "2025-01-02"])
)


@given(st.lists(_NOTED, max_size=8))
def test_what_holds_on_a_day_had_begun_and_had_not_ended(rows: list[tuple[str, str]]) -> None:
    known = stated_by(*rows)
    for day in ("2022", "2023", "2024-03", "2026"):
        for each in state_at(known.claims, day):
            assert (each.written_date or "~") <= f"{day}~"
            assert each.until is None or each.until > day
