"""Is everything there that should be? Indexed + skipped + failed = files, and what is not read."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kb_core.folder_names import shown_path
from resources.home import Home


def folder_rows(home: Home) -> list[dict[str, Any]]:
    """Return one row per folder: files, how they ended, texts and vectors."""
    return [
        _folder_row(home, partition, path)
        for partition, path in sorted(home.folders().items(), key=lambda item: item[1])
        if home.store.pointer("files", partition)
    ]


def _folder_row(home: Home, partition: str, path: str) -> dict[str, Any]:
    store = home.store
    files = store.read("files", partition, ["path", "is_note", "status"])
    current = _current_notes(home, partition)
    readable = files.filter(pc.equal(files["status"], "readable"))["path"]
    indexed = pc.sum(pc.is_in(readable, value_set=current)).as_py() or 0
    status = Counter(files["status"].to_pylist())
    words = store.pointer("keyword_index", partition)
    vectors = store.pointer("vectors", partition)
    return {
        "folder": shown_path(path),
        "partition": partition,
        "files": files.num_rows,
        "notes": len(current),
        "indexed": indexed,
        "skipped": status["skipped"],
        "failed": status["failed"],
        "adds_up": indexed + status["skipped"] + status["failed"] == files.num_rows,
        "texts": words.rows if words else 0,
        "with_vectors": vectors.rows if vectors else 0,
    }


def _current_notes(home: Home, partition: str) -> pa.Array:
    if home.store.pointer("notes", partition) is None:
        return pa.array([], pa.string())
    notes = home.store.read("notes", partition, ["note_id", "is_current"])
    return notes.filter(notes["is_current"])["note_id"].combine_chunks()


def not_read(home: Home) -> list[tuple[str, str, int]]:
    """Return (status, reason, files), most frequent first."""
    files = home.store.read_all("files", ["status", "reason"])
    rows = Counter(zip(files["status"].to_pylist(), files["reason"].to_pylist(), strict=True))
    found = [(status, reason, n) for (status, reason), n in rows.items() if status != "readable"]
    return sorted(found, key=lambda row: (-row[2], row[0], row[1]))


def unread_notes(home: Home) -> list[tuple[str, str]]:
    """Return (path, reason) of every note that was not read, sorted."""
    files = home.store.read_all("files", ["path", "is_note", "status", "reason"]).to_pylist()
    return [
        (row["path"], row["reason"])
        for row in files
        if row["is_note"] and row["status"] != "readable"
    ]


def findings(home: Home) -> list[tuple[str, int]]:
    """Return (code, notes) of what was odd in present notes, most frequent first."""
    current: set[str] = set()
    for partition in home.store.partitions("notes"):
        notes = home.store.read("notes", partition, ["version_id", "is_current"])
        current |= set(notes.filter(notes["is_current"])["version_id"].to_pylist())
    rows = home.store.read_all("findings", ["version_id", "code"]).to_pylist()
    counts = Counter(row["code"] for row in rows if row["version_id"] in current)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def links(home: Home) -> dict[str, int]:
    """Return how the links of present notes ended, and how many of them are ambiguous."""
    table = home.store.read_all("note_links", ["is_current", "status", "is_ambiguous"])
    present = table.filter(table["is_current"])
    ended = Counter(present["status"].to_pylist())
    return {
        **dict(sorted(ended.items())),
        "ambiguous": pc.sum(present["is_ambiguous"]).as_py() or 0,
    }
