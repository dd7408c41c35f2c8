"""The table each stage promises the next: columns, types, nulls and a unique key.

A stage may be rewritten freely as long as its contract still holds. Instants are UTC in
microseconds. A partial date is text: `2024`, `2024-03` or `2024-03-14`; its length is its
precision. Byte ranges count bytes of a note's decoded text in UTF-8, start included, end not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from kb_core.errors import ContractError

INSTANT = pa.timestamp("us", tz="UTC")
TEXTS = pa.list_(pa.field("item", pa.string(), nullable=False))
OFFSETS = pa.list_(pa.field("item", pa.int64(), nullable=False))
PROPERTIES = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("name", pa.string(), nullable=False),
                pa.field("value", pa.string(), nullable=False),
            ]
        ),
        nullable=False,
    )
)


@dataclass(frozen=True)
class Contract:
    """One table's promise. `check` is the only place where it is enforced."""

    name: str
    key: tuple[str, ...]
    schema: pa.Schema

    def table(self, rows: Iterable[Mapping[str, object]]) -> pa.Table:
        """Build a table from rows and check it."""
        return self.check(pa.Table.from_pylist(list(rows), schema=self.schema))

    def empty(self) -> pa.Table:
        """Return the table without rows: what a stage writes for an empty folder."""
        return self.schema.empty_table()

    def check(self, table: pa.Table) -> pa.Table:
        """Return the table unchanged, or raise a ContractError that says where to fix it."""
        if not table.schema.equals(self.schema):
            raise ContractError(self._describe("has the wrong columns", self._diff(table)))
        for field in self.schema:
            if not field.nullable and table[field.name].null_count:
                raise ContractError(self._describe("has nulls", f"in {field.name!r}"))
        keys = table.select(self.key).group_by(list(self.key)).aggregate([])
        if keys.num_rows != table.num_rows:
            repeated = table.num_rows - keys.num_rows
            raise ContractError(self._describe("repeats its key", f"{self.key}: {repeated} rows"))
        return table

    def _diff(self, table: pa.Table) -> str:
        want = {(f.name, str(f.type)) for f in self.schema}
        have = {(f.name, str(f.type)) for f in table.schema}
        return f"missing {sorted(want - have)}, unexpected {sorted(have - want)}"

    def _describe(self, problem: str, detail: str) -> str:
        return (
            f"Table {self.name!r} {problem}: {detail}. "
            f"Fix the stage that writes it, or change the contract in kb_core/contracts.py."
        )


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


# What may be read, by whom, and where it may be sent. Every chunk repeats it, so that a
# question is answered from the chunks' table alone.
_ACCESS = [
    _required("kind", pa.string()),  # note, wiki, chat, card, ...
    _required("tenant", pa.string()),
    _required("readers", TEXTS),  # empty: everybody in the tenant
    _required("is_private", pa.bool_()),
    _required("may_leave", pa.bool_()),  # may be sent to a hosted model
]

FILES = Contract(
    name="files",
    key=("path",),
    schema=pa.schema(
        [
            _required("path", pa.string()),  # NFC, "/"-separated, relative to the vault
            _required("raw_path", pa.binary()),  # the bytes the file system knows it by
            _required("is_note", pa.bool_()),
            _required("state", pa.string()),  # local, online, pointer, stub, conflict, other
            _required("size", pa.int64()),
            pa.field("content_hash", pa.string()),  # of the bytes read; null if not read
            _required("status", pa.string()),  # readable, skipped, failed
            _required("reason", pa.string()),  # why it was skipped or failed, else empty
        ]
    ),
)

VERSIONS = Contract(  # the journal's rows; the journal holds each version's bytes beside them
    name="versions",
    key=("note_id", "observed_at"),
    schema=pa.schema(
        [
            _required("note_id", pa.string()),
            _required("observed_at", INSTANT),  # start of the listing that found it
            pa.field("content_hash", pa.string()),  # null: the note was gone then
            pa.field("file_time", INSTANT),  # the file's own time then; null: dropped
            _required("is_first_listing", pa.bool_()),
            pa.field("content", pa.binary()),  # the note's bytes; null when gone
            # Null: a listing of the vault. "first commit": the commit that brought the note,
            # "commit": a later one, or one before which nothing is known.
            pa.field("source", pa.string()),
        ]
    ),
)

NOTES = Contract(
    name="notes",
    key=("version_id",),
    schema=pa.schema(
        [
            _required("version_id", pa.string()),  # hash of note, content and observed_at
            _required("note_id", pa.string()),  # NFC path inside the vault
            _required("version", pa.int32()),  # 1, 2, ... by observation
            _required("content_hash", pa.string()),
            _required("observed_at", INSTANT),
            pa.field("observed_until", INSTANT),  # next version or deletion; null: present
            _required("is_current", pa.bool_()),
            _required("title", pa.string()),
            _required("aliases", TEXTS),
            _required("tags", TEXTS),
            *_ACCESS,
            pa.field("note_date", pa.string()),  # partial date; null: undated
            # property NAME, file name, first commit, file time, none
            _required("date_basis", pa.string()),
            _required("date_is_weak", pa.bool_()),
            _required("available_at", INSTANT),
            _required("properties", PROPERTIES),  # front matter and inline fields, in order
            _required("text", pa.string()),  # the whole note, decoded
            _required("body_start", pa.int64()),  # first byte after the front matter
            _required("encoding", pa.string()),
        ]
    ),
)

NOTE_LINKS_RAW = Contract(
    name="note_links_raw",
    key=("version_id", "ordinal"),
    schema=pa.schema(
        [
            _required("version_id", pa.string()),
            _required("note_id", pa.string()),
            _required("ordinal", pa.int32()),
            _required("syntax", pa.string()),  # wikilink, embed, markdown, image, property
            _required("target", pa.string()),  # as written, percent-decoded, without heading
            pa.field("heading", pa.string()),
            pa.field("block", pa.string()),
            pa.field("display", pa.string()),
            pa.field("property", pa.string()),
            _required("byte_start", pa.int64()),
            _required("byte_end", pa.int64()),
        ]
    ),
)

NOTE_TAGS = Contract(
    name="note_tags",
    key=("version_id", "tag"),
    schema=pa.schema(
        [
            _required("version_id", pa.string()),
            _required("note_id", pa.string()),
            _required("tag", pa.string()),  # lower case, without "#"
            _required("source", pa.string()),  # property or text
        ]
    ),
)

FINDINGS = Contract(
    name="findings",
    key=("note_id", "version_id", "code", "detail"),
    schema=pa.schema(
        [
            _required("note_id", pa.string()),
            _required("version_id", pa.string()),
            _required("code", pa.string()),
            _required("detail", pa.string()),  # counts and positions, never note text
        ]
    ),
)

NOTE_LINKS = Contract(
    name="note_links",
    key=("source_version_id", "ordinal"),
    schema=pa.schema(
        [
            _required("source_version_id", pa.string()),
            _required("source_note_id", pa.string()),
            _required("is_current", pa.bool_()),  # the source version is the present one
            _required("ordinal", pa.int32()),
            _required("syntax", pa.string()),
            _required("target", pa.string()),
            pa.field("heading", pa.string()),
            pa.field("block", pa.string()),
            pa.field("display", pa.string()),
            _required("status", pa.string()),  # see the resolver: resolved, self, dangling, …
            _required("is_ambiguous", pa.bool_()),
            pa.field("target_note_id", pa.string()),
            _required("candidates", TEXTS),  # every note it could mean, best first
            _required("byte_start", pa.int64()),
            _required("byte_end", pa.int64()),
        ]
    ),
)

NOTE_NAMES = Contract(  # what the present notes are called, and which notes a name may mean
    name="note_names",
    key=("name",),
    schema=pa.schema(
        [
            _required("name", pa.string()),  # folded: see kb_core.names
            _required("kind", pa.string()),  # title (or file name), alias, short
            _required("forms", TEXTS),  # as written, sorted
            _required("candidates", TEXTS),  # the notes it names, best first
        ]
    ),
)

NOTE_MENTIONS = Contract(  # names of notes that occur in other notes outside of any link
    name="note_mentions",
    key=("source_version_id", "name"),
    schema=pa.schema(
        [
            _required("source_version_id", pa.string()),
            _required("source_note_id", pa.string()),
            _required("is_current", pa.bool_()),  # the source version is the present one
            _required("name", pa.string()),  # key of note_names
            _required("kind", pa.string()),
            _required("target_note_id", pa.string()),
            _required("candidates", TEXTS),  # every note it could mean, best first
            _required("count", pa.int32()),
            _required("byte_starts", OFFSETS),  # of each occurrence, ascending
            _required("byte_ends", OFFSETS),
        ]
    ),
)

FOLDERS = Contract(
    name="folders",
    key=("partition",),
    schema=pa.schema(
        [
            _required("partition", pa.string()),
            _required("path", pa.string()),  # "" is the vault's root
            _required("files", pa.int64()),
            _required("notes", pa.int64()),
        ]
    ),
)

CHUNKS = Contract(
    name="chunks",
    key=("version_id", "chunk_id"),
    schema=pa.schema(
        [
            _required("version_id", pa.string()),
            _required("chunk_id", pa.string()),  # hash of note, breadcrumb, text, nth repeat
            _required("text_id", pa.string()),  # hash of search_text: the unit that is indexed
            _required("note_id", pa.string()),
            _required("is_current", pa.bool_()),
            _required("ordinal", pa.int32()),  # position in the note, from 0
            pa.field("next_chunk_id", pa.string()),
            _required("title", pa.string()),
            _required("breadcrumb", pa.string()),  # "Title > Heading > Subheading"
            _required("anchors", TEXTS),  # headings above it, outermost first, title left out
            _required("text", pa.string()),  # what is read
            _required("search_text", pa.string()),  # what it is found by
            _required("tokens", pa.int32()),  # of text
            _required("byte_start", pa.int64()),
            _required("byte_end", pa.int64()),
            pa.field("written_date", pa.string()),  # nearest dated heading, else the note's
            _required("written_basis", pa.string()),
            _required("written_is_weak", pa.bool_()),
            _required("available_at", INSTANT),
            *_ACCESS,
            _required("aliases", TEXTS),
            _required("source_type", pa.string()),  # of a card; else empty
            _required("authority_role", pa.string()),  # of a card; else empty
            _required("speakers", TEXTS),  # of a chat's turns, in order of appearance
        ]
    ),
)

PASSAGES = Contract(  # the rows of a folder's vector matrix, in order
    name="passages",
    key=("text_id", "passage"),
    schema=pa.schema(
        [
            _required("text_id", pa.string()),
            _required("passage", pa.int32()),  # 0, 1, ... inside the text
            _required("passage_hash", pa.string()),  # what the embedding cache is keyed by
        ]
    ),
)

CONTRACTS = {
    contract.name: contract
    for contract in (
        FILES,
        VERSIONS,
        NOTES,
        NOTE_LINKS_RAW,
        NOTE_TAGS,
        FINDINGS,
        NOTE_LINKS,
        NOTE_NAMES,
        NOTE_MENTIONS,
        FOLDERS,
        CHUNKS,
        PASSAGES,
    )
}
