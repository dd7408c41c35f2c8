"""Entities of a view: the notes in it, and the names its chunks use that no note has. Pure.

A chunk speaks of what is its own tenant's. What another tenant's chunks say changes no entity: not
its type, its names, its counts, nor whether it is a hub.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kb_core.names import name_key
from kb_knowledge.hubs import is_hub
from kb_knowledge.names import NOBODY, SEVERAL
from kb_knowledge.note_names import stem
from kb_knowledge.records import SELF, ChunkRow, Entity, EntityMention, Mention, Merge
from kb_knowledge.resolution import ITSELF, NUMBERED, Resolved, note_entity

OWN_TYPE = "type"  # the basis of a note's word about what it is itself
_NAME_RULES = {NOBODY: "name", SEVERAL: "name of several"}


class Entities:
    """Everything spoken of, as it is heard."""

    def __init__(self) -> None:
        self._known: dict[str, Resolved] = {}
        self._speaking: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
        self._called: Counter[tuple[str, str, str]] = Counter()  # entity, name, rule
        self._types: dict[str, Counter[tuple[bool, str]]] = defaultdict(Counter)
        self._identifiers: dict[str, set[str]] = defaultdict(set)

    def __contains__(self, entity_id: str) -> bool:
        return entity_id in self._known

    def hear(self, chunk: ChunkRow, entity: Resolved) -> None:
        """Take down that a readable chunk speaks of an entity of its own tenant."""
        entity_id = entity.entity_id
        self._known.setdefault(entity_id, entity)
        self._speaking[entity_id][chunk[:2]] = chunk.note_id
        if entity.name:
            self._called[entity_id, entity.name, entity.rule] += 1

    def describe(self, entity: Resolved, said: Mention) -> None:
        """Take down of what type something is, or by which number it is known."""
        if said.type:
            is_own = said.basis == OWN_TYPE and said.subject.kind == SELF
            self._types[entity.entity_id][is_own, said.type] += 1

    def identify(self, entity_id: str, identifier: str) -> None:
        """Take down a number that an entity is known by."""
        self._identifiers[entity_id].add(identifier)

    def all(
        self,
        notes: Mapping[str, ChunkRow],
        readable: Mapping[str, int],
        hub_chunks: int | None,
    ) -> Iterator[Entity]:
        """Yield the entities; `readable` is how many readable chunks each tenant has."""
        spellings = self._spellings()
        for entity_id, known in self._known.items():
            speaking = self._speaking[entity_id]
            others = sum(note_id != known.note_id for note_id in speaking.values())
            note = None if known.note_id is None else notes[known.note_id]
            titles, aliases = _names(note) if note else (spellings[entity_id], ())
            yield Entity(
                entity_id=entity_id,
                tenant=known.tenant,
                name=titles[0],
                type=self._type(entity_id),
                titles=titles,
                aliases=aliases,
                identifiers=tuple(sorted(self._identifiers[entity_id])),
                note_ids=() if known.note_id is None else (known.note_id,),
                chunks=len(speaking),
                is_hub=is_hub(others, readable.get(known.tenant, 0), hub_chunks),
            )

    def mentions(self) -> list[EntityMention]:
        """Return which chunks speak of which entities, sorted."""
        return [
            EntityMention(entity_id, version_id, chunk_id)
            for entity_id in sorted(self._speaking)
            for version_id, chunk_id in sorted(self._speaking[entity_id])
        ]

    def merges(self) -> list[Merge]:
        """Return why each name belongs to its entity, sorted."""
        found = {
            Merge(entity_id, name_key(name), _NAME_RULES.get(rule, rule))
            for entity_id, name, rule in self._called
        }
        found |= {
            Merge(entity_id, name_key(name), NUMBERED)
            for entity_id, names in self._identifiers.items()
            for name in names
        }
        return sorted(found)

    def _spellings(self) -> dict[str, tuple[str, ...]]:
        """Return how the names that no note has are written, the most frequent way first."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for (entity_id, name, _), times in self._called.items():
            found[entity_id].append((-times, name))
        return {key: tuple(name for _, name in sorted(each)) for key, each in found.items()}

    def _type(self, entity_id: str) -> str:
        """Return what most say it is; its own note's word counts before all others'."""
        types = self._types[entity_id]
        best = min(types, key=lambda each: (not each[0], -types[each], each[1]), default=None)
        return best[1] if best else ""


def entity_of_note(chunk: ChunkRow) -> Resolved:
    """Return the entity that a readable chunk's own note is."""
    return Resolved(note_entity(chunk.note_id), chunk.tenant, ITSELF, "", chunk.note_id)


def _names(row: ChunkRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a note's titles and its other names."""
    titles = _distinct([row.title, stem(row.note_id)])
    taken = {name_key(each) for each in titles}
    return titles, tuple(each for each in _distinct(row.aliases) if name_key(each) not in taken)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        if name.strip():
            found.setdefault(name_key(name), name.strip())
    return tuple(found.values())
