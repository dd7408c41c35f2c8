"""Things and the links between them, made by hand: what a build would know, without a build."""

from collections.abc import Iterable

from hypothesis import strategies as st

from kb_knowledge.records import Entity, Knowledge, Link
from kb_search.knowledge_graph import KnowledgeGraph


def thing(entity_id: str, kind: str = "Asset", **fields: object) -> Entity:
    """Return an entity that is the note ID.md, called so, unless its fields say otherwise."""
    values = {
        "entity_id": entity_id,
        "tenant": "red",
        "name": entity_id,
        "type": kind,
        "titles": (entity_id,),
        "aliases": (),
        "identifiers": (),
        "note_ids": (f"{entity_id}.md",),
        "chunks": 1,
        "is_hub": False,
    }
    return Entity(**(values | fields))  # type: ignore[arg-type]


def link(source: str, kind: str, target: str, label: str = "", said_in: str = "") -> Link:
    """Return a link that the chunk of a note says: its source's, if no other is named."""
    return Link(
        link_id=f"{source} {kind} {target}",
        source_id=source,
        target_id=target,
        type=kind,
        labels=(label or kind.lower(),),
        times=1,
        phrases=(),
        chunk_ids=(f"{said_in or source}#0",),
        modalities=("fact",),
        first_seen=None,
        last_seen=None,
        extractors=("structure",),
    )


def graph_of(entities: Iterable[Entity], links: Iterable[Link] = ()) -> KnowledgeGraph:
    """File them as a build would: sorted by id; each note has one chunk."""
    things = sorted(entities)
    chunks = {f"{each.entity_id}#0": f"{each.entity_id}.md" for each in things}
    return KnowledgeGraph(Knowledge(things, (), sorted(links), chunk_notes=chunks))


NAMES = [f"e{n}" for n in range(7)]
TYPES = ("DEPENDS_ON", "HAS_MANUAL")
Vault = tuple[dict[str, str], set[str], set[tuple[str, str, str]]]


@st.composite
def vaults(draw: st.DrawFn) -> Vault:
    """Draw a few things of two kinds, some of them hubs, and links between them."""
    kinds = {name: draw(st.sampled_from(["Asset", "Document"])) for name in NAMES}
    hubs = draw(st.sets(st.sampled_from(NAMES), max_size=2))
    ends = st.tuples(st.sampled_from(NAMES), st.sampled_from(TYPES), st.sampled_from(NAMES))
    return kinds, hubs, draw(st.sets(ends, max_size=14))


def graph_of_vault(vault: Vault) -> KnowledgeGraph:
    """File what was drawn."""
    kinds, hubs, links = vault
    entities = [thing(name, kind, is_hub=name in hubs) for name, kind in kinds.items()]
    return graph_of(entities, [link(*each) for each in links])
