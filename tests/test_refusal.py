"""When nothing found can answer: numbers nobody has, what others of a kind have, words too far."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.refusal import Kinds, decide
from kb_search.signals import Signals, covered, kind_asked_for
from tests.made_knowledge import Made
from tests.numbered_plans import GUILD, layer, no_score, plans

GOOD = Signals(covered=0.9, similarity=0.9)


def decided(question: str, signals: Signals = GOOD, made: Made | None = None):
    made = made or plans()
    reader, layer_ = layer(made)
    asked = reader.read(question)
    answer = layer_.answer(asked, [], no_score)
    return decide(asked, answer, Kinds(KnowledgeGraph(made.knowledge())), signals)


def test_a_number_that_nothing_has_is_refused():
    found = decided("What does plan 77 say about cranes?")
    assert (found.behaviour, "plan 77" in found.reason) == ("refuse", True)


def test_a_number_beside_a_name_is_not_refused():
    assert decided("Does “Old Pier” speak of plan 77?").behaviour == "answer"


def test_what_others_of_its_kind_have_is_refused_of_one_that_has_it_not():
    assert decided("Who was the delegate of “Old Pier”?").behaviour == "refuse"
    assert decided("Who was the delegate of “New Pier”?").behaviour == "answer"


def test_a_state_beside_what_is_lacking_is_no_answer():
    assert decided("Which delegate accepted “Old Pier”, and on what day?").behaviour == "refuse"


def test_the_direction_counts_for_what_is_lacking():
    made = plans()
    made.links = [each for each in made.links if each.source_id != "Plan 3 - Stone Pier"]
    assert decided("Which plan replaced “Stone Pier”?", made=made).behaviour == "refuse"
    assert decided("Which plan did “Stone Pier” replace?", made=made).behaviour == "answer"


def test_what_only_few_of_its_kind_have_is_not_refused():
    assert decided("What does “Old Pier” depend on?").behaviour == "answer"


def test_of_a_note_without_a_number_the_text_may_say_what_no_property_does():
    made = plans()
    made.note("Harbour Map")
    assert decided("Who was the delegate of “Harbour Map”?", made=made).behaviour == "answer"


def test_whether_something_is_still_in_force_is_answered_by_its_state():
    question = "Is “Quay Number 12” still in force?"
    made = plans()
    made.links = [each for each in made.links if each.target_id != "Work 12"]
    assert decided(question, made=made).behaviour == "answer"


def test_words_that_stand_nowhere_together_and_nothing_near_are_refused():
    assert decided("How heavy is it?", Signals(0.1, 0.5)).behaviour == "refuse"


@pytest.mark.parametrize("signals", [Signals(0.1, 0.99), Signals(0.9, 0.1)])
def test_either_words_or_nearness_is_enough_to_answer(signals):
    assert decided("How heavy is it?", signals).behaviour == "answer"


def test_what_no_note_speaks_of_is_refused_where_it_is_asked_for():
    found = decided("What salary is paid?", Signals(0.9, 0.9, absent="salary"))
    assert (found.behaviour, "salary" in found.reason) == ("refuse", True)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What salary does she get?", "salary"),
        ("Which cities were named?", "cities"),
        ("What does she get?", ""),
        ("Who gets what salary?", ""),
        ("What is it?", ""),
        ("What stands in its place?", ""),
        ("What happened to it?", ""),
        ("Which co-owner left?", ""),
    ],
)
def test_the_kind_asked_for_stands_right_behind_the_first_word(question, word):
    assert next(iter(kind_asked_for(question)), "") == word


def test_a_word_that_nothing_holds_weighs_as_much_as_the_rarest():
    weights = {"pier": 1.0, "crane": 3.0}
    assert covered(weights, ["crane", "pier"], [{"crane"}, {"pier"}]) == 0.75
    assert covered(weights, ["crane", "pier", "whale"], [{"crane"}]) == 3 / 7


@given(
    st.dictionaries(st.sampled_from("abcde"), st.floats(0.1, 9), max_size=5),
    st.lists(st.sets(st.sampled_from("abcde")), max_size=4),
)
def test_what_is_covered_is_a_share_and_more_passages_never_cover_less(weights, held):
    terms = list("abcde")
    share = covered(weights, terms, held)
    assert 0 <= share <= 1 + 1e-9
    assert covered(weights, terms, [*held, {"a"}]) >= share


def test_a_person_is_never_lacking_what_their_kind_has_not():
    assert decided(f"What does {GUILD} depend on?").behaviour == "answer"
