"""The graph layer: which notes go first, which lines are kept, and what is never walked through."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kb_knowledge.records import CONFLICTS_WITH, SUPERSEDED_BY
from kb_search.graph_layer import LINKS_PER_ENTITY, Limits
from kb_search.graph_walk import FRONT_NOTES
from tests.made_knowledge import Made, path
from tests.numbered_plans import GUILD, OFFICE, front, layer, no_score, plans

OLD, NEW, STONE = "Plan 1 - Old Pier", "Plan 2 - New Pier", "Plan 3 - Stone Pier"


def test_a_single_fact_puts_its_note_first():
    assert front("When was “Stone Pier” created?", base=(OLD, STONE)) == [STONE]


def test_what_is_in_force_goes_before_all_that_it_replaced():
    question = "Is “Old Pier” still in force, or what stands in its place?"
    assert front(question, base=(OLD, NEW)) == [STONE, NEW, OLD]


def test_two_steps_go_from_the_replacement_to_its_author():
    reader, layer_ = layer()
    answer = layer_.answer(
        reader.read("Who wrote the plan that replaced “Old Pier”?"), [], no_score
    )
    cores = [kept.line.core for kept in answer.lines if kept.is_implied]
    assert any(GUILD in core and core.startswith(NEW) for core in cores)
    assert not any(core.startswith(f"{OLD} authored") for core in cores)


def test_a_chain_goes_on_to_the_last_replacement():
    question = "“Old Pier” was replaced, and its replacement was replaced in turn. What came last?"
    assert front(question) == [STONE, NEW, OLD]


def test_without_a_chain_one_replacement_is_enough():
    assert front("Which plan replaced “Old Pier”?") == [NEW, OLD]


def test_a_state_picks_from_what_somebody_wrote():
    found = front(f"Which of {OFFICE}'s proposals were withdrawn?")
    assert found == ["Plan 3 - Stone Pier", "Plan 9 - Quay Number 9"]


def test_a_year_beside_an_attribute_picks_too():
    found = front(f"Of the plans created in 2016, which ones had {GUILD} as their delegate?")
    assert found == ["Plan 6 - Quay Number 6"]


def test_what_was_left_out_by_name_is_not_in_front():
    made = plans()
    made.note("Harbour Guild House")
    made.link("Harbour Guild House", "AUTHORED_BY", OFFICE)
    found = front(f"What did {OFFICE} (not Harbour Guild House) propose?", made=made)
    assert found
    assert "Harbour Guild House" not in found


def test_a_plan_that_was_never_in_force_is_a_line_and_not_put_first():
    made = Made()
    old, wish, new = made.note("Old Crane"), made.note("A Wished Crane"), made.note("New Crane")
    made.claim(old, "status", "Superseded")
    made.link(old, "SUPERSEDED_BY", wish, on=wish, modality="plan")
    made.link(old, "SUPERSEDED_BY", new)
    assert front("Which crane replaced “Old Crane”?", made=made) == [new, old]


def test_what_is_only_planned_of_an_attribute_is_not_put_first_either():
    made = Made()
    pier, wish = made.note("Stone Pier"), made.note("Wishes")
    made.claim(pier, "budget", "9,000", on=wish, modality="plan")
    assert front("What is the budget of “Stone Pier”?", made=made) == []


def test_the_state_on_a_day_comes_from_the_log_of_that_time():
    made = Made()
    pier = made.note("Stone Pier")
    early, late = made.note("Log 2019"), made.note("Log 2021")
    made.claim(pier, "status", "Final")
    made.claim(
        pier, "status", "Draft", on=early, basis="log", date="2019-02-01", since="2019-02-01"
    )
    made.claim(pier, "status", "Final", on=late, basis="log", date="2021-02-01", since="2021-02-01")
    question = "What was the status of “Stone Pier” on 2020-06-30?"
    assert front(question, base=(pier, late, early), made=made) == [early]


def test_a_date_behind_a_short_name_is_no_condition_either():
    made = Made()
    quay = made.note("Stonequay")
    early = made.note("Log 2019")
    made.claim(quay, "status", "Final")
    made.claim(
        quay, "status", "Draft", on=early, basis="log", date="2019-02-01", since="2019-02-01"
    )
    assert front("What was the status of Stonequay on 2020-06-30?", made=made) == [early]


def test_a_current_claim_goes_before_the_one_it_supersedes_and_both_are_kept():
    made = Made()
    pier = made.note("Stone Pier")
    old, new = made.note("Board 2019"), made.note("Board 2021")
    first = made.claim(pier, "budget", "4,000", on=old, state="superseded", date="2019-01-01")
    second = made.claim(pier, "budget", "5,000", on=new, date="2021-01-01")
    made.relate(first, SUPERSEDED_BY, second)
    reader, layer_ = layer(made)
    asked = reader.read("What is the budget of “Stone Pier”?")
    answer = layer_.answer(asked, [path(old)], no_score)
    assert answer.front == (path(new),)
    implied = [(kept.line.claim.value, kept.is_past) for kept in answer.lines if kept.is_implied]
    assert implied == [("5,000", False), ("4,000", True)]


def asked_today(today):
    """Three rows of one price list, asked on a day: value, and whether it is past."""
    made = Made()
    crane, prices = made.note("Red Crane"), made.note("Price list")
    for price, day in (("400", "2020-01-01"), ("450", "2022-01-01"), ("480", "2024-01-01")):
        made.claim(crane, "price", price, on=prices, basis="table", date="2019-01-01", since=day)
    reader, layer_ = layer(made)
    asked = replace(reader.read("What is the price of the Red Crane?"), today=today)
    answer = layer_.answer(asked, [], no_score)
    assert answer.front == (path(prices),)
    return [(kept.line.claim.value, kept.is_past) for kept in answer.lines if kept.is_implied]


def test_of_the_rows_of_one_list_that_in_force_today_goes_first():
    assert asked_today("2023-05-01")[0] == ("450", False)
    assert asked_today("2024-05-01")[0] == ("480", False)


def test_the_rows_of_one_list_that_were_in_force_before_are_kept_and_marked():
    assert sorted(asked_today("2024-05-01")) == [("400", True), ("450", True), ("480", False)]


def test_a_row_that_is_still_to_come_is_no_past_one_and_does_not_go_first():
    assert asked_today("2023-05-01")[0] == ("450", False)
    assert sorted(asked_today("2023-05-01")) == [("400", True), ("450", False), ("480", False)]


def test_of_a_long_list_only_the_latest_rows_are_taken_as_asked_for():
    made = Made()
    crane, prices = made.note("Red Crane"), made.note("Price list")
    for year in range(1900, 2000):
        made.claim(crane, "price", str(year), on=prices, basis="table", since=f"{year}-01-01")
    reader, layer_ = layer(made)
    asked = replace(reader.read("What is the price of the Red Crane?"), today="1989-06-01")
    answer = layer_.answer(asked, [], no_score)
    implied = [kept.line.claim.value for kept in answer.lines if kept.is_implied]
    assert implied[0] == "1989"
    assert len(implied) == 1 + LINKS_PER_ENTITY
    assert {"1988", "1999"} <= set(implied)


def test_beside_a_log_what_has_no_date_says_nothing_of_now():
    made = Made()
    pier, log = made.note("Stone Pier"), made.note("Log 2019")
    made.claim(pier, "status", "Final", state="undated")
    made.claim(pier, "status", "Draft", on=log, basis="log", date="2019-02-01", since="2019-02-01")
    assert front("What is the status of “Stone Pier”?", base=(pier, log), made=made) == [log]


def test_claims_that_disagree_are_marked():
    made = Made()
    pier = made.note("Stone Pier")
    one = made.claim(pier, "budget", "4,000")
    two = made.claim(pier, "budget", "5,000")
    made.relate(one, CONFLICTS_WITH, two)
    reader, layer_ = layer(made)
    answer = layer_.answer(reader.read("What is the budget of “Stone Pier”?"), [], no_score)
    assert [kept.is_disputed for kept in answer.lines] == [True, True]


def test_no_way_leads_through_a_hub():
    made = plans()
    made.hubs = {NEW}
    question = "“Old Pier” was replaced, and its replacement was replaced in turn. What came last?"
    assert STONE not in front(question, made=made)


def test_a_hub_may_be_the_start():
    made = plans()
    made.hubs = {OLD}
    assert front("Which plan replaced “Old Pier”?", made=made) == [NEW, OLD]


def test_a_question_without_a_name_leaves_the_base_ranking_alone():
    assert front("Which plans were withdrawn?", base=(OLD, NEW)) == []


def test_what_is_asked_for_is_never_trimmed_and_the_rest_has_to_be_near():
    reader, layer_ = layer()
    asked = reader.read("Which plan replaced “Old Pier”?")

    def score(lines):
        return [0.9 if "created" in line.core else 0.1 for line in lines]

    kept = layer_.answer(asked, [], score, Limits(margin=0.15)).lines
    assert [each.is_implied for each in kept] == [True, False]
    assert (kept[0].line.link.type, kept[1].line.claim.attribute) == ("SUPERSEDED_BY", "created")
    everything = layer_.answer(asked, [], score, Limits(margin=None))
    assert (len(everything.lines) > len(kept), everything.trimmed) == (True, 0)


def test_so_many_links_of_one_thing_are_taken_and_so_many_notes_put_first():
    made = Made()
    made.name(OFFICE)
    for at in range(60):
        made.link(made.note(f"Sheet Number {at}"), "AUTHORED_BY", OFFICE)
    reader, layer_ = layer(made)
    answer = layer_.answer(reader.read(f"What did {OFFICE} write?"), [], no_score)
    assert len(answer.front) == FRONT_NOTES
    assert len(answer.lines) == LINKS_PER_ENTITY


def test_of_many_those_that_the_base_ranking_found_come_first():
    made = Made()
    made.name(OFFICE)
    for at in range(60):
        made.link(made.note(f"Sheet Number {at}"), "AUTHORED_BY", OFFICE)
    base = ("Sheet Number 51", "Sheet Number 7")
    assert front(f"What did {OFFICE} write?", base=base, made=made)[:2] == list(base)


def test_what_connects_two_things_that_are_named_is_kept():
    reader, layer_ = layer()
    asked = reader.read("How are “Old Pier” and “New Pier” connected?")
    answer = layer_.answer(asked, [], no_score, Limits(margin=-1.0))
    assert [kept.line.link.type for kept in answer.lines] == ["SUPERSEDED_BY"]


def test_what_is_named_and_has_nothing_of_what_is_asked_lacks_it():
    reader, layer_ = layer()
    lacking = layer_.answer(
        reader.read("Who was the delegate of “Old Pier”?"), [], no_score
    ).lacking
    assert lacking == ("DELEGATED_TO",)
    assert not layer_.answer(reader.read("Who wrote “Old Pier”?"), [], no_score).lacking


@settings(max_examples=50)
@given(st.permutations(list(range(6))), st.integers(0, 5))
def test_the_order_of_the_base_ranking_never_adds_or_drops_notes(order, asked_at):
    titles = list(plans().entities)[:6]
    question = f"What became of “{titles[asked_at]}”?"
    base = tuple(titles[at] for at in order)
    assert sorted(front(question, base=base)) == sorted(front(question))
