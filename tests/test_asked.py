"""What a question asks for: names, numbers, link types, attributes, states and dates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.ontology import cues
from kb_search.asked import Reader
from kb_search.asked_words import dates_in, quoted_spans
from kb_search.knowledge_graph import KnowledgeGraph
from tests.made_knowledge import Made
from tests.numbered_plans import GUILD, OFFICE, plans

GRAPH = KnowledgeGraph(plans().knowledge())
READER = Reader(GRAPH, [cues("en")])


def names(question: str) -> list[str]:
    return [GRAPH.entity(each).name for each in READER.read(question).entities]


def test_a_quoted_title_is_named_as_a_whole():
    made = Made()
    for title in ("Pier", "Stone Pier", "Pier of Stone"):
        made.note(title)
    graph = KnowledgeGraph(made.knowledge())
    asked = Reader(graph, [cues("en")]).read("Who drew “Stone Pier”, and when?")
    assert [graph.entity(each).name for each in asked.entities] == ["Stone Pier"]


def test_the_second_half_of_a_title_names_the_note():
    assert names("Is “Old Pier” still in force?") == ["Plan 1 - Old Pier"]


@pytest.mark.parametrize("written", ["plan 2", "Plan 002", "PLAN-2", "plan #2"])
def test_a_number_names_a_note_however_it_is_written(written):
    assert names(f"What became of {written}?") == ["Plan 2 - New Pier"]


def test_a_number_that_nothing_has_is_missing():
    asked = READER.read("What does plan 77 say about cranes?")
    assert (asked.missing, asked.named) == (("plan 77",), ())


def test_a_number_under_an_unknown_label_is_not_missing():
    assert READER.read("What happened in room 77?").missing == ()


def test_who_is_named_to_be_left_out_is_not_meant():
    asked = READER.read(f"What did {OFFICE} (not {GUILD}) propose?")
    assert [GRAPH.entity(each).name for each in asked.entities] == [OFFICE]
    assert [GRAPH.entity(each).name for each in asked.excluded] == [GUILD]


@pytest.mark.parametrize(
    ("question", "is_source"),
    [
        ("Which plan replaced “Old Pier”?", True),
        ("When “Old Pier” was replaced, what came?", True),
        ("Which plan did “Old Pier” replace?", False),
        ("What depends on “Old Pier”?", False),
        ("What does “Old Pier” depend on?", True),
        ("Who is the author of “Old Pier”?", True),
        ("What is the replacement for “Old Pier”?", True),
        ("What stands in the place of “Old Pier”?", True),
        ("Who wrote “Old Pier”?", True),
        ("What is “Old Pier”'s successor?", True),
    ],
)
def test_the_words_say_which_end_of_a_link_is_named(question, is_source):
    asked = READER.read(question)
    nearest = min(asked.links, key=lambda cue: asked.distance(asked.named[0], cue))
    direction = asked.direction(asked.named[0], nearest)
    assert (direction.is_source, direction.is_sure) == (is_source, True)


def test_a_word_that_is_link_and_state_is_a_link_beside_what_can_have_one():
    asked = READER.read("Which plan replaced “Old Pier”?")
    assert "SUPERSEDED_BY" in {cue.name for cue in asked.links}
    assert asked.states == ()


def test_such_a_word_is_a_state_of_what_others_have():
    asked = READER.read(f"Which plans of {OFFICE} were superseded?")
    assert "superseded" in asked.states
    assert "SUPERSEDED_BY" not in {cue.name for cue in asked.links}


def test_what_stands_in_a_quoted_title_is_no_cue():
    made = Made()
    made.note("Why the owner depends on today")
    reader = Reader(KnowledgeGraph(made.knowledge()), [cues("en")])
    asked = reader.read("Read “Why the owner depends on today”.")
    assert (asked.links, asked.traits) == ((), frozenset())


def test_an_attribute_of_the_view_is_a_cue_by_its_own_name():
    made = Made()
    made.claim(made.note("Stone Pier"), "crane_count", "4")
    reader = Reader(KnowledgeGraph(made.knowledge()), [cues("en")])
    asked = reader.read("What is the crane count of Stone Pier?")
    assert "crane_count" in {cue.name for cue in asked.attributes}


def test_a_title_in_other_signs_is_found_among_the_notes_that_came_back():
    made = Made()
    title = made.note("Plan 1 - The ``Pier`` class")
    graph = KnowledgeGraph(made.knowledge())
    reader = Reader(graph, [cues("en")])
    asked = reader.read("Who wrote “The Pier class”?")
    assert asked.named == ()
    found = reader.with_titles(asked, [graph.numbered(title)])
    assert found.entities == (graph.numbered(title),)


def test_a_date_beats_the_years_beside_it():
    assert [each.text for each in dates_in("in 2019 and on 2020-03-04")] == ["2020-03-04"]
    assert [each.text for each in dates_in("created in 2019")] == ["2019"]
    assert dates_in("number 201 of 30199") == ()


def test_quotation_marks_of_every_kind_are_read():
    assert [each.text for each in quoted_spans('„cd“ «ef» 「gh」 "ij"')] == ["cd", "ef", "gh", "ij"]


@given(st.text(max_size=200))
def test_any_text_can_be_read(question):
    asked = READER.read(question)
    assert READER.read(question) == asked
    assert all(0 <= cue.start < cue.end <= len(question) for cue in asked.links)
