"""What a change of one note costs beyond Dagster: the stages of a home, called one after another.

A home over the vault is built by words alone; each stage's CPU seconds are told. Then one note is
edited, and then one is added: a listing, a look at every folder, and the work that follows. It is
the middle one of all notes by path, so that its folder is one that notes are often in.
"""

import datetime as dt
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import progress
from benchmarks.structure_stages import Clock
from kb_assets.chunks.run import run as cut
from kb_assets.keyword_index.run import run as index
from kb_assets.note_links.run import run as link
from kb_assets.notes.run import run as read
from kb_assets.outcome import Outcome
from kb_assets.placeholders.listing import begin_listing
from kb_assets.placeholders.run import is_fresh as is_seen
from kb_assets.placeholders.run import run as look
from kb_serve.new_home import make_home
from resources.home import Home

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
    first = _round(home, 0)
    nothing = _round(home, 1)
    paths = sorted(vault.rglob("*.md"))
    edited = paths[len(paths) // 2]
    folder = vault / edited.relative_to(vault).parts[0]
    notes = sum(folder in path.parents for path in paths)
    progress(f"editing one of {notes:,} notes")
    edited.write_text(edited.read_text("utf-8") + "\nOne more line.\n", "utf-8")
    one_edit = _round(home, 2)
    new = folder / "Brand New Note.md"
    new.write_text("# Brand New Note\n\nNobody has heard of it.\n", "utf-8")
    one_new_note = _round(home, 3)
    return Edits(first, nothing, one_edit, one_new_note, notes)


def _round(home: Home, number: int) -> Change:
    """Bring the home up to date, step by step."""
    clock, worked = Clock(), Counter[str]()

    def note(outcome: Outcome) -> None:
        worked[outcome.stage] += not outcome.is_cached

    now = _START + number * _HOUR
    with clock.step("listing"):
        begin_listing(home, now)
    with clock.step("sweep"):
        changed = [each for each in sorted(home.folders()) if not is_seen(home, each, now)]
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
