"""What goes into knowledge and what comes out of it: plain rows. Pure.

Instants are microseconds since 1970. A partial date is text: `2024`, `2024-03` or `2024-03-14`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# How a chunk refers to something.
SELF = "self"  # the chunk's own note
NOTE = "note"  # a link, by its target as written: resolved among the notes of the view
NAME = "name"  # a name in text
NUMBER = "number"  # what a note is known by: `pep 566` for `Superseded-By: 566` in PEP 345

# Who says what a chunk says. A language model goes by its own label.
STRUCTURE = "structure"  # what stands as data: a property, an inline field, a log line, a table
RULES = "rules-v1"  # cue words in prose

# What a claim of a view is.
CURRENT = "current"
SUPERSEDED = "superseded"
UNSTATED = "no longer stated"
UNDATED = "undated"  # it has no date to be ordered by, or a weak one: it stands beside the others

# What a link of two claims says; it goes from the first named to the second.
SUPERSEDED_BY = "SUPERSEDED_BY"
CONFLICTS_WITH = "CONFLICTS_WITH"


class Reference(NamedTuple):
    """What is spoken of, as it stands in the chunk."""

    kind: str
    text: str = ""  # empty for SELF


class ChunkRow(NamedTuple):
    """A chunk of the view: readable, or remembered because its version is an older one."""

    version_id: str
    chunk_id: str
    note_id: str
    tenant: str
    title: str
    aliases: tuple[str, ...]
    kind: str
    version: int  # 1, 2, ... of its note, by observation
    observed_at: int
    written_date: str | None
    written_is_weak: bool
    is_readable: bool
    is_dated: bool = False  # a dated heading stands above it: the date is its own, not its note's


class Mention(NamedTuple):
    """Something a chunk speaks of, and what kind of thing it is."""

    version_id: str
    chunk_id: str
    subject: Reference
    type: str  # of the ontology; empty: not said
    basis: str  # type: the subject's own kind; identifier: `name` is what it is known by; value
    name: str  # what it is called here; an identifier with what it counts: `pep 345`
    extractor: str = STRUCTURE


class LinkSaid(NamedTuple):
    """A chunk says that one thing is linked to another."""

    version_id: str
    chunk_id: str
    source: Reference
    target: Reference
    type: str  # of the ontology
    label: str  # the property as folded: `depends_on`
    phrase: str  # the evidence: a short piece of the chunk or of its note's properties
    modality: str
    valid_from: str | None
    extractor: str = STRUCTURE


class ClaimSaid(NamedTuple):
    """A chunk says that an attribute of something has a value."""

    version_id: str
    chunk_id: str
    subject: Reference
    attribute: str
    value: str
    quote: str
    modality: str
    valid_from: str | None
    valid_to: str | None
    basis: str  # property, header, field, log, table, prose
    extractor: str = STRUCTURE


@dataclass(frozen=True)
class Evidence:
    """Everything that the chunks of a view say."""

    chunks: Sequence[ChunkRow]
    mentions: Sequence[Mention] = ()
    links: Sequence[LinkSaid] = ()
    claims: Sequence[ClaimSaid] = ()
    as_of: int | None = None  # the instant asked about; None: now, when all of it was seen


class Entity(NamedTuple):
    """What a view knows under one id: a note, or a name that no note has, within one tenant."""

    entity_id: str
    tenant: str
    name: str  # the canonical one
    type: str
    titles: tuple[str, ...]  # names in full
    aliases: tuple[str, ...]  # other names
    identifiers: tuple[str, ...]  # numbers it is known by, with what they count: `pep 345`
    note_ids: tuple[str, ...]
    chunks: int  # readable chunks that speak of it
    is_hub: bool


class EntityMention(NamedTuple):
    """A readable chunk speaks of an entity."""

    entity_id: str
    version_id: str
    chunk_id: str


class Link(NamedTuple):
    """A typed link between two entities, put together from all its observations."""

    link_id: str
    source_id: str
    target_id: str
    type: str
    labels: tuple[str, ...]
    times: int  # observations
    phrases: tuple[str, ...]  # at most five
    chunk_ids: tuple[str, ...]  # readable ones, sorted
    modalities: tuple[str, ...]
    first_seen: str | None  # written dates
    last_seen: str | None
    extractors: tuple[str, ...]  # who says so, sorted


class Claim(NamedTuple):
    """A dated statement about one attribute of one entity."""

    claim_id: str
    entity_id: str
    attribute: str
    value: str
    modality: str
    quote: str
    basis: str
    version_id: str
    chunk_id: str
    note_id: str
    written_date: str | None
    is_weak: bool
    valid_from: str | None
    valid_to: str | None
    extractor: str
    state: str  # current, superseded, no longer stated, undated
    until: str | None  # the date of what superseded it, or when it was seen to be no longer stated


class Relation(NamedTuple):
    """How two claims relate."""

    claim_id: str
    other_id: str
    kind: str


class Merge(NamedTuple):
    """Why a name belongs to an entity."""

    entity_id: str
    name: str
    rule: str


@dataclass(frozen=True)
class Knowledge:
    """What a set of chunks says."""

    entities: Sequence[Entity] = ()
    mentions: Sequence[EntityMention] = ()
    links: Sequence[Link] = ()
    claims: Sequence[Claim] = ()
    relations: Sequence[Relation] = ()
    merges: Sequence[Merge] = ()
    chunk_notes: Mapping[str, str] = field(default_factory=dict)  # chunk id -> note id, readable
    counts: Mapping[str, int] = field(default_factory=dict)  # unresolved references, …
