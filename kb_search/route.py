"""Which questions the graph layer is for, by rules; every decision says why. Pure.

The base ranking is the default: for a single fact, a broad theme, a paraphrase. The graph is for
what goes over links or over time, for counts and filters, and where what came back may be outdated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb_knowledge.records import CONFLICTS_WITH, SUPERSEDED, UNSTATED
from kb_search.asked import Asked
from kb_search.knowledge_graph import KnowledgeGraph

_LOOKED_AT = 5  # notes that came back
_SEVERAL = 2  # names


@dataclass(frozen=True)
class Route:
    """Whether the graph layer joins, and the reasons."""

    uses_graph: bool
    reasons: tuple[str, ...]


def route(asked: Asked, graph: KnowledgeGraph, base: Sequence[str]) -> Route:
    """Decide by the question, then by a look at the notes that the base ranking found."""
    reasons = [*_by_question(asked), *_by_names(asked)]
    if not reasons:
        reasons = list(_by_what_came_back(asked, graph, base[:_LOOKED_AT]))
    if reasons:
        return Route(True, tuple(reasons))
    return Route(False, ("nothing in it goes over links or time: the base ranking",))


def _by_question(asked: Asked) -> Iterator[str]:
    """Yield the reasons that hold where something is named."""
    if not asked.named:
        return
    for cue in asked.links:
        yield f"it asks for links of type {cue.name} of what it names"
    if asked.attributes and asked.dates:
        yield "it asks how something stood at a time"
    if asked.states:
        yield "it asks for a state: something planned, done or dropped"
    if "now" in asked.traits:
        yield "it asks how something stands now"
    if "why" in asked.traits:
        yield "it asks why"
    if asked.attributes:
        names = ", ".join(sorted({cue.name for cue in asked.attributes}))
        yield f"it asks for {names} of what it names"


def _by_names(asked: Asked) -> Iterator[str]:
    if len(asked.named) >= _SEVERAL:
        yield "it names several things"
    if asked.missing:
        yield "it names a number that nothing has"


def _by_what_came_back(asked: Asked, graph: KnowledgeGraph, base: Sequence[str]) -> Iterator[str]:
    """Yield what is suspicious about the notes found: values that changed, or disagree."""
    names = {cue.name for cue in asked.attributes}
    for note in base if names else ():
        entity = graph.entity_of_note(note)
        for number in graph.claims_of(entity, names) if entity is not None else ():
            claim = graph.line(number).claim
            if claim and claim.state in (SUPERSEDED, UNSTATED):
                yield "a note that came back states an outdated value of what is asked"
                return
            if any(kind == CONFLICTS_WITH for _, kind, _ in graph.related(number)):
                yield "notes that came back disagree about what is asked"
                return
