"""Stable ids: the same content always gets the same id, on every machine. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable

import pyarrow as pa
import xxhash

_FIELD_END = "\x1f"
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_LIMIT = 60


def content_id(*parts: str) -> str:
    r"""Hash the parts into a 32-character id.

    Each part is led by its length, so moving text from one part to the next changes the id
    even when the text holds the separator.

    >>> content_id("ab", "c") == content_id("a", "bc")
    False
    >>> content_id("a\x1fb") == content_id("a", "b")
    False
    """
    sized = [f"{len(part)}{_FIELD_END}{part}" for part in parts]
    return xxhash.xxh3_128_hexdigest(_FIELD_END.join(sized).encode("utf-8", "surrogatepass"))


def bytes_hash(data: bytes) -> str:
    """Hash bytes into the 32-character id that files and note contents are known by."""
    return xxhash.xxh3_128_hexdigest(data)


def json_hash(value: object) -> str:
    """Hash a JSON value by its canonical form: sorted keys, no spaces."""
    return bytes_hash(canonical_json(value).encode())


def canonical_json(value: object) -> str:
    """Write a JSON value in the one form that is hashed and stored."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_table(table: pa.Table) -> pa.Table:
    """Return a table in the one form that is hashed and stored, whatever it was put together from.

    Equal rows can lie differently in memory: in pieces, as a slice, with a bitmap of nulls that
    has none, in lists whose items Parquet calls elements. All of that shows in bytes.
    """
    if not table.num_rows:
        empty = [_plain(pa.array([], field.type)) for field in table.schema]
        fields = zip(table.schema, empty, strict=True)
        return pa.schema([field.with_type(each.type) for field, each in fields]).empty_table()
    # `take` copies the rows into fresh buffers. Without it a slice carries the bytes of the rows
    # it hides.
    rows = table.replace_schema_metadata(None).take(pa.array(range(table.num_rows), pa.int64()))
    columns = [_plain(column.combine_chunks()) for column in rows.columns]
    fields = zip(rows.schema, columns, strict=True)
    return pa.Table.from_arrays(
        columns, schema=pa.schema([field.with_type(column.type) for field, column in fields])
    )


def _plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):  # one that cannot be joined has a single piece
        array = array.chunk(0)
    kind = array.type
    if pa.types.is_list(kind):
        items = _plain(array.values)
        is_nullable = kind.value_field.nullable
        kind = pa.list_(pa.field("item", items.type, nullable=is_nullable))
        children, buffers = [items], array.buffers()[:2]
    elif pa.types.is_struct(kind):
        children = [_plain(array.field(at)) for at in range(kind.num_fields)]
        buffers = array.buffers()[:1]
    else:
        children, buffers = [], array.buffers()
    validity = None if array.null_count == 0 else buffers[0]
    return pa.Array.from_buffers(
        kind, len(array), [validity, *buffers[1:]], array.null_count, array.offset, children
    )


def fingerprint(table: pa.Table) -> str:
    """Hash a table's columns and rows, in order.

    Used as the Dagster data version: equal content means nothing downstream is stale.
    """
    rows = canonical_table(table)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return xxhash.xxh3_128_hexdigest(sink.getvalue())


def combined(hashes: Iterable[str]) -> str:
    """Hash several hashes, in order, into one."""
    return content_id(*hashes)


def partition_key(folder: str) -> str:
    """Name a folder's partition: a readable ASCII slug and eight hex digits of its path.

    Folder names may hold commas, `..`, line breaks or any script; a key may not, because it
    becomes part of file names, run tags and page addresses.

    >>> partition_key("Work/Mind reader")
    'work-mind-reader-48af2cb0'
    """
    path = unicodedata.normalize("NFC", folder)
    plain = unicodedata.normalize("NFKD", path).encode("ascii", "ignore").decode().lower()
    slug = _NOT_SLUG.sub("-", plain).strip("-")[:_SLUG_LIMIT].strip("-")
    digest = xxhash.xxh3_64_hexdigest(path.encode("utf-8", "surrogatepass"))[:8]
    return f"{slug or ('folder' if path else 'vault-root')}-{digest}"
