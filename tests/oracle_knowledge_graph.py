"""The graph of a view by plain dictionaries: slow to make, and what the index is held against."""

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property

from kb_core.name_places import Found, places, without_overlaps
from kb_core.names import ALIAS, TITLE, forms_of, is_one_word, meant, name_key
from kb_knowledge.records import Claim, Entity, Knowledge, Link
from kb_search.knowledge_graph import Line


class PlainGraph:
    """Knowledge, filed for questions."""

    def __init__(self, knowledge: Knowledge) -> None:
        """File what a view says."""
        self._knowledge = knowledge

    @property
    def size(self) -> int:
        """How many entities there are."""
        return len(self._knowledge.entities)

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._knowledge.links) + len(self._knowledge.claims)

    def entity(self, number: int) -> Entity:
        """Return an entity."""
        return self._knowledge.entities[number]

    def numbered(self, entity_id: str) -> int | None:
        """Return the number of the entity with this id."""
        return self._numbers.get(entity_id)

    def entity_of_note(self, note_id: str) -> int | None:
        """Return the entity that a note is."""
        return self._by_note.get(note_id)

    def named(self, text: str) -> tuple[int, ...]:
        """Return every entity that is called exactly so: a title, an alias or an identifier."""
        return tuple(sorted(self._by_key.get(name_key(text), ())))

    def named_in(self, text: str) -> tuple[list[int], list[Found]]:
        """Return the entities a question names, in order, and where; `Found.name` is no matter."""
        found: dict[Found, tuple[int, ...]] = {}
        for start, end in places(text):
            carriers = self._meant_by(text[start:end])
            if carriers:
                found[Found(start, end, carriers[0])] = carriers
        kept = without_overlaps(found)
        return list(dict.fromkeys(each for place in kept for each in found[place])), kept

    def knows_label(self, label: str) -> bool:
        """Tell whether anything is known by a number under this label: `pep`."""
        return label in self._labels

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that a claim has, sorted."""
        return tuple(sorted({claim.attribute for claim in self._knowledge.claims}))

    @cached_property
    def link_types(self) -> tuple[str, ...]:
        """Every type that a link has, sorted."""
        return tuple(sorted({link.type for link in self._knowledge.links}))

    def links_of(
        self, entity: int, types: Collection[str] | None = None
    ) -> list[tuple[int, int, bool]]:
        """Return an entity's links of some types or all: line, the other end, is it the source."""
        return [
            each
            for each in self._links.get(entity, ())
            if types is None or self._knowledge.links[each[0]].type in types
        ]

    def claims_of(self, entity: int, attributes: Collection[str] | None = None) -> list[int]:
        """Return the lines of an entity's claims about some attributes or all."""
        first = len(self._knowledge.links)
        return [
            line
            for line in self._claims.get(entity, ())
            if attributes is None or self._knowledge.claims[line - first].attribute in attributes
        ]

    def claims_valued(self, value: str) -> list[int]:
        """Return the lines of the claims whose value is exactly this, folded."""
        return list(self._by_value.get(name_key(value), ()))

    def spoken_of_in(self, note_id: str) -> tuple[int, ...]:
        """Return the entities that the readable chunks of a note speak of, sorted."""
        return tuple(sorted(self._spoken.get(note_id, ())))

    def line(self, number: int) -> Line:
        """Return a line."""
        links = self._knowledge.links
        if number < len(links):
            return self._link_line(number, links[number])
        return self._claim_line(number, self._knowledge.claims[number - len(links)])

    def related(self, number: int) -> list[tuple[int, str, bool]]:
        """Return how a claim relates to others: the other line, the kind, is it the first named."""
        return list(self._relations.get(number, ()))

    def _link_line(self, number: int, link: Link) -> Line:
        source, target = self._numbers[link.source_id], self._numbers[link.target_id]
        words = link.type.replace("_", " ").lower()
        phrase = f": {link.phrases[0]}" if link.phrases else ""
        core = f"{self.entity(source).name} {words} {self.entity(target).name}{phrase}"
        notes = sorted({self._note_of_chunk[chunk] for chunk in link.chunk_ids})
        return Line(number, core, (source, target), tuple(notes), link, None)

    def _claim_line(self, number: int, claim: Claim) -> Line:
        entity = self._numbers[claim.entity_id]
        core = f"{self.entity(entity).name} {claim.attribute.replace('_', ' ')}: {claim.value}"
        return Line(number, core, (entity,), (claim.note_id,), None, claim)

    def _meant_by(self, form: str) -> tuple[int, ...]:
        key = name_key(form)
        rows = self._forms.get(key)
        if not rows:
            return ()
        kind, carriers = meant((kind, number) for kind, _, number in rows)
        if is_one_word(key):
            return carriers if any(f == form and k == kind for k, f, _ in rows) else ()
        return carriers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {each.entity_id: at for at, each in enumerate(self._knowledge.entities)}

    @cached_property
    def _by_note(self) -> dict[str, int]:
        return {
            note: at for at, each in enumerate(self._knowledge.entities) for note in each.note_ids
        }

    @cached_property
    def _by_key(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = defaultdict(set)
        for at, each in enumerate(self._knowledge.entities):
            for name in (each.name, *each.titles, *each.aliases, *each.identifiers):
                found[name_key(name)].add(at)
        return found

    @cached_property
    def _forms(self) -> dict[str, set[tuple[int, str, int]]]:
        found: dict[str, set[tuple[int, str, int]]] = defaultdict(set)
        for at, each in enumerate(self._knowledge.entities):
            for title in each.titles or (each.name,):
                for kind, form in forms_of(title, title, each.aliases):
                    found[name_key(form)].add((kind, form, at))
            for identifier in each.identifiers:
                for form in (identifier, identifier.upper(), identifier.title()):
                    found[name_key(identifier)].add((ALIAS if each.titles else TITLE, form, at))
        return found

    @cached_property
    def _labels(self) -> frozenset[str]:
        every = (name for each in self._knowledge.entities for name in each.identifiers)
        return frozenset(name.rpartition(" ")[0] for name in every)

    @cached_property
    def _links(self) -> dict[int, list[tuple[int, int, bool]]]:
        found: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
        for at, link in enumerate(self._knowledge.links):
            source, target = self._numbers[link.source_id], self._numbers[link.target_id]
            found[source].append((at, target, True))
            if source != target:
                found[target].append((at, source, False))
        return found

    @cached_property
    def _claims(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for at, claim in enumerate(self._knowledge.claims, start=len(self._knowledge.links)):
            found[self._numbers[claim.entity_id]].append(at)
        return found

    @cached_property
    def _by_value(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, claim in enumerate(self._knowledge.claims, start=len(self._knowledge.links)):
            found[name_key(claim.value)].append(at)
        return found

    @cached_property
    def _note_of_chunk(self) -> dict[str, str]:
        return dict(self._knowledge.chunk_notes)

    @cached_property
    def _spoken(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = defaultdict(set)
        for each in self._knowledge.mentions:
            found[self._note_of_chunk[each.chunk_id]].add(self._numbers[each.entity_id])
        return found

    @cached_property
    def _relations(self) -> dict[int, list[tuple[int, str, bool]]]:
        first = len(self._knowledge.links)
        lines = {c.claim_id: at for at, c in enumerate(self._knowledge.claims, start=first)}
        found: dict[int, list[tuple[int, str, bool]]] = defaultdict(list)
        for each in self._knowledge.relations:
            one, other = lines[each.claim_id], lines[each.other_id]
            found[one].append((other, each.kind, True))
            found[other].append((one, each.kind, False))
        return found
