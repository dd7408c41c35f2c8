"""Evidence made by hand: notes with their versions and what each says, a line apiece."""

from typing import Any

from kb_knowledge.knowledge import knowledge_of
from kb_knowledge.records import (
    NAME,
    NOTE,
    NUMBER,
    SELF,
    ChunkRow,
    Claim,
    ClaimSaid,
    Entity,
    Evidence,
    Knowledge,
    Link,
    LinkSaid,
    Mention,
    Reference,
)

_DAY = 86_400_000_000
_FIRST_DAY = 19_723  # 2024-01-01
ITSELF = Reference(SELF)


def note(target: str) -> Reference:
    """Refer to a note as a link does."""
    return Reference(NOTE, target)


def name(text: str) -> Reference:
    """Refer to something by its name."""
    return Reference(NAME, text)


def number(text: str) -> Reference:
    """Refer to something by its number."""
    return Reference(NUMBER, text)


KILN = name("Blue Kiln")  # what no note is called


class Told:
    """What is told, chunk by chunk."""

    def __init__(self) -> None:
        self.chunks: list[ChunkRow] = []
        self.mentions: list[Mention] = []
        self.links: list[LinkSaid] = []
        self.claims: list[ClaimSaid] = []

    def chunk(self, path: str, piece: int = 0, day: int = 0, **fields: Any) -> "Place":
        """Add a chunk of a note's version, which is seen on a day of 2024, counted from 0."""
        version = fields.pop("version", 1)
        values = {
            "version_id": f"{path}@{version}",
            "chunk_id": f"{path}#{piece}",
            "note_id": path,
            "tenant": "main",
            "title": path.rpartition("/")[2].removesuffix(".md"),
            "aliases": (),
            "kind": "note",
            "version": version,
            "observed_at": (_FIRST_DAY + day) * _DAY,
            "written_date": "2024-01-01",
            "written_is_weak": False,
            "is_readable": True,
            "is_dated": False,
        }
        row = ChunkRow(**(values | fields))
        self.chunks.append(row)
        return Place(self, row)

    def known(self, hub_chunks: int | None = None, as_of_day: int | None = None) -> Knowledge:
        """Return what it says together, now or as of a day of 2024."""
        as_of = None if as_of_day is None else (_FIRST_DAY + as_of_day) * _DAY
        evidence = Evidence(self.chunks, self.mentions, self.links, self.claims, as_of)
        return knowledge_of(evidence, hub_chunks)


class Place:
    """A chunk, for what it says."""

    def __init__(self, told: Told, row: ChunkRow) -> None:
        self._told = told
        self._at = (row.version_id, row.chunk_id)

    def speaks_of(self, subject: Reference, **fields: Any) -> "Place":
        """Let the chunk speak of something."""
        values = {"type": "", "basis": "value", "name": ""}
        self._told.mentions.append(Mention(*self._at, subject, **(values | fields)))
        return self

    def links(self, kind: str, target: Reference, **fields: Any) -> "Place":
        """Let the chunk link its note, or a `source`, to something."""
        values = {
            "source": ITSELF,
            "target": target,
            "type": kind,
            "label": kind.lower(),
            "phrase": f"{kind}: {target.text}",
            "modality": "fact",
            "valid_from": None,
        }
        self._told.links.append(LinkSaid(*self._at, **(values | fields)))
        return self

    def states(self, attribute: str, value: str, **fields: Any) -> "Place":
        """Let the chunk state something of its note, or of a `subject`."""
        values = {
            "subject": ITSELF,
            "attribute": attribute,
            "value": value,
            "quote": f"{attribute}: {value}",
            "modality": "fact",
            "valid_from": None,
            "valid_to": None,
            "basis": "property",
        }
        self._told.claims.append(ClaimSaid(*self._at, **(values | fields)))
        return self


def entity(known: Knowledge, called: str) -> Entity:
    """Return the one entity with this canonical name."""
    (found,) = [each for each in known.entities if each.name == called]
    return found


def ends(known: Knowledge) -> list[tuple[str, str, str]]:
    """Return each link by the names of its ends, sorted."""
    names = {each.entity_id: each.name for each in known.entities}
    return sorted((names[each.source_id], each.type, names[each.target_id]) for each in known.links)


def only_link(known: Knowledge) -> Link:
    """Return the one link there is."""
    (found,) = known.links
    return found


def states(known: Knowledge) -> list[tuple[str, str, str | None]]:
    """Return each claim's value, state and until, by value."""
    return sorted((each.value, each.state, each.until) for each in known.claims)


def related(known: Knowledge) -> list[tuple[str, str, str]]:
    """Return how claims relate, by their values."""
    values = {each.claim_id: each.value for each in known.claims}
    rows = [(values[each.claim_id], each.kind, values[each.other_id]) for each in known.relations]
    return sorted(rows)


def claim(known: Knowledge, value: str) -> Claim:
    """Return the one claim with this value."""
    (found,) = [each for each in known.claims if each.value == value]
    return found


def stated_by(*rows: tuple[str, str | None], **fields: Any) -> Knowledge:
    """Return what notes say that each state one power of the kiln, by their dates."""
    told = Told()
    for at, (value, date) in enumerate(rows):
        place = told.chunk(f"{at}.md", written_date=date)
        place.states("power", value, subject=KILN, **fields)
    return told.known()


def edited(*versions: tuple[str, ...], **fields: Any) -> Told:
    """Tell of a note whose versions, seen ten days apart, each state some powers."""
    told = Told()
    for at, values in enumerate(versions, start=1):
        is_last = at == len(versions)
        place = told.chunk("Kiln.md", version=at, day=10 * (at - 1), is_readable=is_last)
        for value in values:
            place.states("power", value, **fields)
    return told


def logged(*lines: tuple[str, str], head: str = "final", **fields: Any) -> Knowledge:
    """Tell of a proposal with a head line, seen on 2024-01-01, and a log of its states."""
    told = Told()
    row: dict[str, Any] = {"written_date": "2003-01-08"} | fields
    told.chunk("Proposal.md", **row).states("status", head, basis="header")
    log = told.chunk("Log.md", written_date="2009-12-31")
    for date, value in lines:
        log.states("status", value, subject=note("Proposal"), basis="log", valid_from=date)
    return told.known()
