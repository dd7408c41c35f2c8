"""The one reader of what reports are made from: a home's tables, present versions alone.

Each table is read when it is first asked for; texts are read folder by folder, so that those of
a large vault are never in memory at once. Writes nothing.
"""

from collections.abc import Collection, Iterator
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from kb_core.ids import json_hash
from kb_serve.reports.cards import KINDS, Card
from kb_serve.reports.link_names import LinkNames, notes_with_aliases
from resources.home import Home

_LINKS = [
    "is_current",
    "source_note_id",
    "target",
    "heading",
    "block",
    "display",
    "status",
    "is_ambiguous",
    "target_note_id",
    "candidates",
]
_MENTIONS = ["is_current", "source_note_id", "name", "target_note_id", "candidates", "count"]
_CARDS = ["note_id", "kind", "title", "aliases", "tags", "properties", "text", "body_start"]
_READ = ("files", "notes", "note_links", "note_mentions", "note_names")


class Present:
    """The present notes of a home and what was found in them."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._store = home.store

    @property
    def state(self) -> str:
        """Name what the tables hold now: equal names, equal reports."""
        store = self._store
        held = {
            f"{name}/{partition}": pointer.hash
            for name in _READ
            for partition in store.partitions(name)
            if (pointer := store.pointer(name, partition))
        }
        return json_hash(held)

    @cached_property
    def notes(self) -> pa.Table:
        """Every present note: note_id, aliases, kind."""
        return self._present("notes", ["is_current", "note_id", "aliases", "kind"])

    @cached_property
    def names(self) -> LinkNames:
        """The names that links can use."""
        return notes_with_aliases(
            self.notes["note_id"].to_pylist(), self.notes["aliases"].to_pylist()
        )

    @cached_property
    def links(self) -> pa.Table:
        """The links of present notes."""
        return self._present("note_links", _LINKS)

    @cached_property
    def mentions(self) -> pa.Table:
        """The unlinked mentions in present notes."""
        return self._present("note_mentions", _MENTIONS)

    @cached_property
    def forms(self) -> dict[str, list[str]]:
        """The spellings of each folded name."""
        table = self._store.read_all("note_names", ["name", "forms"])
        return dict(zip(table["name"].to_pylist(), table["forms"].to_pylist(), strict=True))

    @cached_property
    def note_bytes(self) -> int:
        """How much text the listed notes have."""
        files = self._store.read_all("files", ["is_note", "size"])
        return pc.sum(files.filter(files["is_note"])["size"]).as_py() or 0

    @cached_property
    def conflict_copies(self) -> list[str]:
        """The notes that a sync provider named as conflict copies, sorted."""
        files = self._store.read_all("files", ["path", "is_note", "state"])
        is_copy = pc.and_(files["is_note"], pc.equal(files["state"], "conflict"))
        return sorted(files.filter(is_copy)["path"].to_pylist())

    def bodies(self, wanted: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """Yield (note, text without front matter), of all present notes or of those wanted."""
        chosen = None if wanted is None else pa.array(sorted(wanted), pa.string())
        for table in self._folders(["is_current", "note_id", "text", "body_start"]):
            rows = table if chosen is None else _of(table, "note_id", chosen)
            for note, text, start in zip(
                rows["note_id"], rows["text"], rows["body_start"], strict=True
            ):
                yield note.as_py(), _body(text.as_py(), start.as_py())

    def cards(self) -> list[Card]:
        """Return the authored cards and sections, sorted by note."""
        kinds = pa.array(sorted(KINDS), pa.string())
        if not _of(self.notes, "kind", kinds).num_rows:
            return []  # nearly every vault: its texts need not be read
        found = []
        for table in self._folders(["is_current", *_CARDS]):
            found += [_card(row) for row in _of(table, "kind", kinds).to_pylist()]
        return sorted(found, key=lambda card: card.note)

    def _present(self, name: str, columns: list[str]) -> pa.Table:
        table = self._store.read_all(name, columns)
        return table.filter(table["is_current"]).drop_columns("is_current").combine_chunks()

    def _folders(self, columns: list[str]) -> Iterator[pa.Table]:
        for partition in self._store.partitions("notes"):
            table = self._store.read("notes", partition, columns)
            yield table.filter(table["is_current"])


def _of(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table[column], value_set=values))


def _body(text: str, start: int) -> str:
    return text.encode()[start:].decode() if start else text


def _card(row: dict) -> Card:
    return Card(
        note=row["note_id"],
        kind=row["kind"],
        title=row["title"],
        aliases=row["aliases"],
        tags=row["tags"],
        properties=row["properties"],
        body=_body(row["text"], row["body_start"]),
    )
