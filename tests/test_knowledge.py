"""What chunks say together: who is meant, which links there are, what is counted and left out."""

import pytest

from kb_knowledge.hubs import is_hub
from kb_knowledge.records import Knowledge
from tests.made_evidence import ITSELF, Told, ends, entity, name, note, number, only_link


def test_every_note_with_a_readable_chunk_is_an_entity() -> None:
    told = Told()
    told.chunk("Work/Heron.md", title="The heron kiln", aliases=("Heron", "K90", "heron"))
    told.chunk("Work/Gone.md", is_readable=False)
    (found,) = told.known().entities
    assert (found.name, found.note_ids, found.chunks) == ("The heron kiln", ("Work/Heron.md",), 1)
    assert (found.titles, found.aliases) == (("The heron kiln", "Heron"), ("K90",))


def test_two_notes_of_one_title_stay_apart() -> None:
    told = Told()
    told.chunk("A/Pump.md").links("DEPENDS_ON", name("Pump"))
    told.chunk("B/Pump.md")
    known = told.known()
    assert sorted(each.note_ids for each in known.entities) == [(), ("A/Pump.md",), ("B/Pump.md",)]
    assert [each.rule for each in known.merges] == ["name of several"]


@pytest.mark.parametrize("written", ["blue heron", "BLUE  HERON", "“Blue Heron”", "Blue Heron."])
def test_a_name_means_the_one_note_that_is_called_so(written: str) -> None:
    told = Told()
    told.chunk("Blue Heron.md")
    told.chunk("Log.md").links("USES", name(written))
    assert ends(told.known()) == [("Log", "USES", "Blue Heron")]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Loft", "The Loft House"), ("loft", "loft"), ("Loft House", "Loft House")],
)
def test_an_alias_of_one_word_is_taken_in_its_own_capitals(written: str, meant: str) -> None:
    told = Told()
    told.chunk("The Loft House.md", aliases=("Loft",))
    told.chunk("Log.md").links("USES", name(written))
    assert ends(told.known()) == [("Log", "USES", meant)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Acme Ltd.", "Acme"),
        ("acme, inc", "Acme"),
        ("Acme.ai", "Acme"),
        ("Acme Kilns", "Acme Kilns"),
    ],
)
def test_a_company_is_meant_with_its_legal_form(written: str, meant: str) -> None:
    told = Told()
    told.chunk("Acme.md")
    told.chunk("Log.md").links("USES", name(written))
    assert ends(told.known()) == [("Log", "USES", meant)]


def test_an_alias_is_no_company() -> None:
    told = Told()
    told.chunk("Kilns of the north.md", aliases=("Acme Kilns",))
    told.chunk("Log.md").links("USES", name("Acme Kilns Ltd"))
    assert ends(told.known()) == [("Log", "USES", "Acme Kilns Ltd")]


def test_of_two_legal_forms_neither_is_the_company_alone() -> None:
    told = Told()
    told.chunk("Acme.md")
    told.chunk("Log.md").links("USES", name("Acme Ltd")).links("USES", name("Acme GmbH"))
    assert {target for _, _, target in ends(told.known())} == {"Acme Ltd", "Acme GmbH"}


def test_what_an_older_version_called_a_company_does_not_count() -> None:
    told = Told()
    told.chunk("Acme.md")
    told.chunk("Log.md", version=1, is_readable=False).links("USES", name("Acme GmbH"))
    told.chunk("Log.md", version=2).links("USES", name("Acme Ltd"))
    assert ends(told.known()) == [("Log", "USES", "Acme")]


def test_a_name_no_note_has_is_one_entity_however_it_is_written() -> None:
    told = Told()
    told.chunk("A.md").links("OWNED_BY", name("Ada Moor"))
    told.chunk("B.md").links("OWNED_BY", name("ada moor")).speaks_of(
        name("Ada Moor"), type="Person"
    )
    found = entity(told.known(), "Ada Moor")
    assert (found.titles, found.type, found.chunks) == (("Ada Moor", "ada moor"), "Person", 2)


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("Pump", "B/Pump.md"),
        ("A/Pump", "A/Pump.md"),
        ("Pump#Power|the pump", "B/Pump.md"),
        ("#Power", "B/Log.md"),
    ],
)
def test_a_link_means_the_note_it_leads_to(target: str, meant: str) -> None:
    told = Told()
    told.chunk("A/Pump.md", title="First pump")
    told.chunk("B/Pump.md", title="Second pump")
    told.chunk("B/Log.md").states("power", "high", subject=note(target))
    known = told.known()
    notes = {each.entity_id: each.note_ids[0] for each in known.entities}
    assert [notes[each.entity_id] for each in known.claims] == [meant]


def test_a_link_that_leads_nowhere_is_a_name() -> None:
    told = Told()
    told.chunk("The pump.md", aliases=("Old Pump",))
    told.chunk("Log.md").links("USES", note("Plant/Old Pump")).links("USES", note("Plant/Nothing"))
    assert ends(told.known()) == [("Log", "USES", "Nothing"), ("Log", "USES", "The pump")]


def test_a_number_means_the_one_thing_that_is_known_by_it() -> None:
    told = Told()
    told.chunk("Old.md").speaks_of(ITSELF, basis="identifier", name="pep 245")
    told.chunk("New.md").links("SUPERSEDED_BY", ITSELF, source=number("PEP 245"))
    known = told.known()
    assert ends(known) == [("Old", "SUPERSEDED_BY", "New")]
    assert entity(known, "Old").identifiers == ("pep 245",)


def test_a_number_of_nothing_or_of_two_things_is_counted_and_dropped() -> None:
    told = Told()
    for path in ("A.md", "B.md"):
        told.chunk(path).speaks_of(ITSELF, basis="identifier", name="pep 8")
    told.chunk("C.md").links("USES", number("pep 8")).links("USES", number("pep 9"))
    known = told.known()
    assert (known.links, known.counts) == ([], {"numbers_unresolved": 2})


def test_what_has_no_name_is_counted_and_dropped() -> None:
    told = Told()
    told.chunk("A.md").links("USES", name(" ")).speaks_of(note(""))
    known = told.known()
    assert (known.links, known.counts) == ([], {"nameless": 2})


def test_what_a_note_says_it_is_counts_before_what_others_say() -> None:
    told = Told()
    told.chunk("Ada.md").speaks_of(ITSELF, basis="type", type="Person")
    for path in ("A.md", "B.md"):
        told.chunk(path).speaks_of(note("Ada"), type="Organization")
    assert entity(told.known(), "Ada").type == "Person"


def test_a_link_is_put_together_from_all_that_say_it() -> None:
    told = Told()
    for piece, day in enumerate(("2024-03", "2023-05-01", None)):
        place = told.chunk("Pump.md", piece, written_date=day)
        place.links("DEPENDS_ON", note("Power"), label=f"label {piece}", modality="plan")
    told.chunk("Pump.md", 7, written_date="2020", written_is_weak=True).links(
        "DEPENDS_ON", name("Power"), phrase=""
    )
    told.chunk("Power.md")
    link = only_link(told.known())
    assert (link.times, link.phrases) == (4, ("DEPENDS_ON: Power",))
    assert link.labels == ("depends_on", "label 0", "label 1", "label 2")
    assert (link.first_seen, link.last_seen) == ("2023-05-01", "2024-03")
    assert link.modalities == ("fact", "plan")
    assert link.chunk_ids == ("Pump.md#0", "Pump.md#1", "Pump.md#2", "Pump.md#7")


def test_a_link_shows_five_phrases_at_most() -> None:
    told = Told()
    place = told.chunk("Pump.md")
    for at in range(7):
        place.links("USES", name("Power Yard"), phrase=f"phrase {at}")
    assert only_link(told.known()).phrases == tuple(f"phrase {at}" for at in range(5))


def test_a_link_of_a_thing_to_itself_is_counted_and_dropped() -> None:
    told = Told()
    told.chunk("Pump.md").links("USES", name("Pump"))
    known = told.known()
    assert (known.links, known.counts) == ([], {"links_to_themselves": 1})


def test_an_older_version_gives_neither_links_nor_names() -> None:
    told = Told()
    told.chunk("Pump.md", version=2, day=9)
    place = told.chunk("Pump.md", version=1, is_readable=False)
    place.links("USES", name("Old Yard")).speaks_of(name("Old Yard"))
    place.states("power", "high", subject=name("Old Yard"))
    known = told.known()
    assert [each.name for each in known.entities] == ["Pump"]
    assert (known.links, known.claims) == ([], [])
    assert known.counts == {"of_older_versions": 2, "of_what_is_gone": 1}


def test_what_stands_in_no_chunk_of_the_view_is_counted_and_dropped() -> None:
    told = Told()
    told.chunk("Pump.md").states("power", "high").links("USES", name("A Yard")).speaks_of(ITSELF)
    told.chunks.clear()
    known = told.known()
    assert known == Knowledge(counts={"of_no_chunk": 3}, entities=[], mentions=[], links=[],
                              claims=[], relations=[], merges=[])  # fmt: skip


def _two_tenants() -> Told:
    told = Told()
    told.chunk("red/Pump.md", tenant="red")
    told.chunk("blue/Pump.md", tenant="blue")
    return told


def test_a_name_stays_within_its_tenant() -> None:
    told = _two_tenants()
    told.chunk("red/Log.md", tenant="red").links("USES", name("Pump")).links(
        "USES", name("Ada Moor")
    )
    told.chunk("blue/Log.md", tenant="blue").links("USES", name("Ada Moor"))
    known = told.known()
    assert sorted(each.tenant for each in known.entities if each.name == "Ada Moor") == [
        "blue",
        "red",
    ]
    by_id = {each.entity_id: each for each in known.entities}
    assert all(by_id[e.source_id].tenant == by_id[e.target_id].tenant for e in known.links)


def test_a_link_that_leads_nowhere_is_a_name_of_whoever_had_that_version() -> None:
    told = Told()
    old = told.chunk("Log.md", tenant="red", version=1, is_readable=False)
    old.states("power", "low", subject=note("Old Yard"))
    new = told.chunk("Log.md", tenant="blue", version=2, day=9)
    new.states("power", "high", subject=note("Old Yard"))
    assert entity(told.known(), "Old Yard").tenant == "blue"


def test_a_link_may_lead_to_another_tenant_and_counts_nothing_there() -> None:
    told = _two_tenants()
    place = told.chunk("blue/Log.md", tenant="blue").links("USES", note("red/Pump"))
    place.speaks_of(note("red/Pump"), type="Asset").states(
        "power", "high", subject=note("red/Pump")
    )
    place.links("USES", note("red/Pump"), source=note("red/Pump#Power"))
    known = told.known()
    red = next(each for each in known.entities if each.tenant == "red")
    assert (red.type, red.chunks) == ("", 1)
    assert ends(known) == [("Log", "USES", "Pump")]
    assert (known.claims, known.counts) == ([], {"of_another_tenant": 3})


@pytest.mark.parametrize(
    ("speaking", "readable", "is_one"),
    [(20, 100, False), (21, 100, True), (25, 2500, False), (26, 2500, True), (300, 10**6, False)],
)
def test_a_hub_is_spoken_of_in_more_than_a_hundredth_of_the_chunks(
    speaking: int, readable: int, is_one: bool
) -> None:
    assert is_hub(speaking, readable) is is_one
    assert is_hub(301, 10**6)


def test_a_notes_own_chunks_make_no_hub_of_it() -> None:
    told = Told()
    for piece in range(3):
        told.chunk("Long.md", piece)
    told.chunk("A.md").speaks_of(note("Long")).speaks_of(name("Ada Moor"))
    told.chunk("B.md").speaks_of(name("Ada Moor"))
    hubs = {each.name: each.is_hub for each in told.known(hub_chunks=1).entities}
    assert hubs == {"Long": False, "A": False, "B": False, "Ada Moor": True}


def test_an_entity_keeps_its_id_when_other_notes_come_and_go() -> None:
    told = Told()
    told.chunk("Log.md").links("USES", name("Ada Moor")).states("power", "high")
    before = told.known()
    told.chunk("Another.md").links("USES", name("ada moor"))
    after = told.known()
    assert {each.entity_id for each in before.entities} < {
        each.entity_id for each in after.entities
    }
    assert before.claims == after.claims
    assert {each.link_id for each in before.links} < {each.link_id for each in after.links}
