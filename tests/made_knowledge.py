"""Knowledge written out by hand: notes, names, links and claims, with chunks as evidence."""

from dataclasses import dataclass, field

from kb_knowledge.records import Claim, Entity, EntityMention, Knowledge, Link, Relation

TENANT = "default"


@dataclass
class Made:
    """Knowledge that grows row by row; ids follow from what is said."""

    entities: dict[str, Entity] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    hubs: set[str] = field(default_factory=set)

    def note(
        self, title: str, number: str = "", *, kind: str = "", aliases: tuple[str, ...] = ()
    ) -> str:
        """Add a note; its id is its title, its path the title's."""
        numbers = (number,) if number else ()
        entity = Entity(
            title, TENANT, title, kind, (title,), aliases, numbers, (path(title),), 1, False
        )
        self.entities[title] = entity
        return title

    def name(self, name: str) -> str:
        """Add a name that no note has."""
        entity = Entity(name, TENANT, name, "", (), (), (), (), 1, False)
        self.entities.setdefault(name, entity)
        return name

    def link(
        self, source: str, kind: str, target: str, *, on: str = "", modality: str = "fact"
    ) -> None:
        """Add a link that stands in a note: the source's, unless another is named."""
        at = len(self.links)
        chunk = f"chunk of {on or source}"
        self.links.append(
            Link(
                f"link {at:03}",
                source,
                target,
                kind,
                (),
                1,
                (),
                (chunk,),
                (modality,),
                "2024-01-01",
                "2024-01-01",
                ("structure",),
            )
        )

    def claim(
        self,
        of: str,
        attribute: str,
        value: str,
        *,
        on: str = "",
        state: str = "current",
        basis: str = "header",
        date: str | None = "2024-01-01",
        since: str | None = None,
        modality: str = "fact",
        quote: str = "",
    ) -> str:
        """Add a claim that stands in a note: that of what it is about, unless another is named."""
        claim_id = f"claim {len(self.claims):03}"
        note = on or of
        self.claims.append(
            Claim(
                claim_id=claim_id,
                entity_id=of,
                attribute=attribute,
                value=value,
                modality=modality,
                quote=quote or f"{attribute}: {value}",
                basis=basis,
                version_id="v",
                chunk_id=f"chunk of {note}",
                note_id=path(note),
                written_date=date,
                is_weak=False,
                valid_from=since,
                valid_to=None,
                extractor="structure",
                state=state,
                until=None,
            )
        )
        return claim_id

    def relate(self, one: str, kind: str, other: str) -> None:
        """Relate two claims."""
        self.relations.append(Relation(one, other, kind))

    def knowledge(self) -> Knowledge:
        """Return all of it; every note has one chunk, which speaks of its note."""
        entities = [
            each._replace(is_hub=each.entity_id in self.hubs)
            for _, each in sorted(self.entities.items())
        ]
        notes = [each for each in entities if each.note_ids]
        return Knowledge(
            entities=entities,
            mentions=[EntityMention(e.entity_id, "v", f"chunk of {e.name}") for e in notes],
            links=self.links,
            claims=self.claims,
            relations=self.relations,
            chunk_notes={f"chunk of {each.name}": each.note_ids[0] for each in notes},
        )


def path(title: str) -> str:
    """Return the path of a note by its title."""
    return f"{title}.md"
