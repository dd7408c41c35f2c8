"""The graph layer: which link and claim lines a question wants, and which notes go before the rest.

From what a question names one link is followed, two where it implies a chain, and never through a
hub, though a hub may be the start. Links and claims of a kind that the question asks for are taken
first and never trimmed; every other line has to come near the best one. The notes that state what
was asked for go before the base ranking, current ones before superseded ones.
Pure: the same view, question and base ranking give the same lines and notes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kb_knowledge.records import CONFLICTS_WITH
from kb_search.asked import Asked
from kb_search.claims_asked import is_outdated
from kb_search.graph_walk import Walk
from kb_search.knowledge_graph import KnowledgeGraph, Line

SEEDS = 8  # notes of the base ranking whose entities are looked at, too
LINKS_PER_ENTITY = 25
MARGIN = 0.15  # of bge-m3; the embedder's profile has its own

# Scores lines against the question, from -1 to 1.
Score = Callable[[Sequence[Line]], Sequence[float]]


@dataclass(frozen=True)
class KeptLine:
    """A line an answerer may read, and why."""

    line: Line
    score: float
    hops: int  # links between it and what was named; 0: a claim of the named one itself
    is_implied: bool  # of a type or an attribute that the question asks for
    is_past: bool  # superseded, or no longer stated
    is_disputed: bool  # another claim of the same date says otherwise
    is_beside: bool = False  # it says what another line of the answer superseded or disputes


@dataclass(frozen=True)
class GraphAnswer:
    """What the graph adds to a ranking."""

    entries: tuple[int, ...] = ()  # entities: those named, then the seeds
    lines: tuple[KeptLine, ...] = ()
    front: tuple[str, ...] = ()  # notes before the base ranking
    trimmed: int = 0  # lines that were too far from the question
    lacking: tuple[str, ...] = ()  # types and attributes asked for; what was named has none of them


@dataclass(frozen=True)
class Limits:
    """How much is taken in."""

    margin: float | None = MARGIN  # None: nothing is trimmed
    links_per_entity: int = LINKS_PER_ENTITY


NO_LIMITS = Limits()


class GraphLayer:
    """The lines of one view, for questions."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph

    def answer(
        self, asked: Asked, base: Sequence[str], score: Score, limits: Limits = NO_LIMITS
    ) -> GraphAnswer:
        """Return the lines and notes for a question; `base` are the ranked notes, best first."""
        found = (self._graph.entity_of_note(note) for note in base[:SEEDS])
        seeds = [each for each in found if each is not None]
        walk = Walk(self._graph, asked, limits.links_per_entity, base)
        for named in asked.named:
            walk.follow(named)
        walk.between()
        lines = [self._implied(number, walk) for number in walk.implied]
        lines += [self._line(number, walk) for number in walk.around(seeds)]
        kept, trimmed = _trimmed(lines, score, limits.margin)
        return GraphAnswer(
            entries=tuple(dict.fromkeys((*asked.entities, *seeds))),
            lines=tuple(kept),
            front=walk.front(),
            trimmed=trimmed,
            lacking=walk.lacking(),
        )

    def _implied(self, number: int, walk: Walk) -> KeptLine:
        """Return a line of what was asked for; what held on the day asked about is not past."""
        is_beside = number in walk.beside
        found = replace(self._line(number, walk), hops=walk.implied[number], is_implied=True)
        is_past = found.is_past and (is_beside or not walk.is_dated)
        return replace(found, is_beside=is_beside, is_past=is_past)

    def _line(self, number: int, walk: Walk) -> KeptLine:
        line = self._graph.line(number)
        is_past = line.claim is not None and (is_outdated(line.claim) or walk.is_over(number))
        is_disputed = any(kind == CONFLICTS_WITH for _, kind, _ in self._graph.related(number))
        return KeptLine(line, 0.0, 1, False, is_past, is_disputed)


def _trimmed(
    lines: Sequence[KeptLine], score: Score, margin: float | None
) -> tuple[list[KeptLine], int]:
    """Score the lines, leave out what is too far below the best, and put them in order."""
    scores = score([each.line for each in lines])
    least = max(scores, default=0.0) - margin if margin is not None else -2.0
    kept = [
        replace(each, score=value)
        for each, value in zip(lines, scores, strict=True)
        if each.is_implied or value >= least
    ]
    return sorted(kept, key=_order), len(lines) - len(kept)


def _order(kept: KeptLine) -> tuple[bool, bool, bool, float, int]:
    is_first = (not kept.is_implied, kept.is_beside, kept.is_past)
    return (*is_first, -kept.score, kept.line.number)
