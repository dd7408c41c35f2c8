"""The readable chunks of some notes, within a budget of tokens. Reads only.

Every note gives its first chunk before any gives its second, so that a long one crowds out none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kb_search.folder import Folder
from kb_search.obsidian import obsidian_link
from kb_search.paths import Shown, Truncated
from kb_search.view import View

MOST_TOKENS = 8_000


@dataclass(frozen=True)
class Passage:
    """A chunk of a note, as it is read."""

    note: str
    title: str
    chunk_id: str
    heading: str
    date: str | None
    date_is_weak: bool
    kind: str
    tokens: int
    text: str
    link: str  # opens the note in Obsidian


def passages_of(
    view: View,
    notes: Sequence[str],
    vault_name: str,
    shown: Shown | None = None,
    most_tokens: int = MOST_TOKENS,
) -> tuple[list[Passage], list[Truncated]]:
    """Return the passages of notes of a view, note by note, and what the budget left out."""
    rows = [list(_rows(view, note, shown)) for note in notes]
    chosen: list[tuple[int, int, Passage]] = []
    left_out, room = 0, most_tokens
    for at, round_ in enumerate(zip_longest(*rows)):
        for of_note, place in enumerate(round_):
            if place is None:
                continue
            folder, row = place
            passage = _passage(folder, row, vault_name)
            if passage.tokens > room:
                left_out += 1
                continue
            room -= passage.tokens
            chosen.append((of_note, at, passage))
    chosen.sort(key=lambda each: each[:2])
    kept = [passage for _, _, passage in chosen]
    cut = [Truncated("passages", len(kept), left_out, is_exact=True)] if left_out else []
    return kept, cut


def _rows(view: View, note_id: str, shown: Shown | None) -> Iterator[tuple[Folder, int]]:
    number = view.notes.get(note_id)
    if number is None:
        return
    for folder, row in view.located(view.rows_of_note(number)):
        if shown is None or shown.chunk(folder.rows.chunk_ids[row].as_py()):
            yield folder, row


def _passage(folder: Folder, row: int, vault_name: str) -> Passage:
    fields = folder.shown(row)
    heading = fields["anchors"][-1] if fields["anchors"] else ""
    return Passage(
        note=fields["note_id"],
        title=fields["title"],
        chunk_id=fields["chunk_id"],
        heading=heading,
        date=fields["written_date"],
        date_is_weak=fields["written_is_weak"],
        kind=fields["kind"],
        tokens=fields["tokens"],
        text=fields["text"],
        link=obsidian_link(vault_name, fields["note_id"], heading),
    )
