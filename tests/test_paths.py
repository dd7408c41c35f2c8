"""Connected records and shortest ways, held against walks that try everything."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_search.paths import Bounds, Truncated, connected
from kb_search.shortest_path import Ways
from kb_search.starts import Start, start_of
from tests.made_links import NAMES, graph_of, graph_of_vault, link, thing, vaults

# The maintenance example as its red tenant sees it at hour nine.
MACHINES = graph_of(
    [
        thing("P7", aliases=("feed pump", "the pump")),
        thing("S1", aliases=("supply", "the pump")),
        thing("D1", "Document"),
        thing("D2", "Document"),
        thing("X", "", note_ids=(), titles=()),
        thing("Ann", "Person", identifiers=("badge 7",)),
    ],
    [
        link("P7", "DEPENDS_ON", "S1"),
        link("P7", "DEPENDS_ON", "X"),
        link("P7", "HAS_MANUAL", "D1"),
        link("S1", "HAS_MANUAL", "D2"),
        link("S1", "DEPENDS_ON", "P7", label="runs_on"),
        link("P7", "OWNED_BY", "Ann"),
        link("Ann", "DEPENDS_ON", "D2"),
    ],
)


def found(start, depth, links=("DEPENDS_ON",), kinds=("Asset",), **how):
    return connected(MACHINES, start, links, depth, kinds, **({"attach": ("HAS_MANUAL",)} | how))


def ids(stage):
    return [MACHINES.entity(each.number).entity_id for each in stage]


def test_depth_zero_is_the_start_alone_with_its_own_manual():
    answer = found("P7", 0)

    assert (ids(answer.reached), ids(answer.attached)) == (["P7"], ["D1"])
    assert answer.eligible == ("D1.md",)


def test_each_step_brings_the_manuals_of_what_it_reaches():
    answer = found("P7", 2)

    assert ids(answer.reached) == ["P7", "S1"]
    assert [each.depth for each in answer.reached] == [0, 1]
    assert ids(answer.attached) == ["D1", "D2"]
    assert answer.eligible == ("D1.md", "D2.md")
    assert answer.truncated == ()


def test_the_links_that_led_there_are_told():
    answer = found("P7", 1)
    lines = [MACHINES.line(line).link.link_id for line in answer.reached[1].lines]

    assert lines == ["P7 DEPENDS_ON S1"]
    assert [MACHINES.line(line).link.link_id for line in answer.attached[1].lines] == [
        "S1 HAS_MANUAL D2"
    ]


def test_without_kinds_a_name_without_a_note_is_reached_and_has_nothing_to_read():
    answer = found("P7", 1, kinds=())

    assert ids(answer.reached) == ["P7", "S1", "X"]
    assert found("P7", 1, kinds=(), attach=()).eligible == ("P7.md", "S1.md")


def test_links_are_followed_by_type_or_by_the_property_they_stand_in():
    assert ids(found("P7", 1, links=("depends on",)).reached) == ["P7", "S1"]
    assert ids(found("S1", 1, links=("Runs-on",)).reached) == ["S1", "P7"]
    assert ids(found("P7", 1, links=("OWNED_BY",), kinds=()).reached) == ["P7", "Ann"]
    assert ids(found("S1", 1).reached) == ["S1", "P7"]
    assert ids(found("P7", 3, links=()).reached) == ["P7"]


def test_links_lead_outward_alone():
    assert ids(found("D2", 3, kinds=(), links=("HAS_MANUAL", "DEPENDS_ON")).reached) == ["D2"]


def test_against_their_direction_links_lead_to_what_states_them():
    assert ids(found("S1", 1, links=("^depends_on",)).reached) == ["S1", "P7"]
    assert ids(found("X", 2, kinds=(), links=("^DEPENDS_ON",)).reached) == ["X", "P7", "S1"]
    assert ids(found("D2", 0, kinds=(), attach=("^HAS_MANUAL",)).attached) == ["S1"]
    assert ids(found("P7", 1, kinds=(), links=("^OWNED_BY",)).reached) == ["P7"]


def test_a_path_is_that_note_alone_whatever_else_is_called_so():
    notes = ("Caf\u00e9/Pump.md", "Old/Pump.md")
    pumps = [thing(f"P{at}", titles=("Pump",), note_ids=(note,)) for at, note in enumerate(notes)]
    graph = graph_of([*pumps, thing("P9", titles=("Old/Pump",))])

    assert start_of(graph, "Cafe\u0301/Pump.md").number == 0
    assert start_of(graph, " Old/Pump ").number == 1
    assert start_of(graph, "Pump").candidates == (0, 1)


@pytest.mark.parametrize("start", ["P7", "P7.md", "p7", "Feed  pump", "feed pump"])
def test_a_start_is_known_by_path_title_or_alias(start):
    assert ids(found(start, 0).reached) == ["P7"]


def test_a_start_is_known_by_its_id_and_its_identifier():
    named = thing("0" * 32, name="Kiln", titles=("Kiln",))
    graph = graph_of([named, thing("f" * 32, name="0" * 32, titles=("0" * 32,))])

    assert start_of(graph, "0" * 32).number == 0
    assert ids(found("Badge 7", 0, kinds=("person",)).reached) == ["Ann"]


@pytest.mark.parametrize(
    ("start", "candidates"), [("the pump", ["P7", "S1"]), ("P 7", []), ("pump", []), ("Ann", [])]
)
def test_what_is_not_exactly_one_of_the_kinds_is_asked_back(start, candidates):
    answer = found(start, 2)

    assert answer.start.is_asked_back
    assert [MACHINES.entity(each).entity_id for each in answer.start.candidates] == candidates
    assert (answer.reached, answer.attached, answer.eligible) == ((), (), ())


def test_the_kinds_decide_between_two_of_one_name():
    graph = graph_of([thing("P1", titles=("Pump",)), thing("D1", "Document", titles=("Pump",))])

    assert start_of(graph, "pump").candidates == (0, 1)
    assert graph.entity(start_of(graph, "pump", ("asset",)).number).entity_id == "P1"


def test_what_a_bound_cuts_is_told_with_how_many_when_that_is_known():
    last = found("P7", 1, bounds=Bounds(nodes=1))
    between = found("P7", 2, bounds=Bounds(nodes=1))
    documents = found("P7", 1, bounds=Bounds(documents=1))
    both = found("P7", 0, bounds=Bounds(nodes=1, documents=0))

    assert last.truncated == (Truncated("nodes", 1, 1, is_exact=True),)
    assert between.truncated == (Truncated("nodes", 1, 1, is_exact=False),)
    assert (ids(documents.attached), documents.eligible) == (["D1"], ("D1.md",))
    assert documents.truncated == (Truncated("documents", 1, 1, is_exact=True),)
    assert both.truncated == (Truncated("documents", 0, 1, is_exact=True),)


def test_nearer_documents_come_first_and_are_kept_first():
    things = [thing("a"), thing("b"), thing("c"), *(thing(f"D{n}", "Document") for n in (1, 2, 3))]
    links = [link("a", "DEPENDS_ON", "b"), link("b", "DEPENDS_ON", "c")]
    links += [link(*each) for each in (("c", "HAS", "D1"), ("a", "HAS", "D3"), ("b", "HAS", "D2"))]
    graph = graph_of(things, links)

    def answer(**bounds):
        return connected(graph, "a", ("DEPENDS_ON",), 2, ("Asset",), ("HAS",), Bounds(**bounds))

    assert answer().eligible == ("D3.md", "D2.md", "D1.md")
    assert answer(documents=1).eligible == ("D3.md",)
    assert answer(nodes=2, documents=1).truncated == (
        Truncated("nodes", 2, 1, is_exact=True),
        Truncated("documents", 1, 1, is_exact=False),
    )


def test_a_circle_is_walked_once():
    steps = ("ab", "bc", "cb", "ca", "bb")
    graph = graph_of(map(thing, "abc"), [link(a, "DEPENDS_ON", b) for a, b in steps])
    answer = connected(graph, "a", ("DEPENDS_ON",), 9)

    assert [(each.number, each.depth) for each in answer.reached] == [(0, 0), (1, 1), (2, 2)]


@dataclass
class Without:
    """Hands over everything but some notes."""

    notes: frozenset[str]
    asked: list[str] = field(default_factory=list)

    def chunk(self, chunk_id):
        self.asked.append(chunk_id)
        return self.note(f"{chunk_id.partition('#')[0]}.md")

    def note(self, note_id):
        return note_id not in self.notes


def test_what_may_not_be_handed_over_is_no_way_and_no_start():
    def shown(*notes):
        return found("P7", 2, shown=Without(frozenset(notes)))

    assert ids(shown("D1.md").attached) == ["D2"]
    assert (ids(shown("S1.md").reached), shown("S1.md").eligible) == (["P7"], ("D1.md",))
    assert shown("P7.md").start == Start("P7", None)
    assert ids(found("the pump", 0, shown=Without(frozenset({"S1.md"}))).reached) == ["P7"]


def test_a_link_goes_with_all_that_says_so():
    said = [link("a", "DEPENDS_ON", "b", said_in="z")]
    graph = graph_of([thing("a"), thing("b"), thing("z")], said)
    shown = Without(frozenset({"z.md"}))
    answer = connected(graph, "a", ("DEPENDS_ON",), 1, shown=shown)

    assert [each.number for each in answer.reached] == [0]
    assert Ways(graph).shortest(0, 1) is not None
    assert Ways(graph, shown=shown).shortest(0, 1) is None
    assert Ways(graph, shown=Without(frozenset({"b.md"}))).shortest(0, 1) is None


def test_of_several_notes_those_that_may_be_handed_over_are_to_be_read():
    graph = graph_of([thing("a", note_ids=("one.md", "two.md"))])

    assert connected(graph, "a", (), 0).eligible == ("one.md", "two.md")
    shown = Without(frozenset({"one.md"}))
    assert connected(graph, "a", (), 0, shown=shown).eligible == ("two.md",)


def test_a_name_is_known_by_what_is_said_of_it_alone():
    assert ids(found("X", 0, kinds=()).reached) == ["X"]
    assert found("X", 0, kinds=(), shown=Without(frozenset({"P7.md"}))).start.is_asked_back


@settings(max_examples=200, deadline=None)
@given(vaults(), st.sampled_from(NAMES), st.integers(0, 3), st.booleans())
def test_connected_is_what_trying_every_way_finds(vault, start, depth, only_assets):
    kinds, _, links = vault
    graph = graph_of_vault(vault)
    allowed = {n for n in NAMES if kinds[n] == "Asset" or not only_assets}
    far = dict.fromkeys(NAMES, len(NAMES)) | {start: 0}
    for _ in NAMES:
        for source, kind, target in links:
            if kind == "DEPENDS_ON" and {source, target} <= allowed:
                far[target] = min(far[target], far[source] + 1)
    reached = {name: at for name, at in far.items() if at <= depth and name in allowed}
    documents = {target for s, kind, target in links if kind == "HAS_MANUAL" and s in reached}
    answer = connected(
        graph, start, ("DEPENDS_ON",), depth, ("Asset",) * only_assets, ("HAS_MANUAL",)
    )

    found = [(graph.entity(each.number).entity_id, each.depth) for each in answer.reached]
    assert found == sorted(reached.items(), key=lambda each: (each[1], each[0]))
    assert set(answer.eligible) == {f"{name}.md" for name in documents}
