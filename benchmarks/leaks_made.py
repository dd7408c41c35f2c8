"""A world as the project's own build: folders in memory, with the tables their stages would write.

Nothing touches a disk. Rows, access, versions, masks and postings come from the real code; what is
replaced is only where a table is read from.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa

from benchmarks.leaks_worlds import Edition, Note, Piece, Ref, World
from kb_core.contracts import CONTRACTS
from kb_core.ids import partition_key
from kb_search.build import PublishedBuild
from kb_search.folder import Folder
from kb_search.keyword import Postings, build_postings
from kb_search.versions import Version, by_note

_DAY = 86_400_000_000  # microseconds
_FIRST = dt.date(2024, 1, 1)
_EPOCH_DAYS = (_FIRST - dt.date(1970, 1, 1)).days
_WHO = {"extractor": "structure"}
_OBSERVED = ("mentions", "link_observations", "claim_observations")
_TABLES = ("chunks", "notes", *_OBSERVED)

Row = dict[str, Any]


def micros(day: int) -> int:
    """Return a world's day as the tables store an instant."""
    return (_EPOCH_DAYS + day) * _DAY


def instant(day: int) -> dt.datetime:
    """Return a world's day as a policy takes it."""
    return dt.datetime.fromtimestamp((_EPOCH_DAYS + day) * 86_400, dt.UTC)


def written(day: int | None) -> str | None:
    """Return a day as a written date."""
    return None if day is None else (_FIRST + dt.timedelta(days=day)).isoformat()


@lru_cache(maxsize=4096)
def marker(key: str) -> str:
    """Return the word that only the passage with this key holds."""
    return "mark" + "".join(each for each in key.lower() if each.isalnum())


class MadeFolder(Folder):
    """A folder whose rows are in memory; a column becomes an array when it is asked for."""

    def __init__(self, path: str, rows: Mapping[str, list[Row]]) -> None:
        self.path = path
        self.partition = partition_key(path)
        self._made = rows
        self._held_columns: dict[tuple[str, str], pa.Array] = {}
        self._artifacts = {"chunks": {"rows": len(rows["chunks"])}}

    @cached_property
    def versions(self) -> list[list[Version]]:
        """Every version of every note, by note."""
        return by_note((row["note_id"], _version(row)) for row in self._made["notes"])

    @cached_property
    def postings(self) -> Postings:
        """The folder's keyword index."""
        docs = dict.fromkeys(row["search_text"] for row in self._made["chunks"])
        return Postings(build_postings(list(docs)))

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of a table."""
        fields = [CONTRACTS[name].schema.field(column) for column in columns]
        arrays = [self._column(name, field) for field in fields]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def has(self, name: str) -> bool:
        """Tell whether there is such a table."""
        return name in self._made

    def shown(self, row: int) -> Row:
        """Return what is shown of a row."""
        return self._made["chunks"][row]

    def _read(self, columns: list[str]) -> pa.Table:
        return self.table("chunks", columns)

    def _column(self, name: str, field: pa.Field) -> pa.Array:
        key = name, field.name
        if key not in self._held_columns:
            values = [row[field.name] for row in self._made[name]]
            self._held_columns[key] = pa.array(values, field.type)
        return self._held_columns[key]


class MadeBuild(PublishedBuild):
    """A build of such folders, without anything over the whole vault."""

    def __init__(self, world: World) -> None:
        self.name = "made"
        self._vault_artifacts = {}
        paths = sorted({note.path.partition("/")[0] for note in world.notes})
        self.folders = tuple(MadeFolder(path, _rows(world, path)) for path in paths)


def _version(row: Mapping[str, Any]) -> Version:
    times = (row[name] for name in ("observed_at", "observed_until", "available_at"))
    return Version(row["version_id"], row["version"], *times)


def _rows(world: World, path: str) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in _TABLES}
    for note in world.notes:
        if note.path.startswith(f"{path}/"):
            for edition in note.editions:
                rows["notes"].append(_note_row(note, edition))
                for at, piece in enumerate(edition.pieces):
                    rows["chunks"].append(_chunk_row(note, edition, piece, at))
                    for name, observed in _observed(note, edition, piece, at):
                        rows[name].append(observed)
    return rows


def _note_row(note: Note, edition: Edition) -> Row:
    stated = [("tenant", edition.tenant), *(("readers", each) for each in edition.readers)]
    head = "".join(f"{name}: {value}\n" for name, value in stated)
    return {
        "version_id": _version_id(note, edition),
        "note_id": note.path,
        "version": edition.number,
        "observed_at": micros(edition.observed),
        "observed_until": None if edition.until is None else micros(edition.until),
        "is_current": edition is note.present,
        "title": edition.title,
        "aliases": list(edition.aliases),
        "available_at": micros(edition.available),
        "tenant": edition.tenant,
        "readers": list(edition.readers),
        "properties": [{"name": name, "value": value} for name, value in stated],
        "text": head,
        "body_start": len(head),
    }


def _chunk_row(note: Note, edition: Edition, piece: Piece, at: int) -> Row:
    refs = [ref for link in piece.links for ref in (link.source, link.target)]
    words = " ".join(text for _, text in (*refs, *piece.spoken_of))
    text = f"{marker(piece.key)} {words}"
    return {
        "version_id": _version_id(note, edition),
        "chunk_id": piece.key,
        "text_id": f"{piece.key}/{edition.title}",
        "note_id": note.path,
        "is_current": edition is note.present,
        "ordinal": at,
        "title": edition.title,
        "breadcrumb": edition.title,
        "anchors": [],
        "text": text,
        "search_text": f"{edition.title} {text}",
        "tokens": 1,
        "byte_start": 0,
        "byte_end": len(text),
        "written_date": written(piece.written),
        "written_basis": _basis(piece),
        "written_is_weak": _basis(piece) == "file time",
        "available_at": micros(max(piece.available, edition.available)),
        "kind": "note",
        "tenant": edition.tenant,
        "readers": list(edition.readers),
        "may_leave": True,
        "aliases": list(edition.aliases),
    }


def _basis(piece: Piece) -> str:
    if piece.written is None:
        return "none"
    return "heading" if piece.has_heading else "file time" if piece.is_weak else "property date"


def _version_id(note: Note, edition: Edition) -> str:
    return f"{note.path}@{edition.number}"


def _observed(note: Note, edition: Edition, piece: Piece, at: int) -> Iterator[tuple[str, Row]]:
    """Yield what the extraction would write of a piece, by table."""
    said = {"version_id": _version_id(note, edition), "chunk_id": piece.key, "note_id": note.path}
    every = (*_mentions(edition, piece, at), *_links(piece), *_claims(piece))
    for numbered, (name, row) in enumerate(every):
        yield name, {**said, "ordinal": numbered, **row}


def _mentions(edition: Edition, piece: Piece, at: int) -> Iterator[tuple[str, Row]]:
    itself = {"subject_kind": "self", "subject": ""}
    if at == 0 and edition.kind:
        yield "mentions", {**itself, "type": edition.kind, "basis": "type", "name": "", **_WHO}
    if at == 0 and edition.number_name:
        named = {"type": "", "basis": "identifier", "name": edition.number_name}
        yield "mentions", {**itself, **named, **_WHO}
    for ref in piece.spoken_of:
        said = {"type": "", "basis": "value", "name": ""}
        yield "mentions", {**_reference("subject", ref), **said, **_WHO}


def _links(piece: Piece) -> Iterator[tuple[str, Row]]:
    for link in piece.links:
        ends = {**_reference("source", link.source), **_reference("target", link.target)}
        said = {"type": link.type, "label": link.type.lower(), "phrase": marker(piece.key)}
        rest = {"modality": "fact", "valid_from": None}
        yield "link_observations", {**ends, **said, **rest, **_WHO}


def _claims(piece: Piece) -> Iterator[tuple[str, Row]]:
    for claim in piece.claims:
        said = {"attribute": claim.attribute, "value": claim.value, "quote": marker(piece.key)}
        rest = {"modality": "fact", "valid_from": None, "valid_to": None, "basis": "property"}
        subject = _reference("subject", claim.subject)
        yield "claim_observations", {**subject, **said, **rest, **_WHO}


def _reference(role: str, ref: Ref) -> Row:
    kind, text = ref
    return {f"{role}_kind": kind, role: text}
