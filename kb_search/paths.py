"""Connected records: from one start along links of some types, then to the documents attached.

Three stages, each to be looked at by itself: the entities reached, what is attached to them, and
the notes of that which can be read. The graph holds what the view allows and nothing else, so
every link has both its ends there and no route leads through anything that is closed. Depth and
bounds limit the work; they permit nothing. What a bound cut off is told. Pure.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.policy import fold_name
from kb_search.starts import Start, folded_all, is_of_kind, start_of


class Shown(Protocol):
    """What may be handed over, asked right before it is."""

    def chunk(self, chunk_id: str) -> bool:
        """Tell whether a chunk of the view may."""

    def note(self, note_id: str) -> bool:
        """Tell whether any chunk of a note of the view may."""


@dataclass(frozen=True)
class Bounds:
    """How much one retrieval may take in."""

    nodes: int = 200
    documents: int = 50


DEFAULT_BOUNDS = Bounds()
AGAINST = "^"  # before a type: against the direction of its links


@dataclass(frozen=True)
class Reached:
    """An entity, how many links away it is, and the lines of the links that led to it."""

    number: int
    depth: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Truncated:
    """What a bound cut off."""

    what: str  # nodes, documents
    kept: int
    left_out: int
    is_exact: bool  # so many and no more; else at least so many


@dataclass(frozen=True)
class Connected:
    """What a start leads to, stage by stage, each in order of depth, then of entity id."""

    start: Start
    reached: tuple[Reached, ...] = ()  # the start itself at depth 0
    attached: tuple[Reached, ...] = ()  # depth: of the nearest entity it is attached to
    eligible: tuple[str, ...] = ()  # the notes of the attached, or of the reached, to be read
    truncated: tuple[Truncated, ...] = ()


def connected(
    graph: KnowledgeGraph,
    start: str,
    links: Collection[str],
    depth: int,
    kinds: Collection[str] = (),
    attach: Collection[str] = (),
    bounds: Bounds = DEFAULT_BOUNDS,
    shown: Shown | None = None,
) -> Connected:
    """Follow links of these types or labels outward from the start, at most `depth` of them.

    `^TYPE` follows links of a type against their direction, to what states them. The start and
    every entity reached is of one of the kinds, if any are given; each is reached once, by the
    fewest links. From each of them one link of a type or label in `attach` leads to a document, of
    whatever kind. Without `attach` those reached are themselves the documents. A start that is not
    exactly one entity reaches nothing: it is asked back.
    """
    walk = _Walk(graph, folded_all(kinds), bounds, shown)
    found = walk.start(start, kinds)
    if found.number is None:
        return Connected(found)
    reached = walk.reach(found.number, _types(links), depth)
    attached = walk.attach(reached, _types(attach)) if attach else []
    eligible = walk.notes(attached if attach else reached)
    return Connected(found, tuple(reached), tuple(attached), eligible, tuple(walk.truncated))


class _Types(NamedTuple):
    """What is followed, folded: along links, and against them."""

    along: frozenset[str]
    against: frozenset[str]


def _types(names: Collection[str]) -> _Types:
    against = {each.strip()[1:] for each in names if each.strip().startswith(AGAINST)}
    along = {each for each in names if not each.strip().startswith(AGAINST)}
    return _Types(folded_all(along), folded_all(against))


class Evident:
    """What of a graph may be shown: that for which a chunk speaks that may be handed over."""

    def __init__(self, graph: KnowledgeGraph, shown: Shown | None) -> None:
        self._graph = graph
        self._shown = shown

    def line(self, number: int) -> bool:
        """Tell whether anything that says so may be shown."""
        if self._shown is None:
            return True
        shown, said = self._shown, self._graph.line(number)
        chunks = said.link.chunk_ids if said.link else (said.claim.chunk_id,) if said.claim else ()
        return any(shown.chunk(chunk) for chunk in chunks)

    def entity(self, number: int) -> bool:
        """Tell whether an entity may be named: by a note of its own, or by what is said of it."""
        if self._shown is None:
            return True
        notes = self._graph.entity(number).note_ids
        if notes:
            return any(self._shown.note(note) for note in notes)
        lines = [line for line, _, _ in self._graph.links_of(number)]
        return any(self.line(each) for each in (*lines, *self._graph.claims_of(number)))


class _Walk:
    """One retrieval: what it may take in, and what it had to leave out."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        kinds: Collection[str],
        bounds: Bounds,
        shown: Shown | None,
    ) -> None:
        self.truncated: list[Truncated] = []
        self._graph = graph
        self._kinds = kinds
        self._bounds = bounds
        self._shown = shown
        self._evident = Evident(graph, shown)

    def start(self, text: str, kinds: Collection[str]) -> Start:
        return start_of(self._graph, text, kinds).among(self._evident.entity)

    def reach(self, start: int, types: _Types, depth: int) -> list[Reached]:
        reached = [Reached(start, 0)]
        seen = {start}
        level = reached
        for at in range(1, depth + 1):
            found = self._next(level, types, seen)
            level = [Reached(each, at, found[each]) for each in self._by_id(found)]
            room = self._bounds.nodes - len(reached)
            if len(level) > room:
                self._cut("nodes", len(reached) + room, len(level) - room, is_exact=at == depth)
                return [*reached, *level[:room]]
            reached = [*reached, *level]
            seen |= set(found)
        return reached

    def attach(self, reached: Sequence[Reached], types: _Types) -> list[Reached]:
        depths: dict[int, int] = {}
        lines: dict[int, list[int]] = defaultdict(list)
        for each in reached:
            for line, other in self._links(each.number, types):
                depths.setdefault(other, each.depth)
                lines[other].append(line)
        found = [Reached(at, depths[at], tuple(sorted(lines[at]))) for at in self._by_id(depths)]
        found.sort(key=lambda each: each.depth)
        most = self._bounds.documents
        if len(found) > most:
            is_exact = not self.truncated  # entities left out may have had more
            self._cut("documents", most, len(found) - most, is_exact=is_exact)
        return found[:most]

    def notes(self, documents: Sequence[Reached]) -> tuple[str, ...]:
        every = (note for each in documents for note in self._graph.entity(each.number).note_ids)
        kept = (note for note in every if self._shown is None or self._shown.note(note))
        return tuple(dict.fromkeys(kept))

    def _next(
        self, level: Sequence[Reached], types: _Types, seen: Collection[int]
    ) -> dict[int, tuple[int, ...]]:
        """Return what one more link leads to and nothing led to before, with the lines."""
        found: dict[int, set[int]] = defaultdict(set)
        for each in level:
            for line, other in self._links(each.number, types):
                if other not in seen and is_of_kind(self._graph.entity(other), self._kinds):
                    found[other].add(line)
        return {other: tuple(sorted(lines)) for other, lines in found.items()}

    def _links(self, entity: int, types: _Types) -> Iterator[tuple[int, int]]:
        """Yield the lines of the links that are followed from an entity, and where they lead."""
        for line, other, is_source in self._graph.links_of(entity):
            is_wanted = self._is_of(line, types.along if is_source else types.against)
            if is_wanted and self._evident.line(line) and self._evident.entity(other):
                yield line, other

    def _is_of(self, line: int, types: Collection[str]) -> bool:
        link = self._graph.line(line).link if types else None
        if link is None:
            return False
        return any(fold_name(each) in types for each in (link.type, *link.labels))

    def _by_id(self, numbers: Collection[int]) -> list[int]:
        return sorted(numbers, key=lambda each: self._graph.entity(each).entity_id)

    def _cut(self, what: str, kept: int, left_out: int, *, is_exact: bool) -> None:
        self.truncated.append(Truncated(what, kept, left_out, is_exact))
