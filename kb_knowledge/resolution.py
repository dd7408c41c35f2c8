"""What the references of a view's chunks mean, within each tenant. Pure.

A name or a number means something of its chunk's own tenant. A link alone may lead into another
one: it takes the first note in view that its target could mean.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from kb_core.ids import content_id
from kb_core.link_targets import note_paths
from kb_core.names import name_key
from kb_knowledge.names import NOBODY, Meant, Names, entity_key
from kb_knowledge.note_names import stem
from kb_knowledge.records import NOTE, NUMBER, SELF, ChunkRow, Reference

PATH, ITSELF, NUMBERED = "path", "itself", "number"


class Resolved(NamedTuple):
    """An entity, and how it came to be meant."""

    entity_id: str
    tenant: str
    rule: str
    name: str  # the words that named it; empty where none did
    note_id: str | None = None


@lru_cache(maxsize=65536)
def note_entity(note_id: str) -> str:
    """Return the id of the entity that a note is."""
    return content_id("note", note_id)


class Resolver:
    """The notes in view, ready to be looked up."""

    def __init__(self, notes: Mapping[str, ChunkRow]) -> None:
        """Take the notes in view, each by one of its readable chunks."""
        self._notes = {
            note_id: Resolved(note_entity(note_id), row.tenant, ITSELF, "", note_id)
            for note_id, row in notes.items()
        }
        self._paths = note_paths(notes)
        self._names: dict[str, Names] = defaultdict(Names)
        for note_id, row in notes.items():
            self._names[row.tenant].add(note_id, row.title, stem(note_id), row.aliases)
        self._numbers: dict[tuple[str, str], set[Resolved]] = defaultdict(set)
        self._found: dict[tuple[str, str, str, str], Resolved | None] = {}

    def hear(self, tenant: str, text: str) -> None:
        """Take down a name in use before any is looked up."""
        self._names[tenant].hear(text)

    def number(self, carriers: Iterable[tuple[str, Resolved]]) -> None:
        """File what entities are known by: `pep 345`."""
        for text, entity in carriers:
            plain = entity._replace(rule=NUMBERED, name="")
            self._numbers[entity.tenant, name_key(text)].add(plain)

    def entity(self, chunk: ChunkRow, reference: Reference) -> Resolved | None:
        """Return what a chunk refers to; None for a number that is not exactly one's."""
        kind, text = reference
        if kind == SELF:
            return self._notes.get(chunk.note_id)
        # A link depends on where it stands, a name on whose it is; a link that fits no note is a
        # name, and an earlier version of its note may have been another tenant's.
        key = (kind, chunk.tenant, chunk.note_id if kind == NOTE else "", text)
        if key not in self._found:
            self._found[key] = self._look_up(chunk, kind, text)
        return self._found[key]

    def _look_up(self, chunk: ChunkRow, kind: str, text: str) -> Resolved | None:
        if not text.strip():
            return None
        if kind == NUMBER:
            carriers = self._numbers.get((chunk.tenant, name_key(text)), ())
            return next(iter(carriers)) if len(carriers) == 1 else None
        return self._linked(chunk, text) if kind == NOTE else self._named(chunk.tenant, text)

    def _linked(self, chunk: ChunkRow, written: str) -> Resolved | None:
        target = written.partition("|")[0].partition("#")[0].strip()
        if not target:  # a heading of the note itself
            return self._notes.get(chunk.note_id)
        found = self._paths.find(chunk.note_id, target)
        if found:
            return self._notes[found[0]]._replace(rule=PATH)
        name = target.rstrip("/").rpartition("/")[2]
        return self._named(chunk.tenant, name.removesuffix(".md") or target)

    def _named(self, tenant: str, text: str) -> Resolved:
        who = self._names[tenant].meant(text) if tenant in self._names else Meant(None, NOBODY)
        if who.note_id is not None:
            return self._notes[who.note_id]._replace(rule=who.rule, name=text)
        name = text.strip()
        return Resolved(content_id("name", tenant, entity_key(name)), tenant, who.rule, name)
