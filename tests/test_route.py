"""Which questions the graph layer joins, and what the router says about it."""

import pytest

from kb_knowledge.records import CONFLICTS_WITH
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.route import route
from tests.made_knowledge import Made, path
from tests.numbered_plans import GUILD, OFFICE, layer, plans


def routed(question: str, base: tuple[str, ...] = (), made: Made | None = None):
    made = made or plans()
    reader, _ = layer(made)
    graph = KnowledgeGraph(made.knowledge())
    return route(reader.read(question), graph, [path(each) for each in base])


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Which plan replaced “Old Pier”?", "links of type SUPERSEDED_BY"),
        ("What was the status of “Old Pier” on 2020-01-01?", "how something stood at a time"),
        ("Is “Old Pier” still good?", "how something stands now"),
        ("Why was “Old Pier” given its name?", "asks why"),
        ("Was “Old Pier” rejected?", "asks for a state"),
        (f"How are {OFFICE} and {GUILD} connected?", "names several things"),
        ("What does plan 77 say?", "a number that nothing has"),
    ],
)
def test_the_graph_joins_for_links_time_states_and_several_names(question, reason):
    found = routed(question)
    assert found.uses_graph
    assert any(reason in each for each in found.reasons)


@pytest.mark.parametrize(
    "question",
    [
        "How heavy are the cranes?",
        "What do we think about piers in general?",
        "Which rules are there?",
    ],
)
def test_what_names_nothing_goes_by_the_base_ranking_and_says_so(question):
    found = routed(question)
    assert (found.uses_graph, len(found.reasons)) == (False, 1)


def outdated() -> Made:
    made = Made()
    pier = made.note("Stone Pier")
    made.claim(pier, "budget", "4,000", state="superseded")
    made.claim(pier, "budget", "5,000", date="2024-06-01")
    return made


def test_an_outdated_value_among_what_came_back_switches_the_graph_on():
    question = "What is the budget for the pier?"
    assert routed(question, ("Stone Pier",), outdated()).uses_graph
    assert not routed(question, (), outdated()).uses_graph
    assert not routed("What is the colour of the pier?", ("Stone Pier",), outdated()).uses_graph


def test_passages_that_disagree_switch_the_graph_on():
    made = Made()
    pier = made.note("Stone Pier")
    one, two = (made.claim(pier, "budget", value) for value in ("4,000", "5,000"))
    made.relate(one, CONFLICTS_WITH, two)
    found = routed("What is the budget for the pier?", ("Stone Pier",), made)
    assert found.reasons == ("notes that came back disagree about what is asked",)
