"""What a question may come back with, worked out by brute force from the rules as they are written.

It shares no code with the project: no index, no caching, no cleverness. Every answer is a set of
facts, so that what an answer has too much is a leak and what it lacks is a miss.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from benchmarks.leaks_worlds import (
    NOTE,
    NUMBER,
    SELF,
    Asker,
    Edition,
    Note,
    Piece,
    Question,
    Ref,
    World,
)

Fact = tuple[object, ...]
_FEWEST_OF_HUB = 20
_NAMES = ("title", "alias", "number")


class Passage(NamedTuple):
    """A piece of an edition of a note that somebody may know of."""

    note: Note
    edition: Edition
    piece: Piece

    @property
    def is_first(self) -> bool:
        """Tell whether it is the one that holds the note's head."""
        return self.piece is self.edition.pieces[0]


class Sight:
    """What somebody sees of a world as of a day; None: now."""

    def __init__(self, world: World, asker: Asker, day: int | None) -> None:
        self.day = world.today if day is None else day
        self.readable: list[Passage] = []
        self.remembered: list[Passage] = []
        for note in world.notes:
            if note.path not in asker.excluded and _may_read(asker, note.editions[-1]):
                self._take(note, asker)  # who closes a note closes what it said before

    def _take(self, note: Note, asker: Asker) -> None:
        known = [each for each in note.editions if each.available <= self.day]
        then = _standing(note, known, self.day)
        older = known
        if then is not None:
            shown = list(self._pieces(note, then)) if _may_read(asker, then) else []
            self.readable += shown
            older = [each for each in known if each.number < then.number] if shown else []
        for edition in older:
            if _may_read(asker, edition):
                self.remembered += self._pieces(note, edition)

    def _pieces(self, note: Note, edition: Edition) -> Iterator[Passage]:
        if edition.available > self.day:
            return
        for piece in edition.pieces:
            if piece.available <= self.day:
                yield Passage(note, edition, piece)


def _standing(note: Note, known: list[Edition], day: int) -> Edition | None:
    """Return what a note was on a day; None if it was not there, or gone."""
    if not known:
        return None
    before = [each for each in note.editions if each.observed <= day]
    is_announced = known[-1].observed > day  # only later was it seen that it had been there
    is_gone = bool(before) and before[-1].until is not None and before[-1].until <= day
    return None if is_gone and not is_announced else known[-1]


def _may_read(asker: Asker, edition: Edition) -> bool:
    if asker.tenants is not None and edition.tenant not in asker.tenants:
        return False
    return not edition.readers or asker.groups is None or bool(asker.groups & set(edition.readers))


class Names:
    """Who is called what in a sight."""

    def __init__(self, sight: Sight) -> None:
        # A note stands in view with one edition. Its title and aliases are those of each of its
        # passages, what else its head says is said by the first.
        self.notes: dict[str, Edition] = {each.note.path: each.edition for each in sight.readable}
        self.heads = {each.note.path for each in sight.readable if each.is_first}

    def meant(self, ref: Ref, passage: Passage) -> str | None:
        """Return the one thing a passage speaks of: a path, or a tenant's name; None: nothing."""
        kind, text = ref
        tenant = passage.edition.tenant
        if kind == SELF:
            return passage.note.path
        if kind == NUMBER:
            found = self._carrying(tenant, "number", text)
            return found[0] if len(found) == 1 else None
        if kind == NOTE:
            found = self._linked(passage.note.path, text)
            if found:
                return found[0]
            text = text.rpartition("/")[2]
        return self._named(tenant, text)

    def tenant_of(self, thing: str) -> str:
        """Return whose a thing is."""
        edition = self.notes.get(thing)
        return edition.tenant if edition else thing.partition("|")[0]

    def _linked(self, source: str, target: str) -> list[str]:
        """Return where a link may lead: the path, beside its note, then any, shortest first."""
        wanted = f"{target}.md".lower()
        folder = source.rpartition("/")[0]
        exact = [each for each in self.notes if each.lower() == wanted]
        beside = [each for each in self.notes if each.lower() == f"{folder}/{wanted}".lower()]
        ending = [each for each in self.notes if each.lower().endswith(f"/{wanted}")]
        return [*exact, *beside, *sorted(ending, key=lambda each: (len(each), each))]

    def _named(self, tenant: str, text: str) -> str:
        for what in ("title", "alias"):
            found = self._carrying(tenant, what, text)
            if found:
                return found[0] if len(found) == 1 else name_of(tenant, text)
        return name_of(tenant, text)

    def _carrying(self, tenant: str, what: str, text: str) -> list[str]:
        return sorted(
            path
            for path, edition in self.notes.items()
            if edition.tenant == tenant and folded(text) in self.called(path, what)
        )

    def called(self, path: str, what: str) -> set[str]:
        """Return a note's names of one kind."""
        edition = self.notes[path]
        if what == "title":
            return {folded(edition.title), folded(path.rpartition("/")[2][:-3])}
        if what == "alias":
            return {folded(each) for each in edition.aliases}
        return {edition.number_name} - {""} if path in self.heads else set()


def folded(text: str) -> str:
    """Fold case and blanks."""
    return " ".join(text.split()).lower()


def name_of(tenant: str, text: str) -> str:
    """Name a thing that no note is."""
    return f"{tenant}|{folded(text)}"


class Told(NamedTuple):
    """A link between two things, and the passages that say so."""

    source: str
    type: str
    target: str
    times: int


class Knowing:
    """What the passages of a sight say together."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.names = Names(sight)
        self.speaking: dict[str, set[tuple[str, str]]] = {}
        self.kinds: dict[str, str] = {}
        said: dict[tuple[str, str, str], int] = {}
        for each in sight.readable:
            self._speak(each, each.note.path)
            if each.is_first:
                self.kinds[each.note.path] = each.edition.kind
            for ref in (*each.piece.spoken_of, *(claim.subject for claim in each.piece.claims)):
                self._speak(each, self.names.meant(ref, each))
            for link in each.piece.links:
                ends = [self.names.meant(ref, each) for ref in (link.source, link.target)]
                if ends[0] is None or ends[1] is None:
                    continue
                is_own = [self._speak(each, end) for end in ends]
                if ends[0] != ends[1] and any(is_own):
                    key = (ends[0], link.type, ends[1])
                    said[key] = said.get(key, 0) + 1
        self.links = [Told(source, kind, end, n) for (source, kind, end), n in said.items()]

    def _speak(self, passage: Passage, thing: str | None) -> bool:
        """Let a passage speak of a thing, if it is of its own tenant's."""
        if thing is None or self.names.tenant_of(thing) != passage.edition.tenant:
            return False
        place = (passage.note.path, passage.piece.key)
        self.speaking.setdefault(thing, set()).add(place)
        return True

    def called(self, text: str) -> list[str]:
        """Return all that is called exactly so; a note's path is that note alone."""
        for path in (text, f"{text}.md"):
            if path in self.names.notes:
                return [path]
        wanted = folded(text)
        found = {each for each in self.speaking if each.rpartition("|")[2] == wanted}
        for path in self.names.notes:
            if any(wanted in self.names.called(path, what) for what in _NAMES):
                found.add(path)
        return sorted(found)


def connected_facts(knowing: Knowing, question: Question) -> set[Fact]:
    """Return what a walk from the start gives, stage by stage, or who is asked about."""
    starts = [each for each in knowing.called(question.start) if _is_of(knowing, each, question)]
    if len(starts) != 1:
        return {("candidate", each) for each in starts} | {("asked back",)}
    reached = {starts[0]: 0}
    for depth in range(1, question.depth + 1):
        edge = [each for each, at in reached.items() if at == depth - 1]
        for thing in edge:
            for end in _ends(knowing.links, thing, question.links):
                if end not in reached and _is_of(knowing, end, question):
                    reached[end] = depth
    ends = {end for each in reached for end in _ends(knowing.links, each, question.attach)}
    documents = ends if question.attach else set(reached)
    facts: set[Fact] = {("reached", each, depth) for each, depth in reached.items()}
    facts |= {("attached", each) for each in ends}
    return facts | {("eligible", each) for each in documents if each in knowing.names.notes}


def _is_of(knowing: Knowing, thing: str, question: Question) -> bool:
    return not question.kinds or knowing.kinds.get(thing, "") in question.kinds


def _ends(links: Iterable[Told], source: str, types: tuple[str, ...]) -> set[str]:
    return {each.target for each in links if each.source == source and each.type in types}


def knowledge_facts(knowing: Knowing) -> set[Fact]:
    """Return what there is: things, how many passages speak of them, links of types, and hubs."""
    facts: set[Fact] = {("thing", each, len(at)) for each, at in knowing.speaking.items()}
    facts |= {("hub", each) for each, at in knowing.speaking.items() if _is_hub(each, at)}
    return facts | {("link", *each) for each in knowing.links}


def _is_hub(thing: str, places: set[tuple[str, str]]) -> bool:
    """Tell it for few passages: a hundredth of them is below the fewest that make a hub."""
    return sum(path != thing for path, _ in places) > _FEWEST_OF_HUB


def as_seen(sight: Sight) -> World:
    """Return a world of what is in sight and nothing else: a passage out of it never was."""
    kept: dict[str, dict[int, list[Passage]]] = {}
    for each in (*sight.remembered, *sight.readable):
        kept.setdefault(each.note.path, {}).setdefault(each.edition.number, []).append(each)
    notes, stands = [], set(sight.readable)
    for path, editions in sorted(kept.items()):
        seen = [_edition_of(passages, stands) for _, passages in sorted(editions.items())]
        notes.append(Note(path, tuple(seen)))
    return World(tuple(notes))


def _edition_of(passages: list[Passage], stands: set[Passage]) -> Edition:
    edition = passages[0].edition
    if not any(each.is_first for each in passages):
        edition = replace(edition, kind="", number_name="")
    if stands.issuperset(passages):  # what is to follow it is still to come
        edition = replace(edition, until=None)
    return replace(edition, pieces=tuple(each.piece for each in passages))
