"""What a change of one note costs beyond Dagster: the stages of a home, called one after another.

A home over the vault is built by words alone; each stage's CPU seconds are told. Then a sweep that
trusts no file time finds nothing; and then one note is edited and one is added. Each of these is
noticed as `vault_changes` does it: one listing, and a look into the folders whose signature moved.
The edited note is the middle one of all by path, so that its folder is one that notes are often in.
"""

import datetime as dt
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import progress
from benchmarks.structure_stages import Clock
from kb_assets.chunks.run import run as cut
from kb_assets.keyword_index.run import run as index
from kb_assets.note_links.run import run as link
from kb_assets.notes.run import run as read
from kb_assets.outcome import Outcome
from kb_assets.placeholders.listing import begin_listing, register_vault
from kb_assets.placeholders.run import is_fresh as is_seen
from kb_assets.placeholders.run import run as look
from kb_serve.new_home import make_home
from resources.home import Home
from sensors.sweep import sights

_START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_HOUR = dt.timedelta(hours=1)
_STRUCTURE = ("listing", "sweep", "placeholders", "notes", "note_links")
_WORDS = ("chunks", "keyword_index")


@dataclass(frozen=True)
class Change:
    """The CPU seconds of one round over a home, by step."""

    seconds: Mapping[str, float]
    worked: Mapping[str, int]  # stage -> partitions that had work to do

    @property
    def structure(self) -> float:
        """Return the seconds of everything the structure needs."""
        return sum(self.seconds.get(step, 0.0) for step in _STRUCTURE)

    @property
    def words(self) -> float:
        """Return the seconds of passages and keyword index."""
        return sum(self.seconds.get(step, 0.0) for step in _WORDS)


@dataclass(frozen=True)
class Edits:
    """Four rounds over one home."""

    first: Change
    nothing: Change
    one_edit: Change
    one_new_note: Change
    edited_folder_notes: int


def measure_edits(vault: Path, root: Path) -> Edits:
    """Build a home over a vault and measure what changes of one note cost. Changes the vault."""
    os.environ["KB_EMBEDDER__ENGINE"] = "none"
    os.environ["KB_CHUNKS__TOKEN_COUNTER"] = "regex"
    home = make_home(vault, root)
    progress("building a home, words only")
    first = _full_round(home, 0)
    nothing = _full_round(home, 1)
    signatures: dict[str, str] = {}
    _moved(home, signatures)
    paths = sorted(vault.rglob("*.md"))
    edited = paths[len(paths) // 2]
    folder = vault / edited.relative_to(vault).parts[0]
    notes = sum(folder in path.parents for path in paths)
    progress(f"editing one of {notes:,} notes")
    edited.write_text(edited.read_text("utf-8") + "\nOne more line.\n", "utf-8")
    one_edit = _round(home, 2, signatures)
    new = folder / "Brand New Note.md"
    new.write_text("# Brand New Note\n\nNobody has heard of it.\n", "utf-8")
    one_new_note = _round(home, 3, signatures)
    return Edits(first, nothing, one_edit, one_new_note, notes)


def _full_round(home: Home, number: int) -> Change:
    """Look at the content of every note, and do what follows."""
    clock, now = Clock(), _START + number * _HOUR
    with clock.step("listing"):
        begin_listing(home, now)
    with clock.step("sweep"):
        changed = [each for each in sorted(home.folders()) if not is_seen(home, each, now)]
    return _follow(home, now, changed, clock)


def _round(home: Home, number: int, signatures: dict[str, str]) -> Change:
    """Look at the folders whose files moved, and do what follows."""
    clock, now = Clock(), _START + number * _HOUR
    with clock.step("listing"):
        moved = _moved(home, signatures)
    with clock.step("sweep"):
        begin_listing(home, now, [home.folders()[each] for each in moved])
        changed = [each for each in moved if not is_seen(home, each, now)]
    return _follow(home, now, changed, clock)


def _moved(home: Home, signatures: dict[str, str]) -> list[str]:
    """List the vault once; return the folders whose signature moved, and remember the new ones."""
    depth = home.settings.vault.folder_depth
    seen = sights(register_vault(home), home.folders(), depth, 0)
    moved = [key for key, sight in seen.items() if signatures.get(key) != sight.signature]
    signatures.update({key: sight.signature for key, sight in seen.items()})
    return moved


def _follow(home: Home, now: dt.datetime, changed: Sequence[str], clock: Clock) -> Change:
    worked = Counter[str]()

    def note(outcome: Outcome) -> None:
        worked[outcome.stage] += not outcome.is_cached

    for partition in changed:
        with clock.step("placeholders"):
            note(look(home, partition, now))
        with clock.step("notes"):
            note(read(home, partition))
        with clock.step("chunks"):
            note(cut(home, partition))
        with clock.step("keyword_index"):
            note(index(home, partition))
    with clock.step("note_links"):
        note(link(home))
    return Change(dict(clock.seconds), dict(worked))
