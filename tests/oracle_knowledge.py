"""What some chunks say together, worked out by brute force from the rules as they are written.

It shares no code with `kb_knowledge` but the rows. Values and names in its inputs are plain words,
so that folding case is all the reading they need. Things are known by labels: a note by its path, a
name by its tenant and itself.
"""

from collections.abc import Iterator
from typing import Any

from kb_knowledge.records import ChunkRow, Evidence, Knowledge, Reference
from tests.oracle_claims import ClaimsOracle, row_of

Facts = set[tuple[Any, ...]]


class Oracle:
    """The facts of an evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.readable = [row for row in evidence.chunks if row.is_readable]
        self.notes = {row.note_id: row for row in self.readable}
        self.numbers: set[tuple[str, str, str]] = set()  # tenant, number, thing
        for said in evidence.mentions:
            row = row_of(self.evidence, said)
            if row.is_readable and said.basis == "identifier" and said.subject.kind != "number":
                thing = self.meant(row, said.subject)
                if thing and self.tenant(thing) == row.tenant:
                    self.numbers.add((row.tenant, said.name.lower(), thing))

    def tenant(self, thing: str) -> str:
        return self.notes[thing].tenant if thing in self.notes else thing.partition("|")[0]

    def meant(self, row: ChunkRow, reference: Reference) -> str | None:
        kind, text = reference
        if kind == "self":
            return row.note_id if row.note_id in self.notes else None
        if kind == "number":
            found = {
                who
                for each, number, who in self.numbers
                if (each, number) == (row.tenant, text.lower())
            }
            return found.pop() if len(found) == 1 else None
        if kind == "note":
            wanted = f"{text}.md".lower()
            folder = row.note_id.rpartition("/")[0]
            exact = [each for each in self.notes if each.lower() == wanted]
            beside = [each for each in self.notes if each.lower() == f"{folder}/{wanted}".lower()]
            ends = [each for each in self.notes if f"/{each}".lower().endswith(f"/{wanted}")]
            found_notes = [*exact, *beside, *sorted(ends, key=lambda each: (len(each), each))]
            if found_notes:
                return found_notes[0]
            text = text.rpartition("/")[2]
        return self.named(row.tenant, text)

    def named(self, tenant: str, text: str) -> str:
        for names in (self.titles, self.aliases):
            carriers = [
                note
                for note, row in self.notes.items()
                if row.tenant == tenant and text.lower() in {name.lower() for name in names(row)}
            ]
            if carriers:
                return carriers[0] if len(carriers) == 1 else f"{tenant}|{text.lower()}"
        return f"{tenant}|{text.lower()}"

    def titles(self, row: ChunkRow) -> tuple[str, ...]:
        return row.title, row.note_id.rpartition("/")[2].removesuffix(".md")

    def aliases(self, row: ChunkRow) -> tuple[str, ...]:
        return row.aliases

    def speaking(self) -> Facts:
        """Return thing and chunk for all that readable chunks speak of."""
        found: Facts = {(row.note_id, row.version_id, row.chunk_id) for row in self.readable}
        for row, references in self._spoken():
            things = [self.meant(row, each) for each in references]
            if None not in things:
                own = [each for each in things if each and self.tenant(each) == row.tenant]
                found |= {(each, row.version_id, row.chunk_id) for each in own}
        return found

    def _spoken(self) -> Iterator[tuple[ChunkRow, tuple[Reference, ...]]]:
        every: list[Any] = [*self.evidence.mentions, *self.evidence.claims, *self.evidence.links]
        for said in every:
            row = row_of(self.evidence, said)
            if row.is_readable:
                is_link = hasattr(said, "target")
                yield row, (said.source, said.target) if is_link else (said.subject,)

    def links(self) -> Facts:
        found: dict[tuple[str, str, str], list[Any]] = {}
        for said in self.evidence.links:
            row = row_of(self.evidence, said)
            if not row.is_readable:
                continue
            ends = [self.meant(row, each) for each in (said.source, said.target)]
            source, target = ends
            if source is None or target is None or source == target:
                continue
            if row.tenant in (self.tenant(source), self.tenant(target)):
                found.setdefault((source, said.type, target), []).append((said, row))
        return {(*key, *_link(rows)) for key, rows in found.items()}

    def facts(self) -> tuple[Facts, Facts, Facts, Facts, Facts]:
        """Return entities, who is spoken of where, links, claims, and how claims relate."""
        speaking = self.speaking()
        spoken = {thing for thing, *_ in speaking}
        claims = ClaimsOracle(self.evidence, self.meant, self.tenant, spoken).facts()
        return self.entities(), speaking, self.links(), *claims

    def entities(self) -> Facts:
        """Return each thing with its tenant, its type and the numbers it is known by."""
        found: Facts = set()
        for thing in {each for each, *_ in self.speaking()}:
            numbers = {number for _, number, who in self.numbers if who == thing}
            found.add((thing, self.tenant(thing), self._type(thing), tuple(sorted(numbers))))
        return found

    def _type(self, thing: str) -> str:
        votes = []
        for said in self.evidence.mentions:
            row = row_of(self.evidence, said)
            is_heard = row.is_readable and row.tenant == self.tenant(thing) and said.type
            if is_heard and self.meant(row, said.subject) == thing:
                votes.append((said.basis == "type" and said.subject.kind == "self", said.type))
        own = [kind for is_own, kind in votes if is_own] or [kind for _, kind in votes]
        return min(own, key=lambda kind: (-own.count(kind), kind), default="")


def labelled(known: Knowledge) -> tuple[Facts, Facts, Facts, Facts, Facts]:
    """Return knowledge as the oracle has it: who is spoken of where, links, claims, relations."""
    labels = {
        each.entity_id: each.note_ids[0] if each.note_ids else f"{each.tenant}|{each.name.lower()}"
        for each in known.entities
    }
    links: Facts = {
        (labels[each.source_id], each.type, labels[each.target_id], each.labels, each.times,
         each.phrases, each.chunk_ids, each.modalities, each.first_seen, each.last_seen)
        for each in known.links
    }  # fmt: skip
    speaking: Facts = {(labels[each.entity_id], *each[1:]) for each in known.mentions}
    claims = {each.claim_id: _told(each, labels) for each in known.claims}
    relations: Facts = {
        (each.kind, *sorted((claims[each.claim_id], claims[each.other_id]), key=repr))
        if each.kind == "CONFLICTS_WITH"
        else (each.kind, claims[each.claim_id], claims[each.other_id])
        for each in known.relations
    }
    entities: Facts = {
        (labels[each.entity_id], each.tenant, each.type, each.identifiers)
        for each in known.entities
    }
    return entities, speaking, links, set(claims.values()), relations


def _told(claim: Any, labels: dict[str, str]) -> tuple[Any, ...]:
    return (labels[claim.entity_id], claim.attribute, claim.note_id, claim.value.lower(),
            claim.modality, claim.valid_from or "", claim.valid_to or "",
            int(claim.version_id.rpartition("@")[2]), claim.chunk_id, claim.basis,
            claim.written_date, claim.is_weak, claim.state, claim.until)  # fmt: skip


def _link(rows: list[Any]) -> tuple[Any, ...]:
    dates = [row.written_date for _, row in rows if row.written_date and not row.written_is_weak]
    return (
        tuple(sorted({said.label for said, _ in rows})),
        len(rows),
        tuple(sorted({said.phrase for said, _ in rows if said.phrase})[:5]),
        tuple(sorted({row.chunk_id for _, row in rows})),
        tuple(sorted({said.modality for said, _ in rows})),
        min(dates) if dates else None,
        max(dates) if dates else None,
    )
