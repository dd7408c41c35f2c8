"""The index of knowledge answers as plain dictionaries over the same rows do."""

import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.ids import content_id
from kb_knowledge.records import (
    CONFLICTS_WITH,
    CURRENT,
    SUPERSEDED,
    SUPERSEDED_BY,
    Claim,
    Entity,
    EntityMention,
    Knowledge,
    Link,
    Relation,
)
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_index import ARRAYS, knowledge_arrays
from tests.oracle_knowledge_graph import PlainGraph

NAMES = ["Ada Lind", "Pier", "the pier", "PEP 8 – Style Guide", "东港", "His", "Ada", "b\udcff", ""]
NOTES = ["a.md", "b/c.md", "d.md"]
CHUNKS = {f"c{n}": note for n, note in enumerate([*NOTES, *NOTES])}


def entity(name: str, **fields: object) -> Entity:
    plain = Entity(content_id(name), "red", name, "", (name,), (), (), (), 1, False)
    return plain._replace(**fields)


def link(source: str, target: str, kind: str = "DEPENDS_ON", **fields: object) -> Link:
    ids = content_id(source), content_id(target)
    plain = Link(
        content_id(*ids, kind), *ids, kind, ("depends_on",), 1, (), ("c0",), ("fact",), None, None,
        ("structure",),
    )  # fmt: skip
    return plain._replace(**fields)


def claim(name: str, attribute: str, value: str, **fields: object) -> Claim:
    plain = Claim(
        content_id(name, attribute, value), content_id(name), attribute, value, "fact", "quote",
        "property", "v1", "c0", "a.md", "2024-03", False, None, None, "structure", CURRENT, None,
    )  # fmt: skip
    return plain._replace(**fields)


PIER = Knowledge(
    entities=[
        entity("Pier", note_ids=("a.md",), aliases=("East pier",), identifiers=("pier 7",)),
        entity("Yard", note_ids=("b/c.md",), type="Project", is_hub=True),
        entity("Stone", titles=()),
    ],
    mentions=[
        EntityMention(content_id("Pier"), "v1", "c0"),
        EntityMention(content_id("Stone"), "v1", "c1"),
    ],
    links=[
        link("Pier", "Yard", phrases=("depends on the yard",), chunk_ids=("c0", "c1")),
        link("Pier", "Stone", "MADE_OF"),
        link("Pier", "Pier", "RELATED_TO"),
    ],
    claims=[
        claim("Pier", "status", "planned", state=SUPERSEDED, until="2024-05"),
        claim("Pier", "status", "done", is_weak=True, written_date=None),
    ],
    relations=[
        Relation(
            content_id("Pier", "status", "planned"),
            content_id("Pier", "status", "done"),
            SUPERSEDED_BY,
        )
    ],
    chunk_notes=CHUNKS,
)


def test_a_line_reads_as_who_does_what_in_which_words() -> None:
    graph = KnowledgeGraph(PIER)
    assert graph.line(0).core == "Pier depends on Yard: depends on the yard"
    assert graph.line(0).note_ids == ("a.md", "b/c.md")
    assert graph.line(3).core == "Pier status: planned"


def test_a_claim_comes_back_whole() -> None:
    graph = KnowledgeGraph(PIER)
    assert [graph.line(n).claim for n in (3, 4)] == list(PIER.claims)
    assert [graph.line(n).link for n in range(3)] == list(PIER.links)
    assert [graph.entity(n) for n in range(3)] == list(PIER.entities)


def test_a_superseded_claim_leads_to_what_superseded_it_and_back() -> None:
    graph = KnowledgeGraph(PIER)
    assert graph.related(3) == [(4, SUPERSEDED_BY, True)]
    assert graph.related(4) == [(3, SUPERSEDED_BY, False)]
    assert graph.related(0) == []


def test_links_can_be_asked_by_type_and_claims_by_attribute() -> None:
    graph = KnowledgeGraph(PIER)
    assert graph.links_of(0, {"MADE_OF"}) == [(1, 2, True)]
    assert graph.links_of(1) == [(0, 0, False)]
    assert graph.claims_of(0, {"status"}) == [3, 4]
    assert graph.claims_of(0, {"owner"}) == []


def test_a_number_names_what_is_known_by_it() -> None:
    graph = KnowledgeGraph(PIER)
    assert graph.named_in("is PIER 7 closed?")[0] == [0]
    assert graph.named("pier  7") == (0,)
    assert graph.knows_label("pier")
    assert not graph.knows_label("yard")


def test_nothing_known_is_an_index_too() -> None:
    graph = KnowledgeGraph(Knowledge())
    assert (graph.size, graph.line_count, graph.attributes, graph.link_types) == (0, 0, (), ())
    assert graph.named_in("Pier")[0] == []
    assert graph.claims_valued("x") == []
    assert list(graph.cores()) == []


def test_an_index_holds_the_arrays_it_promises() -> None:
    assert set(knowledge_arrays(PIER)) == set(ARRAYS)


names = st.sampled_from(NAMES)
some = st.lists(names, max_size=2, unique=True).map(tuple)
dates = st.sampled_from([None, "2024", "2024-05-01"])
chunks = st.lists(st.sampled_from(sorted(CHUNKS)), max_size=3, unique=True).map(
    lambda found: tuple(sorted(found))
)


@st.composite
def knowledge(draw: st.DrawFn) -> Knowledge:
    called = draw(st.lists(names, unique=True, max_size=5))
    owners = draw(st.permutations(NOTES))
    entities = [
        entity(
            name,
            titles=draw(some),
            aliases=draw(some),
            identifiers=tuple(draw(st.lists(st.sampled_from(["pep 8", "rfc 1"]), max_size=1))),
            note_ids=(owners[at],) if at < len(owners) and draw(st.booleans()) else (),
        )
        for at, name in enumerate(called)
    ]
    if not called:
        return Knowledge(chunk_notes=CHUNKS)
    one = st.sampled_from(called)
    types = st.sampled_from(["DEPENDS_ON", "RELATED_TO"])
    links = {
        each.link_id: each
        for each in draw(
            st.lists(
                st.builds(link, one, one, types, phrases=some, chunk_ids=chunks, first_seen=dates),
                max_size=6,
            )
        )
    }
    attributes = st.sampled_from(["status", "owner"])
    claims = {
        each.claim_id: each
        for each in draw(
            st.lists(st.builds(claim, one, attributes, names, written_date=dates), max_size=6)
        )
    }
    return Knowledge(
        entities=entities,
        mentions=draw(
            st.lists(
                st.builds(
                    EntityMention,
                    one.map(content_id),
                    st.just("v1"),
                    st.sampled_from(sorted(CHUNKS)),
                ),
                max_size=6,
            )
        ),
        links=list(links.values()),
        claims=list(claims.values()),
        relations=draw(_relations(sorted(claims))),
        chunk_notes=CHUNKS,
    )


def _relations(ids: list[str]) -> st.SearchStrategy[list[Relation]]:
    if len(ids) < 2:
        return st.just([])
    one, kinds = st.sampled_from(ids), st.sampled_from([SUPERSEDED_BY, CONFLICTS_WITH])
    return st.lists(st.builds(Relation, one, one, kinds), max_size=4)


@settings(max_examples=150, deadline=None)
@given(knowledge(), st.lists(names, max_size=4).map(" and ".join))
def test_the_index_answers_as_dictionaries_do(known: Knowledge, question: str) -> None:
    graph, plain = KnowledgeGraph(known), PlainGraph(known)
    assert (graph.size, graph.line_count) == (plain.size, plain.line_count)
    assert (graph.attributes, graph.link_types) == (plain.attributes, plain.link_types)
    assert graph.named_in(question) == plain.named_in(question)
    for name in [*NAMES, "pep 8", question]:
        assert graph.named(name) == plain.named(name)
        assert graph.claims_valued(name) == plain.claims_valued(name)
        assert graph.knows_label(name) == plain.knows_label(name)
    for note in [*NOTES, "x.md"]:
        assert graph.entity_of_note(note) == plain.entity_of_note(note)
        assert graph.spoken_of_in(note) == plain.spoken_of_in(note)
    for number in range(graph.size):
        assert graph.entity(number) == plain.entity(number)
        assert graph.numbered(graph.entity(number).entity_id) == number
        for types in (None, {"DEPENDS_ON"}, {"none"}):
            assert graph.links_of(number, types) == plain.links_of(number, types)
        for attributes in (None, {"status"}, {"none"}):
            assert graph.claims_of(number, attributes) == plain.claims_of(number, attributes)
    for number in range(graph.line_count):
        assert graph.line(number) == plain.line(number)
        assert graph.related(number) == plain.related(number)


@settings(max_examples=30, deadline=None)
@given(knowledge())
def test_an_index_that_was_stored_answers_as_the_one_in_memory(known: Knowledge) -> None:
    stored = {}
    for name, array in knowledge_arrays(known).items():
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        stored[name] = np.load(io.BytesIO(file.getvalue()), allow_pickle=False)
    graph, opened = KnowledgeGraph(known), KnowledgeGraph(stored)
    assert [opened.line(n) for n in range(opened.line_count)] == [
        graph.line(n) for n in range(graph.line_count)
    ]
    assert [opened.entity(n) for n in range(opened.size)] == [
        graph.entity(n) for n in range(graph.size)
    ]
