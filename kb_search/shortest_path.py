"""How two things connect: the shortest way of a few hops, through links of any kind. Pure.

A hop is a typed link, a note's link or a mention, in either direction. No way leads through a hub,
where everything meets everything; the two ends may be hubs. Of equally short ways it is the one
whose entity ids come first, hop by hop.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.note_graph import NotesInView
from kb_search.paths import Evident, Shown

MOST_HOPS = 4


@dataclass(frozen=True)
class Hop:
    """One step of a way: where it leads, and what joins it to where it comes from."""

    number: int
    lines: tuple[int, ...]  # typed links, in either direction
    is_linked: bool  # the note before links to this one or mentions it
    is_linked_from: bool  # this one's note links to the one before or mentions it


class Ways:
    """The links of every kind between the entities of a view."""

    def __init__(
        self, graph: KnowledgeGraph, notes: NotesInView | None = None, shown: Shown | None = None
    ) -> None:
        """Take typed links, and notes' links where there are any; `shown` leaves out the rest."""
        self._graph = graph
        self._notes = notes
        self._evident = Evident(graph, shown)
        self._places = {note_id: at for at, note_id in notes.in_view()} if notes else {}
        self._near: dict[int, frozenset[int]] = {}

    def shortest(self, start: int, end: int, most_hops: int = MOST_HOPS) -> tuple[Hop, ...] | None:
        """Return the hops from one entity to another; None if so many do not suffice."""
        if start == end:
            return ()
        ahead, behind = [frozenset({start})], [frozenset({end})]
        for hop in range(most_hops):
            if hop % 2:
                behind.append(self._next(behind, start))
            else:
                ahead.append(self._next(ahead, end))
            if ahead[-1] & behind[-1]:
                return tuple(self._hops(start, self._layers(ahead, behind)))
        return None

    def _next(self, levels: Sequence[frozenset[int]], end: int) -> frozenset[int]:
        """Return what one more hop leads to and no fewer do: no hub, unless it is the end."""
        found = self._around(levels[-1]).difference(*levels)
        return frozenset(n for n in found if n == end or not self._graph.entity(n).is_hub)

    def _layers(
        self, ahead: Sequence[frozenset[int]], behind: Sequence[frozenset[int]]
    ) -> list[frozenset[int]]:
        """Return, hop by hop, what lies on any of the shortest ways."""
        layers = [ahead[-1] & behind[-1]]
        for level in reversed(ahead[1:-1]):
            layers.insert(0, level & self._around(layers[0]))
        return [*layers, *reversed(behind[:-1])]

    def _hops(self, start: int, layers: Iterable[frozenset[int]]) -> Iterator[Hop]:
        before = start
        for layer in layers:
            nearest = layer & self._beside(before)
            number = min(nearest, key=lambda each: self._graph.entity(each).entity_id)
            yield self._hop(before, number)
            before = number

    def _hop(self, before: int, number: int) -> Hop:
        lines = [line for line, other in self._typed(before) if other == number]
        linked, linked_from = self._noted(before), self._noted(number)
        return Hop(number, tuple(sorted(set(lines))), number in linked, before in linked_from)

    def _around(self, entities: Collection[int]) -> frozenset[int]:
        return frozenset[int]().union(*(self._beside(each) for each in entities))

    def _beside(self, entity: int) -> frozenset[int]:
        if entity not in self._near:
            found = {other for _, other in self._typed(entity)}
            found |= self._noted(entity) | self._noted(entity, is_source=False)
            self._near[entity] = frozenset(found - {entity})
        return self._near[entity]

    def _typed(self, entity: int) -> Iterator[tuple[int, int]]:
        for line, other, _ in self._graph.links_of(entity):
            if self._evident.line(line) and self._evident.entity(other):
                yield line, other

    def _noted(self, entity: int, *, is_source: bool = True) -> set[int]:
        """Return the entities whose notes an entity's notes link to or mention, or the reverse."""
        found: set[int] = set()
        for note_id in self._graph.entity(entity).note_ids:
            place = self._places.get(note_id)
            if self._notes is None or place is None:
                continue
            others = self._notes.targets(place) if is_source else self._notes.sources(place)
            numbers = (
                self._graph.entity_of_note(self._notes.id_of(each)) for each in others.tolist()
            )
            found.update(n for n in numbers if n is not None and self._evident.entity(n))
        return found
