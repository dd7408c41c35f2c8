"""The entities of a view, what they are called, and the link and claim lines between them. Pure.

Entities and lines are numbered as the index holds them; lines are links first, then claims. What a
question does not touch is not decoded.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kb_core.name_places import Found, places, without_overlaps
from kb_core.names import is_one_word, meant, name_key
from kb_knowledge.records import Claim, Entity, Knowledge, Link
from kb_search.knowledge_index import (
    CLAIM_ATTRIBUTE,
    CLAIM_ENTITY,
    CLAIM_IS_WEAK,
    ENTITY_LISTS,
    LINK_LISTS,
    Arrays,
    hash_of,
    knowledge_arrays,
)


class Line(NamedTuple):
    """A link or a claim, as an answerer may read it."""

    number: int
    core: str  # who, what, whom, in which words: no view changes it
    entities: tuple[int, ...]  # a link's source and target, or a claim's entity
    note_ids: tuple[str, ...]  # of its evidence, sorted
    link: Link | None
    claim: Claim | None


class KnowledgeGraph:
    """Knowledge, filed for questions."""

    def __init__(self, known: Knowledge | Arrays) -> None:
        """Take what a view says, or the index of it, opened."""
        arrays = knowledge_arrays(known) if isinstance(known, Knowledge) else known
        # As plain arrays: a memory-mapped one takes ten times as long to slice.
        self._arrays: Mapping[str, np.ndarray] = {
            name: np.asarray(array) for name, array in arrays.items()
        }
        self._bytes = memoryview(self._arrays["texts"])  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """How many entities there are."""
        return len(self._arrays["entities"])

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return self._first_claim + len(self._arrays["claims"])

    def entity(self, number: int) -> Entity:
        """Return an entity."""
        entity_id, tenant, name, kind, chunks, is_hub = self._arrays["entities"][number].tolist()
        titles, aliases, identifiers, notes = self._lists("entity", number, len(ENTITY_LISTS))
        return Entity(
            entity_id=self._text(entity_id),
            tenant=self._text(tenant),
            name=self._text(name),
            type=self._text(kind),
            titles=titles,
            aliases=aliases,
            identifiers=identifiers,
            note_ids=notes,
            chunks=chunks,
            is_hub=bool(is_hub),
        )

    def numbered(self, entity_id: str) -> int | None:
        """Return the number of the entity with this id."""
        return next(iter(self._looked_up("id", "entities", entity_id)), None)

    def entity_of_note(self, note_id: str) -> int | None:
        """Return the entity that a note is."""
        return next(iter(self._looked_up("note", "entities", note_id)), None)

    def named(self, text: str) -> tuple[int, ...]:
        """Return every entity that is called exactly so: a title, an alias or an identifier."""
        return tuple(self._looked_up("key", "entities", name_key(text)))

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
        return tuple(self._texts_of("attributes"))

    @cached_property
    def link_types(self) -> tuple[str, ...]:
        """Every type that a link has, sorted."""
        return tuple(self._texts_of("link_types"))

    def links_of(
        self, entity: int, types: Collection[str] | None = None
    ) -> list[tuple[int, int, bool]]:
        """Return an entity's links of some types or all: line, the other end, is it the source."""
        rows = self._group("edge", "edges", entity)
        if types is not None and len(rows):
            wanted = [number for name, number in self._type_numbers.items() if name in types]
            rows = rows[np.isin(self._arrays["links"][rows[:, 0], 3], wanted)]
        return [(line, other, bool(is_source)) for line, other, is_source in rows.tolist()]

    def claims_of(self, entity: int, attributes: Collection[str] | None = None) -> list[int]:
        """Return the lines of an entity's claims about some attributes or all."""
        lines = self._group("about", "about", entity)[:, 0]
        if attributes is not None and len(lines):
            numbers = self._attribute_numbers
            wanted = [number for name, number in numbers.items() if name in attributes]
            lines = lines[
                np.isin(self._arrays["claims"][lines - self._first_claim, CLAIM_ATTRIBUTE], wanted)
            ]
        found: list[int] = lines.tolist()
        return found

    def claims_valued(self, value: str) -> list[int]:
        """Return the lines of the claims whose value is exactly this, folded."""
        return self._looked_up("value", "lines", name_key(value))

    def spoken_of_in(self, note_id: str) -> tuple[int, ...]:
        """Return the entities that the readable chunks of a note speak of, sorted."""
        return tuple(self._looked_up("spoken", "entities", note_id))

    def line(self, number: int) -> Line:
        """Return a line."""
        if number < self._first_claim:
            return self._link_line(number)
        return self._claim_line(number)

    def cores(self) -> Iterator[str]:
        """Yield the cores of all lines, in order."""
        for number in range(self.line_count):
            yield self.line(number).core

    def related(self, number: int) -> list[tuple[int, str, bool]]:
        """Return how a claim relates to others: the other line, the kind, is it the first named."""
        at = number - self._first_claim
        rows = self._group("relation", "relations", at).tolist() if at >= 0 else []
        return [(other, self._text(kind), bool(is_first)) for other, kind, is_first in rows]

    def _link_line(self, number: int) -> Line:
        link_id, source, target, kind, times, first, last = self._arrays["links"][number].tolist()
        lists = self._lists("link", number, len(LINK_LISTS))
        labels, phrases, chunks, modalities, extractors, notes = lists
        link = Link(
            link_id=self._text(link_id),
            source_id=self._entity_text(source, 0),
            target_id=self._entity_text(target, 0),
            type=self._text(kind),
            labels=labels,
            times=times,
            phrases=phrases,
            chunk_ids=chunks,
            modalities=modalities,
            first_seen=self._text_or_none(first),
            last_seen=self._text_or_none(last),
            extractors=extractors,
        )
        words = link.type.replace("_", " ").lower()
        phrase = f": {phrases[0]}" if phrases else ""
        ends = (self._entity_text(source, 2), self._entity_text(target, 2))
        core = f"{ends[0]} {words} {ends[1]}{phrase}"
        return Line(number, core, (source, target), notes, link, None)

    def _claim_line(self, number: int) -> Line:
        row = self._arrays["claims"][number - self._first_claim].tolist()
        entity, is_weak = row[CLAIM_ENTITY], bool(row[CLAIM_IS_WEAK])
        values: list[Any] = [self._text_or_none(each) for each in row]
        values[CLAIM_ENTITY], values[CLAIM_IS_WEAK] = self._entity_text(entity, 0), is_weak
        claim = Claim(*values)
        attribute = claim.attribute.replace("_", " ")
        core = f"{self._entity_text(entity, 2)} {attribute}: {claim.value}"
        return Line(number, core, (entity,), (claim.note_id,), None, claim)

    def _meant_by(self, form: str) -> tuple[int, ...]:
        key = name_key(form)
        rows = self._span("name_hashes", key)
        if not rows:
            return ()
        kinds = self._arrays["name_kinds"][rows].tolist()
        entities = self._arrays["name_entities"][rows].tolist()
        kind, carriers = meant(zip(kinds, entities, strict=True))
        if is_one_word(key):
            forms = self._arrays["form_hashes"][rows].tolist()
            written = {
                each for each, its_kind in zip(forms, kinds, strict=True) if its_kind == kind
            }
            return carriers if hash_of(form) in written else ()
        return carriers

    @property
    def _first_claim(self) -> int:
        return len(self._arrays["links"])

    def _text(self, number: int) -> str:
        start, end = self._arrays["text_starts"][number : number + 2].tolist()
        return str(self._bytes[start:end], "utf-8", "surrogatepass")

    def _text_or_none(self, number: int) -> str | None:
        return None if number < 0 else self._text(number)

    def _entity_text(self, number: int, column: int) -> str:
        return self._text(self._arrays["entities"].item(number, column))

    def _texts_of(self, name: str) -> list[str]:
        return [self._text(number) for number in self._arrays[name].tolist()]

    def _lists(self, name: str, row: int, count: int) -> list[tuple[str, ...]]:
        bounds = self._arrays[f"{name}_starts"][row * count : (row + 1) * count + 1].tolist()
        items = self._arrays[f"{name}_items"][bounds[0] : bounds[-1]].tolist()
        texts = [self._text(each) for each in items]
        return [
            tuple(texts[start - bounds[0] : end - bounds[0]]) for start, end in pairwise(bounds)
        ]

    def _group(self, name: str, what: str, owner: int) -> np.ndarray:
        start, end = self._arrays[f"{name}_starts"][owner : owner + 2].tolist()
        return self._arrays[what][start:end]

    def _span(self, hashes: str, key: str) -> slice | None:
        """Return where the rows of a key stand; None if there is none."""
        wanted = np.uint64(hash_of(key))
        start = int(np.searchsorted(self._arrays[hashes], wanted))
        end = int(np.searchsorted(self._arrays[hashes], wanted, "right"))
        return slice(start, end) if start < end else None

    def _looked_up(self, name: str, what: str, key: str) -> list[int]:
        rows = self._span(f"{name}_hashes", key)
        found: list[int] = self._arrays[f"{name}_{what}"][rows].tolist() if rows else []
        return found

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(self._texts_of("labels"))

    @cached_property
    def _type_numbers(self) -> dict[str, int]:
        return dict(zip(self.link_types, self._arrays["link_types"].tolist(), strict=True))

    @cached_property
    def _attribute_numbers(self) -> dict[str, int]:
        return dict(zip(self.attributes, self._arrays["attributes"].tolist(), strict=True))


def notes_of(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the notes that some lines stand on, in the lines' order, each once."""
    return tuple(dict.fromkeys(note for line in lines for note in line.note_ids))
