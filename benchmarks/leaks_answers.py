"""What the project answers, as the facts that the oracle gives: entities, links, stages of a walk.

Everything is read through the doors that questions use. `everything_said` is all text that any
answer over a view could hold, for words that must not stand in it.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from benchmarks.leaks_made import instant, micros
from benchmarks.leaks_oracle import Fact, name_of
from benchmarks.leaks_worlds import Question
from kb_core.ids import canonical_json
from kb_core.settings import Settings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_view import knowledge_of_view
from kb_search.live_rules import open_view
from kb_search.paths import Connected, connected
from kb_search.policy import Policy, Principal
from kb_search.view import View

_VARIANT = "keyword+graph"  # there are no vectors


def policy_of(question: Question) -> Policy:
    """Return the policy that a question is asked under."""
    asker = question.asker
    return Policy(
        Principal("somebody", asker.tenants, asker.groups),
        as_of=None if question.day is None else instant(question.day),
        excluded_notes=asker.excluded,
    )


def graph_of(
    build: PublishedBuild, policy: Policy, today: int, *, is_rechecked: bool = True
) -> KnowledgeGraph:
    """Return what the view of a policy says on a day.

    `is_rechecked`: kb.toml's rules of today look at the view once more, as in every answer. Without
    that, the view's own masks have to hold.
    """
    if is_rechecked:
        view = open_view(build, None, policy, _settings(), micros(today))
    else:
        view = View.over(build, None, policy, micros(today))
    graph = knowledge_of_view(build, view)
    if graph is None:
        raise ValueError("the build was made without knowledge")
    return graph


def walked(graph: KnowledgeGraph, question: Question) -> set[Fact]:
    """Return the stages of connected retrieval, or whom it asks about, as facts."""
    found = connected(
        graph, question.start, question.links, question.depth, question.kinds, question.attach
    )
    if found.start.number is None:
        asked = {("candidate", label(graph, each)) for each in found.start.candidates}
        return asked | {("asked back",)}
    return set(_stages(graph, found))


def known(graph: KnowledgeGraph) -> set[Fact]:
    """Return every entity with the number of chunks that speak of it, every link and claim."""
    facts: set[Fact] = set()
    for number in range(graph.size):
        facts.add(("thing", label(graph, number), graph.entity(number).chunks))
        if graph.entity(number).is_hub:
            facts.add(("hub", label(graph, number)))
    for number in range(graph.line_count):
        line = graph.line(number)
        if line.link:
            source, target = (label(graph, each) for each in line.entities)
            facts.add(("link", source, line.link.type, target, line.link.times))
    return facts


def everything_said(graph: KnowledgeGraph) -> str:
    """Return all text of a view's entities and lines, and how the lines relate."""
    entities = [repr(graph.entity(number)) for number in range(graph.size)]
    lines = [
        f"{graph.line(number)!r} {graph.related(number)!r}" for number in range(graph.line_count)
    ]
    return "\n".join([*entities, *lines, repr(graph.attributes), repr(graph.link_types)])


def label(graph: KnowledgeGraph, number: int) -> str:
    """Return what the oracle calls an entity: its note's path, or its tenant's name."""
    entity = graph.entity(number)
    return entity.note_ids[0] if entity.note_ids else name_of(entity.tenant, entity.name)


def _stages(graph: KnowledgeGraph, found: Connected) -> Iterator[Fact]:
    for each in found.reached:
        yield "reached", label(graph, each.number), each.depth
    for each in found.attached:
        yield "attached", label(graph, each.number)
    for note in found.eligible:
        yield "eligible", note
    for cut in found.truncated:
        yield "truncated", cut.what


def searched(build: PublishedBuild, question: Question, now: dt.datetime) -> str:
    """Return a search's whole answer as JSON, asked as of the question's day."""
    policy = policy_of(question)
    engine = Engine(build, _settings(), "vault")
    asked = f"what does {question.start} depend on, and what is its status?"
    as_of = replace(policy, as_of=policy.as_of or now)
    found = engine.search(asked, variant=_VARIANT, policy=as_of).to_json()
    return canonical_json(found)


@lru_cache(maxsize=1)
def _settings() -> Settings:
    """Return the defaults; reading the environment takes as long as answering."""
    return Settings()
