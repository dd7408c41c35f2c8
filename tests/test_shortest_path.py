"""The shortest way between two things, held against trying every way there is."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from kb_search.shortest_path import Ways
from tests.made_links import NAMES, graph_of, graph_of_vault, link, thing, vaults


def every_way(vault, start, end, most=4):
    """Return every way of up to four hops without a hub between, each as its entities."""
    _, hubs, links = vault
    near = defaultdict(set)
    for source, _, target in links:
        near[source].add(target)
        near[target].add(source)
    ways, level = [], [(start,)]
    for _ in range(most):
        level = [(*way, n) for way in level for n in near[way[-1]] if n not in way]
        ways += [way for way in level if way[-1] == end]
        level = [way for way in level if way[-1] not in hubs and way[-1] != end]
    return ways


@settings(max_examples=200, deadline=None)
@given(vaults(), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_the_shortest_way_is_the_first_of_the_shortest_of_all(vault, start, end):
    graph = graph_of_vault(vault)
    found_way = Ways(graph).shortest(NAMES.index(start), NAMES.index(end))
    ways = sorted(every_way(vault, start, end), key=lambda way: (len(way), way))

    if start == end:
        assert found_way == ()
    elif not ways:
        assert found_way is None
    else:
        assert tuple(graph.entity(hop.number).entity_id for hop in found_way) == ways[0][1:]
        assert all(hop.lines for hop in found_way)


def test_no_way_leads_through_a_hub_but_one_may_end_there():
    things = [thing("a"), thing("hub", is_hub=True), thing("z")]
    graph = graph_of(things, [link("a", "RELATED_TO", "hub"), link("z", "RELATED_TO", "hub")])

    assert Ways(graph).shortest(0, 2) is None
    assert [hop.number for hop in Ways(graph).shortest(0, 1)] == [1]
    assert [hop.number for hop in Ways(graph).shortest(1, 2)] == [2]


def test_a_way_has_at_most_four_hops():
    names = "abcdef"
    steps = [link(a, "RELATED_TO", b) for a, b in pairwise(names)]
    graph = graph_of([thing(name) for name in names], steps)

    assert len(Ways(graph).shortest(0, 4)) == 4
    assert Ways(graph).shortest(0, 5) is None
