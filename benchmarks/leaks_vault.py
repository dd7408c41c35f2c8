"""A world as a vault of Markdown files: written edition by edition, listed on each day, then built.

The plain part of a world alone can be written so that reading it back gives the same: one passage a
note, links as wikilinks in properties. `plain` takes that part, for the oracle to work on as well.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.leaks_made import instant, marker, written
from benchmarks.leaks_worlds import ITSELF, NOTE, Edition, Note, Piece, SaidLink, World
from kb_core.settings import Settings
from kb_search.build import PublishedBuild
from resources.home import Home
from tests.built_home import build, look_at, open_home

# Whole folders come and go in a small world: nobody has to approve that.
_SETTINGS = '[embedder]\nengine = "none"\n'
_APPROVED = "mass_loss_share = 1.0\n"


def plain(world: World) -> World:
    """Return the part of a world that Markdown says without a doubt."""
    notes = (
        replace(note, editions=tuple(_plain_edition(note, each) for each in note.editions))
        for note in world.notes
    )
    return World(tuple(notes))


def told_in_time(world: World) -> World:
    """Return a world in which nothing is said to have been known before it was seen."""
    notes = (
        replace(note, editions=tuple(_told_in_time(each) for each in note.editions))
        for note in world.notes
    )
    return World(tuple(notes))


def _told_in_time(edition: Edition) -> Edition:
    available = max(edition.available, edition.observed)
    pieces = (replace(each, available=max(each.available, available)) for each in edition.pieces)
    return replace(edition, available=available, pieces=tuple(pieces))


def _plain_edition(note: Note, edition: Edition) -> Edition:
    links = tuple(each for piece in edition.pieces for each in piece.links if _is_plain(each))
    piece = Piece(
        key=f"{note.path}#0.{edition.number}",
        available=edition.available,
        written=edition.pieces[0].written,
        is_weak=False,
        has_heading=False,
        links=tuple(dict.fromkeys(links)),
        claims=(),
        spoken_of=(),
    )
    return replace(edition, number_name="", pieces=(piece,))


def _is_plain(link: SaidLink) -> bool:
    return link.source == ITSELF and link.target[0] == NOTE


class Vault:
    """A home and its vault, into which a world is written day by day."""

    def __init__(self, root: Path, world: World) -> None:
        self._world = world
        self._vault = root / "vault"
        self._vault.mkdir(parents=True)
        # A vault without any note counts as one that is not there.
        (self._vault / "Home.md").write_text("---\ntenant: nobody\n---\nHome.\n", "utf-8")
        self.home: Home = open_home(root / "home", self._vault, _SETTINGS)
        file = self.home.root / "kb.toml"
        file.write_text(file.read_text().replace("[vault]\n", f"[vault]\n{_APPROVED}"))
        self.home = Home.open(self.home.root)

    @property
    def days(self) -> list[int]:
        """The days on which anything changed, in order."""
        every = (edition for note in self._world.notes for edition in note.editions)
        return sorted(
            {day for each in every for day in (each.observed, each.until) if day is not None}
        )

    def look(self, days: Sequence[int]) -> None:
        """Let these days pass: write what changed on each, and list the vault."""
        for day in days:
            for note in self._world.notes:
                self._write(note, day)
            look_at(self.home, instant(day))

    def built(self, day: int) -> PublishedBuild:
        """Build everything as of a day's listing."""
        name = build(self.home, instant(day) + dt.timedelta(hours=1), with_vectors=False)
        return PublishedBuild.open(self.home.root, name)

    @property
    def settings(self) -> Settings:
        """The home's settings."""
        return self.home.settings

    def _write(self, note: Note, day: int) -> None:
        path = self._vault / note.path
        if note.editions[-1].until == day:
            path.unlink()
        for edition in note.editions:
            if edition.observed == day:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_text(edition), encoding="utf-8")


def _text(edition: Edition) -> str:
    (piece,) = edition.pieces
    head = [f"title: {edition.title}", f"tenant: {edition.tenant}"]
    head += [f"readers: [{', '.join(edition.readers)}]"] * bool(edition.readers)
    head += [f"aliases: [{', '.join(edition.aliases)}]"] * bool(edition.aliases)
    head += [f"type: {edition.kind.lower()}"] * bool(edition.kind)
    head += [f"available_at: {instant(edition.available).isoformat()}"]
    head += [f"date: {written(piece.written)}"] * (piece.written is not None)
    for kind in sorted({link.type for link in piece.links}):
        targets = [link.target[1] for link in piece.links if link.type == kind]
        head += [f"{kind.lower()}:", *(f'  - "[[{target}]]"' for target in targets)]
    return "\n".join(["---", *head, "---", f"The {marker(piece.key)} stands here.", ""])
