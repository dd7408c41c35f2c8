"""The way of one question through the graph: from what it names, along what it asks for.

The nearest cue is followed from the name, the next ones from where it led: "who wrote what
replaced X" goes from X to what replaced it, and from there to its authors. Pure.
"""

from collections.abc import Iterable, Sequence

from kb_search.asked import Asked, Cue, Named
from kb_search.claims_asked import ClaimsAsked, is_outdated
from kb_search.knowledge_graph import KnowledgeGraph, Line

FRONT_NOTES = 10  # before the base ranking; what is asked for widely says little about each
SUPERSEDES = "SUPERSEDED_BY"
_SURE = frozenset({"fact", "reported"})
OWNERSHIP = ("AUTHORED_BY", "OWNED_BY")  # of what stands behind a possessive


class Walk:
    """One question's way through the graph."""

    def __init__(
        self, graph: KnowledgeGraph, asked: Asked, links_per_entity: int, base: Sequence[str]
    ) -> None:
        """Take the notes of the base ranking, best first: by them ends are put in order."""
        self.implied: dict[int, int] = {}  # lines of what was asked for, by their hops
        self.beside: set[int] = set()  # of them, what others superseded or dispute
        self._graph = graph
        self._asked = asked
        self._most = links_per_entity
        self._ranks = {note: at for at, note in enumerate(base)}
        self._claims = ClaimsAsked(graph, asked)
        self._newer: list[tuple[int, int]] = []  # a superseding entity, and the one it supersedes
        self._stated: dict[str, tuple[int, int]] = {}  # notes of the front, by past and hops
        self._held: set[str] = set()  # the types and attributes asked for that were found

    def follow(self, named: Named) -> None:
        """Take the links and claims that the question asks of one name."""
        near = sorted(self._asked.links, key=lambda cue: (self._asked.distance(named, cue), cue))
        steps = near or self._owned(named)
        for entity in named.entities:
            reached = self._first_step(entity, named, steps)
            self._claim_lines([entity], 0)
            self._claim_lines(reached, 1)
        self._valued(named)

    def _owned(self, named: Named) -> list[Cue]:
        """Return what is meant by "her proposals" where no other cue says it."""
        is_owner = self._claims.has_conditions and self._asked.is_owner(named)
        return [Cue(named.end, named.end, each, False) for each in OWNERSHIP] if is_owner else []

    def _first_step(self, entity: int, named: Named, steps: Sequence[Cue]) -> list[int]:
        """Follow the nearest cue that leads anywhere, then the others from where it led."""
        for at, cue in enumerate(steps):
            reached = self._step(entity, cue, self._side(named, cue), 1)
            if reached:
                rest = [each for each in steps[at + 1 :] if each.name != cue.name]
                self._next_steps(entity, reached, cue, named, rest)
                return reached
        return []

    def _next_steps(
        self, entity: int, reached: Sequence[int], cue: Cue, named: Named, rest: Sequence[Cue]
    ) -> None:
        through = [each for each in reached if not self._graph.entity(each).is_hub]
        if self._is_chain(cue):
            for each in through:
                found = self._step(each, cue, (self._is_source(entity, cue, each), True), 2, entity)
                self._claim_lines(found, 2)
        for other in rest:
            ends = [end for each in through for end in self._step(each, other, None, 2)]
            if not ends:
                self._step(entity, other, None, 1)

    def _is_source(self, entity: int, cue: Cue, end: int) -> bool:
        links = self._graph.links_of(entity, {cue.name})
        return next(side for line, other, side in links if other == end and line in self.implied)

    def _is_chain(self, cue: Cue) -> bool:
        """Tell whether a type is asked for twice: "replaced, and its replacement in turn"."""
        again = sum(each.name == cue.name for each in self._asked.links) > 1
        return again or "chain" in self._asked.traits

    def _side(self, named: Named, cue: Cue) -> tuple[bool, bool]:
        direction = self._asked.direction(named, cue)
        return direction.is_source, direction.is_sure

    def _step(
        self,
        entity: int,
        cue: Cue,
        side: tuple[bool, bool] | None,
        hops: int,
        back: int | None = None,
    ) -> list[int]:
        """Take an entity's links of a type in the direction asked; return the other ends."""
        links = self._graph.links_of(entity, {cue.name})
        wanted = [each for each in links if side is None or each[2] == side[0]]
        if not wanted and side is not None and not side[1]:
            wanted = links
        ends = [end for _, end, _ in wanted if end != back]
        kept = self._claims.holding(ends, excluded=entity)
        order = sorted(
            (each for each in wanted if each[1] in kept), key=lambda each: self._place(each[1])
        )
        for line, end, is_source in order[: self._most]:
            self._keep_link(line, entity, end, is_source, hops)
        if self._claims.has_conditions:
            self._claim_lines(sorted(kept), hops, only_conditions=True)
        return [end for _, end, _ in order[: self._most]]

    def _keep_link(self, number: int, entity: int, end: int, is_source: bool, hops: int) -> None:
        self.implied.setdefault(number, hops)
        line = self._graph.line(number)
        type_ = line.link.type if line.link else ""
        self._held.add(type_)
        if _is_unsure(line):  # what was only planned is no answer to what is so
            return
        if type_ == SUPERSEDES:
            self._newer.append((end, entity) if is_source else (entity, end))
        for note in (*self._notes(end), *line.note_ids):
            self._stated.setdefault(note, (0, hops))

    def _claim_lines(
        self, entities: Iterable[int], hops: int, only_conditions: bool = False
    ) -> None:
        """Keep the claims that the question asks of some entities, with their neighbours."""
        for entity in entities:
            for number in self._claims.asked_of(entity, only_conditions):
                self.implied.setdefault(number, hops)
                self.beside.discard(number)
                self._state(number, hops)
                self._neighbours(number, hops)

    def is_over(self, number: int) -> bool:
        """Tell whether another row of the same series has come into force since."""
        return self._graph.line(number).claim is not None and self._claims.is_over(number)

    def _neighbours(self, number: int, hops: int) -> None:
        (entity,) = self._graph.line(number).entities
        attribute = self._claims.claim(number).attribute
        rows = [
            each for each in self._graph.claims_of(entity, {attribute}) if self._claims.is_off(each)
        ]
        rows.sort(key=lambda each: (self._claims.claim(each).valid_from or "", each))
        latest = rows[-self._most :]
        for other in (*(each for each, _, _ in self._graph.related(number)), *latest):
            if other not in self.implied:
                self.implied[other] = hops
                self.beside.add(other)

    @property
    def is_dated(self) -> bool:
        """Tell whether the question is about how things stood on a day."""
        return self._claims.is_dated

    def _state(self, number: int, hops: int) -> None:
        claim = self._claims.claim(number)
        self._held.add(claim.attribute)
        if claim.modality not in _SURE:
            return
        is_past = is_outdated(claim) and not self._claims.is_dated
        self._stated.setdefault(claim.note_id, (int(is_past), hops))

    def _valued(self, named: Named) -> None:
        """Keep claims that have the name as their value: `delegate: Brett Cannon`."""
        text = self._asked.question[named.start : named.end]
        names = {cue.name for cue in self._asked.attributes}
        for number in self._graph.claims_valued(text) if names else ():
            line = self._graph.line(number)
            is_asked = self._claims.claim(number).attribute in names
            if is_asked and self._claims.holding(line.entities):
                self.implied.setdefault(number, 1)
                self._state(number, 1)
                self._claim_lines(line.entities, 1, only_conditions=True)

    def between(self) -> None:
        """Keep every link between two things that are named: how they connect."""
        entities = self._asked.entities
        for entity in entities if len(entities) > 1 else ():
            for line, end, _ in self._graph.links_of(entity):
                if end in entities:
                    self.implied.setdefault(line, 1)

    def around(self, seeds: Sequence[int]) -> list[int]:
        """Return the other lines of what is named and of the seeds: claims, and so many links.

        A hub that is only a seed gives its claims: its links say little about the question.
        """
        found: dict[int, None] = {}
        for entity in dict.fromkeys((*self._asked.entities, *seeds)):
            found.update(dict.fromkeys(self._graph.claims_of(entity)))
            is_start = entity in self._asked.entities or not self._graph.entity(entity).is_hub
            links = self._graph.links_of(entity) if is_start else []
            order = sorted(links, key=lambda each: (self._place(each[1]), each[0]))
            found.update(dict.fromkeys(line for line, _, _ in order[: self._most]))
        return [line for line in found if line not in self.implied]

    def front(self) -> tuple[str, ...]:
        """Return the notes that state what was asked for: current first, then as the base has."""
        excluded = {
            note for each in self._asked.excluded for note in self._graph.entity(each).note_ids
        }
        order = sorted(self._stated, key=lambda n: (*self._stated[n], self._rank(n), n))
        kept = [note for note in order if note not in excluded]
        for newer, older in self._newer:
            kept = _before(kept, self._notes(newer), self._notes(older))
        return tuple(kept[:FRONT_NOTES])

    def lacking(self) -> tuple[str, ...]:
        """Return what was asked of the one thing named, if it has nothing of that."""
        names = {cue.name for cue in self._asked.links} | self._claims.attributes
        if len(self._asked.entities) != 1 or not names.isdisjoint(self._held):
            return ()
        return tuple(sorted(names))

    def _notes(self, entity: int) -> tuple[str, ...]:
        return self._graph.entity(entity).note_ids

    def _place(self, entity: int) -> tuple[int, str]:
        each = self._graph.entity(entity)
        return min(map(self._rank, each.note_ids), default=len(self._ranks)), each.entity_id

    def _rank(self, note: str) -> int:
        return self._ranks.get(note, len(self._ranks))


def _is_unsure(line: Line) -> bool:
    """Tell whether a link was never more than a plan or an opinion."""
    said = line.link.modalities if line.link is not None else ()
    return bool(said) and _SURE.isdisjoint(said)


def _before(order: list[str], newer: Iterable[str], older: Iterable[str]) -> list[str]:
    """Put the newer notes right before the first of the older ones, if they stand behind it."""
    places = [order.index(note) for note in older if note in order]
    late = [note for note in newer if note in order and places and order.index(note) > min(places)]
    if not late:
        return order
    at = min(places)
    rest = [note for note in order[at:] if note not in late]
    return [*order[:at], *late, *rest]
