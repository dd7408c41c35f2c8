"""Twelve numbered plans with authors, deputies, states and a log: what questions are tried on."""

from kb_core.ontology import cues
from kb_search.asked import Reader
from kb_search.graph_layer import GraphLayer, Limits
from kb_search.knowledge_graph import KnowledgeGraph
from tests.made_knowledge import Made, path

OFFICE, GUILD = "Harbour Office", "Harbour Guild"
NOTHING_NEAR = Limits(margin=None)


def plans() -> Made:
    """Return the plans: the first is replaced by the second, the second by the third."""
    made = Made()
    titles = ["Old Pier", "New Pier", "Stone Pier", *(f"Quay Number {at}" for at in range(4, 13))]
    for at, title in enumerate(titles, start=1):
        name = made.note(f"Plan {at} - {title}", f"plan {at}")
        made.claim(name, "created", f"20{at + 10}-05-01")
        made.claim(name, "status", "Final" if at % 3 else "Withdrawn")
        made.link(name, "AUTHORED_BY", made.name(OFFICE if at % 2 else GUILD))
        if at > 1:
            made.link(name, "DELEGATED_TO", made.name(GUILD))
    made.link("Plan 1 - Old Pier", "SUPERSEDED_BY", "Plan 2 - New Pier")
    made.link("Plan 2 - New Pier", "SUPERSEDED_BY", "Plan 3 - Stone Pier")
    made.link("Plan 4 - Quay Number 4", "DEPENDS_ON", "Plan 5 - Quay Number 5")
    for at in range(4, 13):
        made.link(f"Plan {at} - {titles[at - 1]}", "SUPERSEDED_BY", made.name(f"Work {at}"))
    return made


def layer(made: Made | None = None) -> tuple[Reader, GraphLayer]:
    """Return what reads questions about these plans, and what answers them."""
    graph = KnowledgeGraph((made or plans()).knowledge())
    return Reader(graph, [cues("en")]), GraphLayer(graph)


def front(question: str, base: tuple[str, ...] = (), made: Made | None = None) -> list[str]:
    """Return the notes that go before the base ranking, by their titles."""
    reader, graph_layer = layer(made)
    answer = graph_layer.answer(reader.read(question), [path(each) for each in base], no_score)
    return [note.removesuffix(".md") for note in answer.front]


def no_score(lines):
    """Find all lines equally near."""
    return [0.0 for _ in lines]
