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
    sized = (f"{len(part)}{_FIELD_END}{part}" for part in parts)
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


def fingerprint(table: pa.Table) -> str:
    """Hash a table's columns and rows, in order.

    Used as the Dagster data version: equal content means nothing downstream is stale.
    """
    # `take` copies the rows into fresh buffers. Without it a slice carries the bytes of
    # the rows it hides, and an equal table gets another hash.
    rows = table.replace_schema_metadata(None).take(pa.array(range(table.num_rows), pa.int64()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
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
