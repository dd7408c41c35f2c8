"""What becomes of what a note said before it was edited."""

from tests.made_evidence import KILN, Told, claim, edited, note, related, states


def test_an_edit_in_place_supersedes_since_the_day_it_was_seen() -> None:
    known = edited(("8 kW",), ("8,000 W",), ("9 kW",)).known()
    assert states(known) == [("8,000 W", "superseded", "2024-01-21"), ("9 kW", "current", None)]
    assert related(known) == [("8,000 W", "SUPERSEDED_BY", "9 kW")]
    assert [claim(known, value).written_date for value in ("8,000 W", "9 kW")] == [
        "2024-01-01",
        "2024-01-21",
    ]


def test_an_edit_that_only_dates_a_value_replaces_it_by_itself() -> None:
    told = edited(("8 kW",), ("7 kW", "8,000 W"))
    told.claims[2] = told.claims[2]._replace(valid_from="2024-01-05")
    assert related(told.known()) == [("8 kW", "SUPERSEDED_BY", "8,000 W")]


def test_an_edit_replaces_a_dated_value_by_that_of_the_same_day() -> None:
    told = edited(("8 kW",), ("7 kW", "9 kW"))
    told.claims = [
        each._replace(valid_from="2024-01-05") if each.value != "7 kW" else each
        for each in told.claims
    ]
    assert related(told.known()) == [("8 kW", "SUPERSEDED_BY", "9 kW")]


def test_the_first_version_in_view_is_dated_by_its_note() -> None:
    told = Told()
    told.chunk("Kiln.md", version=2, day=10).states("power", "8 kW")
    assert claim(told.known(), "8 kW").written_date == "2024-01-01"


def test_an_undated_note_is_ordered_by_its_edits() -> None:
    told = edited(("8 kW",), ("9 kW",))
    told.chunks = [row._replace(written_date=None) for row in told.chunks]
    assert states(told.known()) == [("8 kW", "superseded", "2024-01-11"), ("9 kW", "current", None)]


def test_a_value_whose_attribute_is_gone_is_no_longer_stated() -> None:
    assert states(edited(("8 kW",), (), ()).known()) == [("8 kW", "no longer stated", "2024-01-11")]


def test_what_is_left_out_of_a_set_is_no_longer_stated() -> None:
    known = edited(("8 kW", "9 kW"), ("9 kW",)).known()
    assert states(known) == [("8 kW", "no longer stated", "2024-01-11"), ("9 kW", "current", None)]


def test_what_was_left_out_is_not_superseded_by_what_stayed() -> None:
    told = edited(("8 kW",), ("8 kW", "9 kW"), ("9 kW",), subject=KILN)
    told.chunk("Old.md", written_date="2020").states("power", "7 kW", subject=KILN)
    assert states(told.known())[1:] == [
        ("8 kW", "no longer stated", "2024-01-21"),
        ("9 kW", "current", None),
    ]


def test_a_version_without_the_attribute_does_not_end_a_claim() -> None:
    assert states(edited(("8 kW",), (), ("8 kW",)).known()) == [("8 kW", "current", None)]


def test_a_value_edited_there_and_back_is_two_claims() -> None:
    known = edited(("8 kW",), ("9 kW",), ("8 kW",)).known()
    assert states(known) == [
        ("8 kW", "current", None),
        ("8 kW", "superseded", "2024-01-11"),
        ("9 kW", "superseded", "2024-01-21"),
    ]


def test_nothing_of_a_note_that_is_gone_is_current() -> None:
    told = Told()
    place = told.chunk("Gone.md", is_readable=False, day=5)
    place.states("power", "8 kW", subject=KILN).states("power", "7 kW")
    told.chunk("Other.md").speaks_of(KILN)
    known = told.known()
    assert states(known) == [("8 kW", "no longer stated", "2024-01-06")]
    assert known.counts == {"of_what_is_gone": 1}


def test_what_is_no_longer_stated_supersedes_nothing() -> None:
    told = Told()
    told.chunk("Gone.md", is_readable=False, written_date="2024").states(
        "power", "8 kW", subject=KILN
    )
    told.chunk("Other.md", written_date="2023").states("power", "7 kW", subject=KILN)
    assert states(told.known()) == [
        ("7 kW", "current", None),
        ("8 kW", "no longer stated", "2024-01-01"),
    ]


def test_an_edit_that_makes_a_fact_a_plan_does_not_supersede_it() -> None:
    told = edited(("8 kW",), ("9 kW",))
    told.claims[1] = told.claims[1]._replace(modality="plan")
    assert states(told.known()) == [
        ("8 kW", "no longer stated", "2024-01-11"),
        ("9 kW", "current", None),
    ]


def test_a_claims_id_outlives_later_versions_that_say_the_same() -> None:
    one = edited(("8 kW",)).known()
    two = edited(("8 kW",), ("8 kW",)).known()
    assert claim(one, "8 kW").claim_id == claim(two, "8 kW").claim_id
    assert claim(two, "8 kW").version_id == "Kiln.md@2"


def test_ids_tell_apart_all_that_claims_differ_in() -> None:
    told = Told()
    place = told.chunk("Kiln.md")
    place.states("power", "8 kW").states("power", "8 kW", modality="plan").states("rating", "8 kW")
    place.states("power", "8 kW", valid_from="2024").states("power", "8 kW", valid_to="2024")
    place.states("power", "8 kW", subject=KILN).states("power", "9 kW")
    told.chunk("Kiln.md", 1, is_dated=True).states("power", "8 kW")
    told.chunk("Other.md").states("power", "8 kW", subject=note("Kiln"))
    dated = told.chunk("Kiln.md", 2, is_dated=True)
    for basis in ("field", "log"):
        dated.states("power", "6 kW", basis=basis, valid_from="2024-01-01")
    assert len({each.claim_id for each in told.known().claims}) == 11
