"""The layout of a view's knowledge as arrays: written here, read by `kb_search.knowledge_graph`.

Every text stands once, in a pool; rows are numbers in it, -1 where there is none. Lines are links
first, then claims. Names are looked up by 64-bit hashes of what they are compared by. Pure: equal
knowledge gives equal bytes, and opened arrays are read where they lie.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from kb_core.names import ALIAS, TITLE, forms_of, name_key
from kb_knowledge.records import Claim, Entity, Knowledge, Link

INDEX = "knowledge_graph"  # the index's name among a build's artifacts
VERSION = "2"  # raise it when equal knowledge would give other arrays
ARRAYS = (
    "texts", "text_starts", "entities", "entity_starts", "entity_items", "links", "link_starts",
    "link_items", "claims", "id_hashes", "id_entities", "note_hashes", "note_entities",
    "key_hashes", "key_entities", "value_hashes", "value_lines", "name_hashes", "form_hashes",
    "name_entities", "name_kinds", "edge_starts", "edges", "about_starts", "about",
    "spoken_hashes", "spoken_entities", "relation_starts", "relations", "labels", "attributes",
    "link_types",
)  # fmt: skip

ENTITY_LISTS = ("titles", "aliases", "identifiers", "note_ids")
CLAIM_ENTITY, CLAIM_ATTRIBUTE, CLAIM_IS_WEAK = (
    Claim._fields.index(name) for name in ("entity_id", "attribute", "is_weak")
)
# What of a link is a list; its notes are those of its chunks.
LINK_LISTS = ("labels", "phrases", "chunk_ids", "modalities", "extractors", "note_ids")

Arrays = Mapping[str, np.ndarray]
_Pair = tuple[int, int]
_Rule = Callable[[Sequence[Any]], np.ndarray]


def knowledge_arrays(knowledge: Knowledge) -> dict[str, np.ndarray]:
    """Lay out knowledge. Returns one array per name in ARRAYS."""
    pool = _Pool()
    numbers = {each.entity_id: at for at, each in enumerate(knowledge.entities)}
    first = len(knowledge.links)
    laid = {
        **_entities(knowledge.entities, pool),
        **_links(knowledge, numbers, pool),
        **_claims(knowledge.claims, numbers, pool),
        **_hashed("id", "entities", ((hash_of(key), at) for key, at in numbers.items())),
        **_hashed("note", "entities", _notes(knowledge.entities)),
        **_hashed("key", "entities", _keys(knowledge.entities)),
        **_hashed("value", "lines", _values(knowledge.claims, first)),
        **_names(knowledge.entities),
        **_edges(knowledge.links, numbers),
        **_about(knowledge.claims, numbers, first),
        **_hashed("spoken", "entities", _spoken(knowledge, numbers)),
        **_relations(knowledge, pool),
        **_word_lists(knowledge, pool),
    }
    return {**laid, **pool.arrays()}


def hash_of(text: str) -> int:
    """Hash what is looked up."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


class _Pool(dict[str | None, int]):
    """Every text once, numbered as it first came."""

    def __init__(self) -> None:
        super().__init__({None: -1})

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self) - 1
        return number

    def column(self, texts: Iterable[str | None]) -> NDArray[np.int32]:
        """Return the numbers of some texts."""
        return np.array(list(map(self.__getitem__, texts)), np.int32)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the texts, one after the other, and where each begins."""
        parts = [text.encode("utf-8", "surrogatepass") for text in self if text is not None]
        return {
            "texts": np.frombuffer(b"".join(parts), np.uint8),
            "text_starts": _starts([len(each) for each in parts]),
        }


def _entities(entities: Sequence[Entity], pool: _Pool) -> dict[str, np.ndarray]:
    rows = _rows(
        Entity._fields,
        entities,
        {
            **dict.fromkeys(("entity_id", "tenant", "name", "type"), pool.column),
            **dict.fromkeys(("chunks", "is_hub"), _integers),
        },
    )
    lists = [
        each
        for entity in entities
        for each in (entity.titles, entity.aliases, entity.identifiers, entity.note_ids)
    ]
    return {"entities": rows, **_lists("entity", lists, pool)}


def _links(knowledge: Knowledge, numbers: Mapping[str, int], pool: _Pool) -> dict[str, np.ndarray]:
    def ends(ids: Sequence[str]) -> NDArray[np.int64]:
        return _integers([numbers[each] for each in ids])

    rows = _rows(
        Link._fields,
        knowledge.links,
        {
            "link_id": pool.column,
            "source_id": ends,
            "target_id": ends,
            "type": pool.column,
            "times": _integers,
            "first_seen": pool.column,
            "last_seen": pool.column,
        },
    )
    lists = [each for link in knowledge.links for each in _link_lists(link, knowledge.chunk_notes)]
    return {"links": rows, **_lists("link", lists, pool)}


def _link_lists(link: Link, notes: Mapping[str, str]) -> Iterator[Sequence[str]]:
    yield from (link.labels, link.phrases, link.chunk_ids, link.modalities, link.extractors)
    yield sorted({notes[chunk] for chunk in link.chunk_ids})


def _claims(
    claims: Sequence[Claim], numbers: Mapping[str, int], pool: _Pool
) -> dict[str, np.ndarray]:
    rules: dict[str, _Rule] = dict.fromkeys(Claim._fields, pool.column)
    rules["entity_id"] = lambda ids: _integers([numbers[each] for each in ids])
    rules["is_weak"] = _integers
    return {"claims": _rows(Claim._fields, claims, rules)}


def _rows(
    fields: Sequence[str], rows: Sequence[tuple[Any, ...]], rules: Mapping[str, _Rule]
) -> NDArray[np.int32]:
    """Return rows of numbers: each named field by its own rule."""
    columns = dict(zip(fields, zip(*rows, strict=True), strict=True)) if rows else {}
    found = [rule(columns.get(name, ())) for name, rule in rules.items()]
    return np.ascontiguousarray(np.stack(found, axis=1).astype(np.int32))


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _lists(name: str, lists: Sequence[Sequence[str]], pool: _Pool) -> dict[str, np.ndarray]:
    return {
        f"{name}_starts": _starts([len(each) for each in lists]),
        f"{name}_items": pool.column(item for each in lists for item in each),
    }


def _notes(entities: Sequence[Entity]) -> Iterator[_Pair]:
    for at, each in enumerate(entities):
        for note in each.note_ids:
            yield hash_of(note), at


def _keys(entities: Sequence[Entity]) -> Iterator[_Pair]:
    for at, each in enumerate(entities):
        for name in (each.name, *each.titles, *each.aliases, *each.identifiers):
            yield hash_of(name_key(name)), at


def _values(claims: Sequence[Claim], first: int) -> Iterator[_Pair]:
    for line, claim in enumerate(claims, start=first):
        yield hash_of(name_key(claim.value)), line


def _spoken(knowledge: Knowledge, numbers: Mapping[str, int]) -> Iterator[_Pair]:
    hashes = {note: hash_of(note) for note in knowledge.chunk_notes.values()}
    for each in knowledge.mentions:
        yield hashes[knowledge.chunk_notes[each.chunk_id]], numbers[each.entity_id]


def _hashed(name: str, what: str, pairs: Iterable[_Pair]) -> dict[str, np.ndarray]:
    """Return distinct pairs of a hash and a number, sorted."""
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    found = _distinct([np.array(columns[0], np.uint64), np.array(columns[1], np.int32)])
    return {f"{name}_hashes": found[0], f"{name}_{what}": found[1]}


def _distinct(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return distinct rows, sorted by their first column, then the next."""
    order = np.lexsort(columns[::-1])
    found = [column[order] for column in columns]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in found])
    return [column[is_new] for column in found]


def _names(entities: Sequence[Entity]) -> dict[str, np.ndarray]:
    """Return every form an entity may be called by, in order of its folded name's hash."""
    rows = (
        (name, form, at, kind)
        for at, each in enumerate(entities)
        for name, form, kind in _forms(each)
    )
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    names = ("name_hashes", "form_hashes", "name_entities", "name_kinds")
    kinds = (np.uint64, np.uint64, np.int32, np.int8)
    found = _distinct([np.array(c, kind) for c, kind in zip(columns, kinds, strict=True)])
    return dict(zip(names, found, strict=True))


def _forms(entity: Entity) -> Iterator[tuple[int, int, int]]:
    for title in entity.titles or (entity.name,):
        yield from _forms_of(title, entity.aliases)
    kind = ALIAS if entity.titles else TITLE
    for identifier in entity.identifiers:
        name = hash_of(name_key(identifier))
        for form in (identifier, identifier.upper(), identifier.title()):
            yield name, hash_of(form), kind


@lru_cache(maxsize=65536)  # a second view of the same vault calls most things the same
def _forms_of(title: str, aliases: tuple[str, ...]) -> tuple[tuple[int, int, int], ...]:
    found = forms_of(title, title, aliases)
    return tuple((hash_of(name_key(form)), hash_of(form), kind) for kind, form in found)


def _edges(links: Sequence[Link], numbers: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Return each entity's links: line, the other end, whether it is the source."""
    ends, rows = [], []
    for line, link in enumerate(links):
        source, target = numbers[link.source_id], numbers[link.target_id]
        ends.append(source)
        rows.append((line, target, True))
        if source != target:
            ends.append(target)
            rows.append((line, source, False))
    return _grouped("edge", "edges", ends, rows, len(numbers))


def _about(
    claims: Sequence[Claim], numbers: Mapping[str, int], first: int
) -> dict[str, np.ndarray]:
    ends = [numbers[claim.entity_id] for claim in claims]
    rows = [(line,) for line in range(first, first + len(claims))]
    return _grouped("about", "about", ends, rows, len(numbers))


def _relations(knowledge: Knowledge, pool: _Pool) -> dict[str, np.ndarray]:
    """Return each claim's relations: the other line, the kind, whether it is the first named."""
    first = len(knowledge.links)
    places = {claim.claim_id: at for at, claim in enumerate(knowledge.claims)}
    ends, rows = [], []
    for each in knowledge.relations:
        one, other, kind = places[each.claim_id], places[each.other_id], pool[each.kind]
        ends += [one, other]
        rows += [(first + other, kind, True), (first + one, kind, False)]
    return _grouped("relation", "relations", ends, rows, len(places))


def _grouped(
    name: str, what: str, ends: Sequence[int], rows: Sequence[tuple[int, ...]], size: int
) -> dict[str, np.ndarray]:
    """Return rows in order of what they belong to, and where each one's begin."""
    owners = np.array(ends, np.int64)
    order = np.argsort(owners, kind="stable")
    width = len(rows[0]) if rows else 1
    return {
        f"{name}_starts": np.searchsorted(owners[order], np.arange(size + 1)).astype(np.int64),
        what: np.array(rows, np.int32).reshape(-1, width)[order],
    }


def _word_lists(knowledge: Knowledge, pool: _Pool) -> dict[str, np.ndarray]:
    identifiers = (name for each in knowledge.entities for name in each.identifiers)
    return {
        "labels": pool.column(sorted({name.rpartition(" ")[0] for name in identifiers})),
        "attributes": pool.column(sorted({each.attribute for each in knowledge.claims})),
        "link_types": pool.column(sorted({each.type for each in knowledge.links})),
    }


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
