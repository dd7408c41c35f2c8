"""What a small world of the leak benchmark is: notes, what they said when, who may read, who asks.

Plain values, nothing of the project in them: the oracle and the real code each read them in their
own way. Instants are whole days since 2024-01-01.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

SELF, NOTE, NAME, NUMBER = "self", "note", "name", "number"
Ref = tuple[str, str]  # how something is spoken of, and the words
ITSELF: Ref = (SELF, "")


class SaidLink(NamedTuple):
    """One thing is linked to another."""

    type: str
    source: Ref
    target: Ref


class SaidClaim(NamedTuple):
    """Something has a value."""

    subject: Ref
    attribute: str
    value: str


@dataclass(frozen=True)
class Piece:
    """A passage of an edition; `key` stays the same while its text does."""

    key: str
    available: int
    written: int | None
    is_weak: bool
    has_heading: bool  # the date is that of a heading above it, not its note's
    links: tuple[SaidLink, ...]
    claims: tuple[SaidClaim, ...]
    spoken_of: tuple[Ref, ...]


@dataclass(frozen=True)
class Edition:
    """What a note was for a while."""

    number: int
    observed: int
    until: int | None  # when the next one came, or when the note went
    available: int
    tenant: str
    readers: tuple[str, ...]
    title: str
    aliases: tuple[str, ...]
    kind: str
    number_name: str  # `pump 7`, or empty
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Note:
    """A note by its path, with all that it was."""

    path: str
    editions: tuple[Edition, ...]

    @property
    def present(self) -> Edition | None:
        """Return what it is at the end of its history; None if it is gone."""
        last = self.editions[-1]
        return last if last.until is None else None


@dataclass(frozen=True)
class World:
    """A vault with its history."""

    notes: tuple[Note, ...]

    @property
    def today(self) -> int:
        """The day of the last change; what is available later is still to come."""
        every = [edition for note in self.notes for edition in note.editions]
        return max(each.observed if each.until is None else each.until for each in every)


@dataclass(frozen=True)
class Asker:
    """Whose notes somebody may read, and the lists they stand on; None: all."""

    tenants: frozenset[str] | None = None
    groups: frozenset[str] | None = None
    excluded: tuple[str, ...] = ()  # paths, exactly


@dataclass(frozen=True)
class Question:
    """What is asked, by whom, as of when (None: now)."""

    start: str
    links: tuple[str, ...]
    depth: int
    kinds: tuple[str, ...]
    attach: tuple[str, ...]
    asker: Asker = field(default_factory=Asker)
    day: int | None = None


def cut_off(world: World, day: int) -> World:
    """Return the world as it was known on a day: what came later never was.

    What the first listing found counts from when it was available.
    """
    kept = []
    for note in world.notes:
        known = [each for each in note.editions if min(each.observed, each.available) <= day]
        if known:
            last = known[-1]
            is_over = last.until is not None and last.until <= day
            known[-1] = last if is_over else replace(last, until=None)
            kept.append(Note(note.path, tuple(known)))
    return World(tuple(kept))
