"""The table each stage promises the next: columns, types, nulls and a unique key.

A stage may be rewritten freely as long as its contract still holds. Instants are UTC in
microseconds. A partial date is text: `2024`, `2024-03` or `2024-03-14`; its length is its
precision. Byte ranges count bytes of a note's decoded text in UTF-8, start included, end not.
"""

import pyarrow as pa

from kb_core.contract import INSTANT, OFFSETS, PROPERTIES, TEXTS, Contract, required
from kb_core.knowledge_contracts import KNOWLEDGE_CONTRACTS
from kb_core.reading_contracts import READING_CONTRACTS

# What may be read, by whom, and where it may be sent. Every chunk repeats it, so that a
# question is answered from the chunks' table alone.
_ACCESS = [
    required("kind", pa.string()),  # note, wiki, chat, card, ...
    required("tenant", pa.string()),
    required("readers", TEXTS),  # empty: everybody in the tenant
    required("is_private", pa.bool_()),
    required("may_leave", pa.bool_()),  # may be sent to a hosted model
]

FILES = Contract(
    name="files",
    key=("path",),
    schema=pa.schema(
        [
            required("path", pa.string()),  # NFC, "/"-separated, relative to the vault
            required("raw_path", pa.binary()),  # the bytes the file system knows it by
            required("is_note", pa.bool_()),
            required("state", pa.string()),  # local, online, pointer, stub, conflict, other
            required("size", pa.int64()),
            pa.field("content_hash", pa.string()),  # of the bytes read; null if not read
            required("status", pa.string()),  # readable, skipped, failed
            required("reason", pa.string()),  # why it was skipped or failed, else empty
        ]
    ),
)

VERSIONS = Contract(  # the journal's rows; the journal holds each version's bytes beside them
    name="versions",
    key=("note_id", "observed_at"),
    schema=pa.schema(
        [
            required("note_id", pa.string()),
            required("observed_at", INSTANT),  # start of the listing that found it
            pa.field("content_hash", pa.string()),  # null: the note was gone then
            pa.field("file_time", INSTANT),  # the file's own time then; null: dropped
            required("is_first_listing", pa.bool_()),
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
            required("version_id", pa.string()),  # hash of note, content and observed_at
            required("note_id", pa.string()),  # NFC path inside the vault
            required("version", pa.int32()),  # 1, 2, ... by observation
            required("content_hash", pa.string()),
            required("observed_at", INSTANT),
            pa.field("observed_until", INSTANT),  # next version or deletion; null: present
            required("is_current", pa.bool_()),
            required("title", pa.string()),
            required("aliases", TEXTS),
            required("tags", TEXTS),
            *_ACCESS,
            pa.field("note_date", pa.string()),  # partial date; null: undated
            # property NAME, file name, first commit, file time, none
            required("date_basis", pa.string()),
            required("date_is_weak", pa.bool_()),
            required("available_at", INSTANT),
            required("properties", PROPERTIES),  # front matter and inline fields, in order
            required("text", pa.string()),  # the whole note, decoded
            required("body_start", pa.int64()),  # first byte after the front matter
            required("encoding", pa.string()),
        ]
    ),
)

NOTE_LINKS_RAW = Contract(
    name="note_links_raw",
    key=("version_id", "ordinal"),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("note_id", pa.string()),
            required("ordinal", pa.int32()),
            required("syntax", pa.string()),  # wikilink, embed, markdown, image, property
            required("target", pa.string()),  # as written, percent-decoded, without heading
            pa.field("heading", pa.string()),
            pa.field("block", pa.string()),
            pa.field("display", pa.string()),
            pa.field("property", pa.string()),
            required("byte_start", pa.int64()),
            required("byte_end", pa.int64()),
        ]
    ),
)

NOTE_TAGS = Contract(
    name="note_tags",
    key=("version_id", "tag"),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("note_id", pa.string()),
            required("tag", pa.string()),  # lower case, without "#"
            required("source", pa.string()),  # property or text
        ]
    ),
)

FINDINGS = Contract(
    name="findings",
    key=("note_id", "version_id", "code", "detail"),
    schema=pa.schema(
        [
            required("note_id", pa.string()),
            required("version_id", pa.string()),
            required("code", pa.string()),
            required("detail", pa.string()),  # counts and positions, never note text
        ]
    ),
)

NOTE_LINKS = Contract(
    name="note_links",
    key=("source_version_id", "ordinal"),
    schema=pa.schema(
        [
            required("source_version_id", pa.string()),
            required("source_note_id", pa.string()),
            required("is_current", pa.bool_()),  # the source version is the present one
            required("ordinal", pa.int32()),
            required("syntax", pa.string()),
            required("target", pa.string()),
            pa.field("heading", pa.string()),
            pa.field("block", pa.string()),
            pa.field("display", pa.string()),
            required("status", pa.string()),  # see the resolver: resolved, self, dangling, …
            required("is_ambiguous", pa.bool_()),
            pa.field("target_note_id", pa.string()),
            required("candidates", TEXTS),  # every note it could mean, best first
            required("byte_start", pa.int64()),
            required("byte_end", pa.int64()),
        ]
    ),
)

NOTE_NAMES = Contract(  # what the present notes are called, and which notes a name may mean
    name="note_names",
    key=("name",),
    schema=pa.schema(
        [
            required("name", pa.string()),  # folded: see kb_core.names
            required("kind", pa.string()),  # title (or file name), alias, short
            required("forms", TEXTS),  # as written, sorted
            required("candidates", TEXTS),  # the notes it names, best first
        ]
    ),
)

NOTE_MENTIONS = Contract(  # names of notes that occur in other notes outside of any link
    name="note_mentions",
    key=("source_version_id", "name"),
    schema=pa.schema(
        [
            required("source_version_id", pa.string()),
            required("source_note_id", pa.string()),
            required("is_current", pa.bool_()),  # the source version is the present one
            required("name", pa.string()),  # key of note_names
            required("kind", pa.string()),
            required("target_note_id", pa.string()),
            required("candidates", TEXTS),  # every note it could mean, best first
            required("count", pa.int32()),
            required("byte_starts", OFFSETS),  # of each occurrence, ascending
            required("byte_ends", OFFSETS),
        ]
    ),
)

FOLDERS = Contract(
    name="folders",
    key=("partition",),
    schema=pa.schema(
        [
            required("partition", pa.string()),
            required("path", pa.string()),  # "" is the vault's root
            required("files", pa.int64()),
            required("notes", pa.int64()),
        ]
    ),
)

CHUNKS = Contract(
    name="chunks",
    key=("version_id", "chunk_id"),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("chunk_id", pa.string()),  # hash of note, breadcrumb, text, nth repeat
            required("text_id", pa.string()),  # hash of search_text: the unit that is indexed
            required("note_id", pa.string()),
            required("is_current", pa.bool_()),
            required("ordinal", pa.int32()),  # position in the note, from 0
            pa.field("next_chunk_id", pa.string()),
            required("title", pa.string()),
            required("breadcrumb", pa.string()),  # "Title > Heading > Subheading"
            required("anchors", TEXTS),  # headings above it, outermost first, title left out
            required("text", pa.string()),  # what is read
            required("search_text", pa.string()),  # what it is found by
            required("tokens", pa.int32()),  # of text
            required("byte_start", pa.int64()),
            required("byte_end", pa.int64()),
            pa.field("written_date", pa.string()),  # nearest dated heading, else the note's
            required("written_basis", pa.string()),
            required("written_is_weak", pa.bool_()),
            required("available_at", INSTANT),
            *_ACCESS,
            required("aliases", TEXTS),
            required("source_type", pa.string()),  # of a card; else empty
            required("authority_role", pa.string()),  # of a card; else empty
            required("speakers", TEXTS),  # of a chat's turns, in order of appearance
        ]
    ),
)

PASSAGES = Contract(  # the rows of a folder's vector matrix, in order
    name="passages",
    key=("text_id", "passage"),
    schema=pa.schema(
        [
            required("text_id", pa.string()),
            required("passage", pa.int32()),  # 0, 1, ... inside the text
            required("passage_hash", pa.string()),  # what the embedding cache is keyed by
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
        *KNOWLEDGE_CONTRACTS,
        *READING_CONTRACTS,
    )
}
