"""Collect what the chunks of one note version say, and make rows of it. Pure.

Rows come out by chunk and by the order they were added; a chunk says the same thing once, and no
more than so many things: what is beyond is counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kb_assets.extractions.note_text import NoteText
from kb_knowledge.records import STRUCTURE, Reference

LONGEST_VALUE = 200  # characters
LONGEST_QUOTE = 300
MOST_ROWS = 1_000  # of one table in one chunk

Row = dict[str, Any]


class Said:
    """What one version says, as rows of the stage's three tables."""

    def __init__(self, note: NoteText) -> None:
        self.counts: Counter[str] = Counter()
        self._note = note
        self.extractor = STRUCTURE  # who says what is added from now on
        self._rows: dict[str, list[list[Row]]] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def mention(
        self,
        piece: int,
        subject: Reference,
        kind: str,
        basis: str,
        name: str,
        *,
        is_alias: bool = False,
    ) -> None:
        """Add that a chunk speaks of something; an alias is another name for it, said beside it."""
        self._add(
            "mentions",
            piece,
            (subject, kind, basis, name if is_alias else ""),
            {**_reference("subject", subject), "type": kind, "basis": basis, "name": name},
        )

    def link(
        self,
        piece: int,
        ends: tuple[Reference, Reference],
        kind: tuple[str, str],
        phrase: str,
        modality: str,
        valid_from: str | None = None,
    ) -> None:
        """Add that a chunk links two things; `kind` is the type and the folded property."""
        source, target = ends
        row = {
            **_reference("source", source),
            **_reference("target", target),
            "type": kind[0],
            "label": kind[1],
            "phrase": shortened(phrase),
            "modality": modality,
            "valid_from": valid_from,
        }
        # `authors` above and `Author` below say it once.
        key = (source, target, kind[0], kind[1].removesuffix("s"))
        self._add("link_observations", piece, key, row)

    def claim(
        self,
        piece: int,
        subject: Reference,
        stated: tuple[str, str],
        quote: str,
        basis: str,
        modality: str,
        valid: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """Add that a chunk states a value; `stated` is the attribute and the value."""
        attribute, value = stated
        row = {
            **_reference("subject", subject),
            "attribute": attribute,
            "value": value,
            "quote": shortened(quote),
            "modality": modality,
            "valid_from": valid[0],
            "valid_to": valid[1],
            "basis": basis,
        }
        self._add("claim_observations", piece, (subject, attribute, value.casefold(), *valid), row)

    def said_in(self, piece: int, table: str) -> Sequence[Row]:
        """Return what was added so far to a table for one chunk."""
        rows = self._rows.get(table)
        return rows[piece] if rows else ()

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table in order."""
        for piece, rows in enumerate(self._rows.get(table, ())):
            for ordinal, row in enumerate(rows):
                yield {
                    "version_id": self._note.version_id,
                    "chunk_id": self._note.pieces[piece].chunk_id,
                    "note_id": self._note.note_id,
                    "ordinal": ordinal,
                    **row,
                }

    def _add(self, table: str, piece: int, key: tuple[Any, ...], row: Row) -> None:
        if (table, piece, *key) in self._seen:
            return
        rows = self._rows.setdefault(table, [[] for _ in self._note.pieces])[piece]
        if len(rows) == MOST_ROWS:
            self.counts["rows_cut"] += 1
            return
        self._seen.add((table, piece, *key))
        rows.append({**row, "extractor": self.extractor})


def shortened(text: str) -> str:
    """Cut a quote after the last whole word that fits; blanks are folded."""
    flat = " ".join(text.split())
    if len(flat) <= LONGEST_QUOTE:
        return flat
    return flat[:LONGEST_QUOTE].rpartition(" ")[0] or flat[:LONGEST_QUOTE]


def _reference(role: str, reference: Reference) -> Row:
    return {f"{role}_kind": reference.kind, role: reference.text}
