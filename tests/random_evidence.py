"""Small random evidence: few notes, names and dates, so that everything meets everything.

The same seed gives the same evidence. A note keeps its tenant; its newest version is readable
unless the note is gone.
"""

import random
from collections.abc import Sequence

from kb_knowledge.records import (
    NAME,
    NOTE,
    NUMBER,
    SELF,
    ChunkRow,
    ClaimSaid,
    Evidence,
    LinkSaid,
    Mention,
    Reference,
)

_NAMES = ("Blue Heron", "Grey Petrel", "Wren Loft", "Old Kiln", "Salt Yard")
_ALIASES = ("Second Kiln", "Grey Petrel", "The Loft House")
_DATES = ("2023", "2024", "2024-03", "2024-03-05", "2024-03-09", "2024-05", "2025-01-10", None)
_MODALITIES = ("fact", "fact", "fact", "reported", "plan", "plan", "opinion", "hypothetical")
_DAY = 86_400_000_000
_FIRST_DAY = 19_700  # 2023-12-09
_ITSELF = Reference(SELF)
_Place = tuple[str, str]  # version, chunk
_SHARED = Reference(NAME, "Harbour Works")  # what many notes make claims about


def make_evidence(
    chance: random.Random,
    tenants: Sequence[str] = ("red", "blue"),
    stems: str = "",
    targets: Sequence[str] = ("",),
) -> Evidence:
    """Make what the chunks of two to five notes say.

    `stems` ends the name of every note's file, one of `targets` that of every link's target.
    """
    chunks: list[ChunkRow] = []
    mentions: list[Mention] = []
    links: list[LinkSaid] = []
    claims: list[ClaimSaid] = []
    for at in range(chance.randint(2, 5)):
        tenant = chance.choice(tenants)
        made = _note(chance, tenant, at, stems)
        chunks += made
        for row in made:
            said = (row.version_id, row.chunk_id)
            claims += [_claim(chance, said, targets) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
            if row.is_readable or chance.random() < 0.2:
                mentions += [
                    _mention(chance, said, targets) for _ in range(chance.choice((0, 0, 1)))
                ]
                links += [_link(chance, said, targets) for _ in range(chance.choice((0, 0, 1, 2)))]
    return Evidence(chunks, mentions, links, claims)


def shuffled(chance: random.Random, evidence: Evidence) -> Evidence:
    """Return the same rows in another order."""
    return Evidence(
        chance.sample(list(evidence.chunks), len(evidence.chunks)),
        chance.sample(list(evidence.mentions), len(evidence.mentions)),
        chance.sample(list(evidence.links), len(evidence.links)),
        chance.sample(list(evidence.claims), len(evidence.claims)),
    )


def joined(one: Evidence, other: Evidence) -> Evidence:
    """Return the rows of both."""
    return Evidence(
        [*one.chunks, *other.chunks],
        [*one.mentions, *other.mentions],
        [*one.links, *other.links],
        [*one.claims, *other.claims],
    )


def _note(chance: random.Random, tenant: str, at: int, stems: str) -> list[ChunkRow]:
    name = chance.choice(_NAMES)
    note_id = f"{tenant}{at}/{name}{stems}.md"
    aliases = (chance.choice(_ALIASES),) if chance.random() < 0.3 else ()
    title = name if chance.random() < 0.8 else chance.choice(_NAMES)
    count, day = chance.choice((1, 1, 2, 3)), _FIRST_DAY + chance.randint(0, 150)
    is_gone = chance.random() < 0.15
    date, is_weak = chance.choice(_DATES), chance.random() < 0.2
    rows = []
    for version in range(1, count + 1):
        for piece in range(chance.choice((1, 1, 2))):
            is_dated = chance.random() < 0.25
            rows.append(
                ChunkRow(
                    version_id=f"{note_id}@{version}",
                    chunk_id=f"{note_id}#{piece}",
                    note_id=note_id,
                    tenant=tenant,
                    title=title,
                    aliases=aliases,
                    kind="note",
                    version=version,
                    observed_at=day * _DAY + chance.randint(0, _DAY - 1),
                    written_date=chance.choice(_DATES) if is_dated else date,
                    written_is_weak=is_weak and not is_dated,
                    is_readable=version == count and not is_gone,
                    is_dated=is_dated,
                )
            )
        rows = [_at_same_instant(row, rows) for row in rows]
        day += chance.randint(1, 60)
    return rows


def _at_same_instant(row: ChunkRow, rows: Sequence[ChunkRow]) -> ChunkRow:
    """A version is observed once."""
    first = next(each for each in rows if each.version == row.version)
    return row._replace(observed_at=first.observed_at)


def _mention(chance: random.Random, said: _Place, targets: Sequence[str]) -> Mention:
    if chance.random() < 0.4:
        number = f"pump {chance.randint(1, 3)}"
        return Mention(*said, _reference(chance, targets), "", "identifier", number)
    subject = _ITSELF if chance.random() < 0.5 else _reference(chance, targets)
    kind = chance.choice(("Asset", "Person", ""))
    return Mention(*said, subject, kind, chance.choice(("type", "value")), "")


def _link(chance: random.Random, said: _Place, targets: Sequence[str]) -> LinkSaid:
    kind = chance.choice(("DEPENDS_ON", "OWNED_BY"))
    ends = [
        _ITSELF if chance.random() < 0.6 else _reference(chance, targets),
        _reference(chance, targets),
    ]
    if chance.random() < 0.2:
        ends.reverse()
    phrase = chance.choice(("", "needs it", "is owned", "a", "b", "c", "d", "e"))
    modality = chance.choice(_MODALITIES)
    label = chance.choice(("needs", "owner"))
    return LinkSaid(*said, ends[0], ends[1], kind, label, phrase, modality, None)


def _claim(chance: random.Random, said: _Place, targets: Sequence[str]) -> ClaimSaid:
    subject = chance.choice((_ITSELF, _SHARED, _reference(chance, targets)))
    value = chance.choice(("draft", "Draft", "active", "sealed"))
    basis = chance.choice(("property", "header", "field", "log", "log", "table"))
    has_day = basis in ("log", "table") and chance.random() < 0.9
    valid_from = chance.choice(_DATES) if has_day else None
    attribute = chance.choice(("status", "status", "power"))
    modality = chance.choice(_MODALITIES)
    quote = f"{attribute}: {value}"
    return ClaimSaid(*said, subject, attribute, value, quote, modality, valid_from, None, basis)


def _reference(chance: random.Random, targets: Sequence[str]) -> Reference:
    roll = chance.random()
    if roll < 0.4:
        return Reference(NOTE, chance.choice(_NAMES) + chance.choice(targets))
    if roll < 0.85:
        return Reference(NAME, chance.choice((*_NAMES, *_ALIASES, "salt yard", "Harbour Works")))
    return Reference(NUMBER, f"pump {chance.randint(1, 4)}")
