"""Knowledge of a view: what its chunks say, put together. Pure, and a function of the chunks alone.

The whole vault's knowledge at build time and a narrower view's at question time are made here. The
order of the rows does not matter. What cannot be placed is left out and counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kb_knowledge.claims import ClaimSeen, Version, drafts_of
from kb_knowledge.entities import Entities, entity_of_note
from kb_knowledge.links import LinkSeen, links_of
from kb_knowledge.names import is_company
from kb_knowledge.records import (
    NAME,
    NUMBER,
    SELF,
    ChunkRow,
    ClaimSaid,
    Evidence,
    Knowledge,
    LinkSaid,
    Mention,
    Reference,
)
from kb_knowledge.resolution import Resolved, Resolver
from kb_knowledge.supersession import ordered

VERSION = "2"  # raise it when equal evidence would give other knowledge

IDENTIFIER = "identifier"


def knowledge_of(evidence: Evidence, hub_chunks: int | None = None) -> Knowledge:
    """Return what the chunks of a view say, sorted by id. `hub_chunks`: more make a hub."""
    view = _View(evidence)
    view.hear_mentions(evidence.mentions)
    links = links_of(view.links(evidence.links))
    claims = ordered(drafts_of(view.claims(evidence.claims), view.versions), evidence.as_of)
    view.count("conflicts_not_compared", claims.not_compared)
    tenants = Counter(row.tenant for row in view.readable.values())
    return Knowledge(
        entities=sorted(view.entities.all(view.notes, tenants, hub_chunks)),
        mentions=view.entities.mentions(),
        links=links,
        claims=claims.claims,
        relations=claims.relations,
        merges=view.entities.merges(),
        chunk_notes={chunk: row.note_id for (_, chunk), row in view.readable.items()},
        counts=dict(sorted(view.counts.items())),
    )


class _View:
    """The chunks of a view, and what their references mean."""

    def __init__(self, evidence: Evidence) -> None:
        rows = {(row.version_id, row.chunk_id): row for row in evidence.chunks}
        self.readable = {place: rows[place] for place in sorted(rows) if rows[place].is_readable}
        self.notes = {row.note_id: row for row in self.readable.values()}
        self.versions = _versions(rows.values())
        self.entities = Entities()
        self.counts: Counter[str] = Counter()
        self._rows = rows
        self._resolver = Resolver(self.notes)
        self._hear_companies(evidence)
        self._identify(evidence.mentions)
        for row in self.readable.values():
            self.entities.hear(row, entity_of_note(row))

    def count(self, name: str, number: int = 1) -> None:
        """Count what is left out."""
        if number:
            self.counts[name] += number

    def hear_mentions(self, mentions: Iterable[Mention]) -> None:
        """Take down what readable chunks speak of."""
        for said in mentions:
            row = self._readable(said.version_id, said.chunk_id)
            entity = row and self._own(row, said.subject)
            if row and entity:
                self.entities.hear(row, entity)
                self.entities.describe(entity, said)

    def links(self, links: Iterable[LinkSaid]) -> Iterable[LinkSeen]:
        """Yield the links of readable chunks whose ends are known."""
        for said in links:
            row = self._readable(said.version_id, said.chunk_id)
            source = row and self._meant(row, said.source)
            target = source and row and self._meant(row, said.target)
            if not row or not source or not target:
                continue
            own = [each for each in (source, target) if each.tenant == row.tenant]
            for entity in own:
                self.entities.hear(row, entity)
            if not own:
                self.count("of_another_tenant")
            elif source.entity_id == target.entity_id:
                self.count("links_to_themselves")
            else:
                yield LinkSeen(source.entity_id, target.entity_id, said, row)

    def claims(self, claims: Iterable[ClaimSaid]) -> list[ClaimSeen]:
        """Return the claims about what readable chunks speak of."""
        seen = []
        for said in claims:
            row = self._rows.get((said.version_id, said.chunk_id))
            if row is None:
                self.count("of_no_chunk")
                continue
            entity = self._own(row, said.subject)
            if entity:
                if row.is_readable:
                    self.entities.hear(row, entity)
                seen.append(ClaimSeen(entity.entity_id, said, row))
        kept = [each for each in seen if each.entity_id in self.entities]
        self.count("of_what_is_gone", len(seen) - len(kept))
        return kept

    def _identify(self, mentions: Iterable[Mention]) -> None:
        """Learn the numbers things are known by before any is looked up."""
        for said in mentions:
            row = self._rows.get((said.version_id, said.chunk_id))
            if said.basis != IDENTIFIER or not row or not row.is_readable:
                continue
            is_number = said.subject.kind == NUMBER
            entity = None if is_number else self._resolver.entity(row, said.subject)
            if entity and entity.tenant == row.tenant and said.name.strip():
                self._resolver.number([(said.name, entity)])
                self.entities.identify(entity.entity_id, said.name)

    def _hear_companies(self, evidence: Evidence) -> None:
        """Learn the full names of companies before any is taken for a shorter one."""
        texts = {reference.text for *_, reference in _named(evidence)}
        companies = {text for text in texts if is_company(text)}
        for version_id, chunk_id, reference in _named(evidence) if companies else ():
            row = self._rows.get((version_id, chunk_id))
            if reference.text in companies and row and row.is_readable:
                self._resolver.hear(row.tenant, reference.text)

    def _readable(self, version_id: str, chunk_id: str) -> ChunkRow | None:
        row = self._rows.get((version_id, chunk_id))
        if row is None or not row.is_readable:
            self.count("of_no_chunk" if row is None else "of_older_versions")
            return None
        return row

    def _own(self, row: ChunkRow, reference: Reference) -> Resolved | None:
        """Return what a chunk refers to, if it is its own tenant's."""
        entity = self._meant(row, reference)
        if entity and entity.tenant != row.tenant:
            self.count("of_another_tenant")
            return None
        return entity

    def _meant(self, row: ChunkRow, reference: Reference) -> Resolved | None:
        entity = self._resolver.entity(row, reference)
        if entity is None:
            gone = "numbers_unresolved" if reference.kind == NUMBER else "of_what_is_gone"
            self.count(gone if reference.text.strip() or reference.kind == SELF else "nameless")
        return entity


def _named(evidence: Evidence) -> Iterator[tuple[str, str, Reference]]:
    """Yield what is referred to by name, with its version and chunk."""
    for mention in evidence.mentions:
        if mention.subject.kind == NAME:
            yield mention.version_id, mention.chunk_id, mention.subject
    for link in evidence.links:
        for reference in (link.source, link.target):
            if reference.kind == NAME:
                yield link.version_id, link.chunk_id, reference
    for claim in evidence.claims:
        if claim.subject.kind == NAME:
            yield claim.version_id, claim.chunk_id, claim.subject


def _versions(rows: Iterable[ChunkRow]) -> Mapping[str, Sequence[Version]]:
    """Return the versions of each note that the view holds chunks of, oldest first."""
    found: dict[str, set[Version]] = defaultdict(set)
    for row in rows:
        version = Version(row.version, row.version_id, row.observed_at, row.is_readable)
        found[row.note_id].add(version)
    return {note_id: sorted(each) for note_id, each in found.items()}
