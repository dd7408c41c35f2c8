"""Random small worlds and questions for the leak benchmark. The same seed gives the same.

Few names stand for many notes, so that titles, aliases and paths shadow one another all the time,
within a tenant and over its border.
"""

import random
from dataclasses import replace

from benchmarks.leaks_worlds import (
    ITSELF,
    NAME,
    NOTE,
    NUMBER,
    Asker,
    Edition,
    Note,
    Piece,
    Question,
    Ref,
    SaidClaim,
    SaidLink,
    World,
)

TENANTS = ("red", "blue", "green")
GROUPS = ("board", "yard")
FOLDERS = ("North", "South", "East")
NAMES = ("Pump Oslo", "Supply Bern", "Valve Riga", "Guide Turin", "Sheet Porto", "Crew Malmo")
ALIASES = ("Old Pump", "Second Supply", "Valve Riga", "House Guide")
KINDS = ("Asset", "Asset", "Asset", "Document", "Document", "Person")
TYPES = ("DEPENDS_ON", "HAS_MANUAL", "OWNED_BY")
ATTRIBUTES = ("status", "power")
_PATHS = tuple(f"{folder}/{name}.md" for folder in FOLDERS for name in NAMES)
VALUES = ("draft", "active", "sealed")
LAST_DAY = 30
_WITH_HUB = 0.03


def make_world(chance: random.Random, *, keeps_access: bool = False) -> World:
    """Make a vault. `keeps_access`: no note changes hands or readers."""
    chosen = sorted(chance.sample(_PATHS, chance.randint(2, 8)))
    names = [_stem(path) for path in chosen]
    # Mostly one tenant's vault with notes of others in it: walks get somewhere.
    tenants = (*TENANTS, *[chance.choice(TENANTS)] * 4)
    notes = [_note(chance, path, names, tenants, keeps_access) for path in chosen]
    if chance.random() < _WITH_HUB:
        notes[:2] = [_talking(chance, note) for note in notes[:2]]
    return World(tuple(notes))


def with_others_changed(chance: random.Random, world: World, tenant: str) -> World:
    """Change all that other tenants have, in any way; a tenant's own notes stay as they are.

    No note may have changed hands.
    """
    kept = {note.path: note for note in world.notes if note.editions[-1].tenant == tenant}
    others = tuple(each for each in TENANTS if each != tenant)
    names = [_stem(note.path) for note in world.notes]
    for note in world.notes:
        if note.path not in kept and chance.random() < 0.4:
            kept[note.path] = note
    free = [path for path in _PATHS if path not in kept]
    for path in chance.sample(free, chance.randint(1, 4)):
        kept[path] = _note(chance, path, [*names, _stem(path)], others, True)
    return World(tuple(kept[path] for path in sorted(kept)))


def make_question(chance: random.Random, world: World) -> Question:
    """Ask for something that is mostly there, as somebody, as of some day."""
    note = chance.choice(_likely(world))
    start = _start(chance, note)
    return Question(
        start=start,
        links=("DEPENDS_ON",) if chance.random() < 0.8 else ("DEPENDS_ON", "OWNED_BY"),
        depth=chance.choice((0, 1, 2, 2, 3)),
        kinds=("Asset",) if chance.random() < 0.4 else (),
        attach=("HAS_MANUAL",) if chance.random() < 0.9 else (),
        asker=_asker(chance, world, note),
        day=chance.randint(0, LAST_DAY + 5) if chance.random() < 0.6 else None,
    )


def _likely(world: World) -> tuple[Note, ...]:
    """Return the notes that a walk can begin at, if there are any."""
    assets = tuple(note for note in world.notes if note.editions[-1].kind == "Asset")
    return assets or world.notes


def _asker(chance: random.Random, world: World, note: Note) -> Asker:
    """Make somebody: the owner now and then, mostly a reader of one or two tenants."""
    excluded = (chance.choice(world.notes).path,) if chance.random() < 0.1 else ()
    if chance.random() < 0.15:
        return Asker(excluded=excluded)
    tenants = set(chance.sample(TENANTS, chance.choice((1, 1, 2))))
    groups = set(chance.sample(GROUPS, chance.choice((0, 0, 1, 2))))
    if chance.random() < 0.7:  # one of those who may see where it begins
        tenants = {note.editions[-1].tenant, *chance.sample(TENANTS, chance.choice((0, 0, 1)))}
        groups |= set(note.editions[-1].readers)
    return Asker(frozenset(tenants), frozenset(groups), excluded)


def _start(chance: random.Random, note: Note) -> str:
    edition = chance.choice(note.editions)
    roll = chance.random()
    if roll < 0.4:
        return edition.title
    if roll < 0.75:
        return note.path
    if roll < 0.85 and edition.aliases:
        return edition.aliases[0]
    return edition.number_name or chance.choice((*NAMES, *ALIASES, "Nobody Here"))


def _talking(chance: random.Random, note: Note) -> Note:
    """Let a note speak of one thing in many passages: with another's it may make it a hub."""
    names = ("Harbour Works", *NAMES[:2])
    said = tuple(
        Piece(f"{note.path}#talk{at}", 0, None, False, False, (), (), ((NAME, name),))
        for at, name in enumerate([chance.choice(names)] * chance.randint(8, 24))
    )
    last = note.editions[-1]
    pieces = (*last.pieces, *(replace(each, available=last.available) for each in said))
    return replace(note, editions=(*note.editions[:-1], replace(last, pieces=pieces)))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _note(
    chance: random.Random,
    path: str,
    names: list[str],
    tenants: tuple[str, ...],
    keeps_access: bool,
) -> Note:
    editions: list[Edition] = []
    day = chance.randint(0, 20)
    for number in range(1, chance.choice((1, 1, 1, 2, 3)) + 1):
        before = editions[-1] if editions else None
        moves = before is None or (not keeps_access and chance.random() < 0.1)
        tenant = chance.choice(tenants) if moves or before is None else before.tenant
        readers = _readers(chance) if moves or before is None else before.readers
        made = _edition(chance, path, names, number, day, before)
        editions.append(replace(made, tenant=tenant, readers=readers))
        day += chance.randint(1, 5)
    # Now and then a note was gone for a day before it came back.
    came_back = [later.observed - (chance.random() < 0.15) for later in editions[1:]]
    last = day if chance.random() < 0.12 else None
    ended = [
        replace(each, until=max(end, each.observed + 1))
        for each, end in zip(editions[:-1], came_back, strict=True)
    ]
    return Note(path, (*ended, replace(editions[-1], until=last)))


def _edition(
    chance: random.Random,
    path: str,
    names: list[str],
    number: int,
    day: int,
    before: Edition | None,
) -> Edition:
    """Make an edition that nobody owns yet."""
    # The first listing may find notes that were there long before; later ones may be held back.
    early = chance.randint(0, day) if number == 1 else day
    available = day + chance.randint(1, 8) if chance.random() < 0.1 else early
    title = _stem(path) if chance.random() < 0.8 else chance.choice(NAMES)
    has_number = chance.random() < 0.25
    return Edition(
        number=number,
        observed=day,
        until=None,
        available=available,
        tenant="",
        readers=(),
        title=title,
        aliases=(chance.choice(ALIASES),) if chance.random() < 0.3 else (),
        kind=chance.choice(KINDS) if chance.random() < 0.95 else "",
        number_name=f"pump {chance.randint(1, 3)}" if has_number else "",
        pieces=_pieces(chance, path, names, available, number, before),
    )


def _readers(chance: random.Random) -> tuple[str, ...]:
    return (chance.choice(GROUPS),) if chance.random() < 0.25 else ()


def _pieces(
    chance: random.Random,
    path: str,
    names: list[str],
    available: int,
    number: int,
    before: Edition | None,
) -> tuple[Piece, ...]:
    made = []
    for at in range(chance.choice((1, 1, 2))):
        kept = before.pieces[at] if before and at < len(before.pieces) else None
        if kept and chance.random() < 0.5:  # the text stands as it was
            made.append(replace(kept, available=max(available, kept.available)))
        else:
            made.append(_piece(chance, f"{path}#{at}.{number}", names, available))
    return tuple(made)


def _piece(chance: random.Random, key: str, names: list[str], available: int) -> Piece:
    written = chance.randint(0, LAST_DAY) if chance.random() < 0.85 else None
    return Piece(
        key=key,
        available=available if written is None else max(available, min(written, available + 6)),
        written=written,
        is_weak=chance.random() < 0.1,
        has_heading=chance.random() < 0.4,
        links=tuple(_link(chance, names) for _ in range(chance.choice((0, 1, 2, 3)))),
        claims=tuple(_claim(chance, names) for _ in range(chance.choice((0, 1, 1)))),
        spoken_of=tuple(_ref(chance, names) for _ in range(chance.choice((0, 0, 1)))),
    )


def _link(chance: random.Random, names: list[str]) -> SaidLink:
    kind = chance.choice((*TYPES, "DEPENDS_ON", "HAS_MANUAL"))
    there = _ref(chance, names)
    if chance.random() < 0.15:  # an inverse property
        return SaidLink(kind, there, ITSELF)
    return SaidLink(kind, ITSELF, there)


def _claim(chance: random.Random, names: list[str]) -> SaidClaim:
    subject = ITSELF if chance.random() < 0.75 else _ref(chance, names)
    return SaidClaim(subject, chance.choice(ATTRIBUTES), chance.choice(VALUES))


def _ref(chance: random.Random, names: list[str]) -> Ref:
    roll = chance.random()
    name = chance.choice(names)
    if roll < 0.55:
        return NOTE, name
    if roll < 0.65:
        return NOTE, f"{chance.choice(FOLDERS)}/{name}"
    if roll < 0.9:
        return NAME, chance.choice((name, *NAMES, *ALIASES, "Harbour Works"))
    return NUMBER, f"pump {chance.randint(1, 4)}"
