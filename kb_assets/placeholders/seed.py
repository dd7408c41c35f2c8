"""Earlier versions that come with a vault: journaled once, while the journal is still empty.

`data/sample_history/history.jsonl` holds one row per version, sorted by note and time:
`{"note": path, "observed_at": instant, "file": name}`. `file` names the version's bytes beside
it; "vault" stands for what the vault holds now, null for a note that was gone then. Safe to
stop anywhere and to repeat: it ends with the first listing of the vault.
"""

import datetime as dt
import json
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kb_core.errors import StoreError
from kb_core.ids import bytes_hash, partition_key
from resources.history import History
from resources.home import Home
from resources.vault import Entry, LocalVault

FOLDER = "sample_history"
_PRESENT = "vault"


def import_versions(home: Home, entries: Mapping[str, Entry], now: dt.datetime) -> int:
    """Journal the versions that lie beside the home's vault; return how many.

    `entries` are the vault's files by path; `now` is when they are about to be listed. Nothing is
    done once a listing has begun, or when the vault lacks a note of the list: then they belong to
    another vault. Raises StoreError when the list or one of its files cannot be read.
    """
    source = home.data / FOLDER / "history.jsonl"
    history = History(home.data / "history")
    if not source.is_file() or history.listing():
        return 0
    rows = _rows(source, now)
    if not all(row["note"] in entries for row in rows if row["file"] == _PRESENT):
        return 0
    vault = LocalVault(home.vault_path, home.settings.vault)
    versions = _versions(rows, source.parent, vault, entries)
    by_partition: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for version in versions:
        folder = Entry(str(version["note_id"]), b"", 0, 0, "local")
        by_partition[partition_key(folder.folder(home.settings.vault.folder_depth))].append(version)
    left = sorted(set(by_partition) - set(history.partitions()))  # each is journaled in one step
    return sum(history.append(key, by_partition[key]) for key in left)


def _rows(source: Path, now: dt.datetime) -> list[dict[str, Any]]:
    rows: dict[tuple[str, dt.datetime], dict[str, Any]] = {}
    for number, line in enumerate(_lines(source), start=1):
        if not line.strip():
            continue
        where = f"{source}, line {number}"
        row = _row(line, where)
        key = (row["note"], row["observed_at"])
        if key in rows:
            raise StoreError(f"{where} gives its note a second version at the same instant.")
        if row["observed_at"] >= now:
            # The journal goes by its instants: what is seen today would count as older.
            raise StoreError(f"{where} lies in the future. Mend its instant, or this clock.")
        rows[key] = row
    return [rows[key] for key in sorted(rows)]


def _lines(source: Path) -> list[str]:
    try:
        return source.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise StoreError(
            f"{source} cannot be read as UTF-8: {type(problem).__name__}. Mend or remove it."
        ) from None


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        given = json.loads(line)
        note, file = unicodedata.normalize("NFC", given["note"]), given["file"]
        moment = dt.datetime.fromisoformat(given["observed_at"])
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{where} is no version: give note, observed_at and file.") from None
    if moment.tzinfo is None:
        raise StoreError(f"{where} has no time zone. Write its instant as 2024-01-18T18:05:00Z.")
    if file is not None and (not isinstance(file, str) or file != Path(file).name):
        raise StoreError(f"{where} names no file: give the name of one that lies beside the list.")
    return {"note": note, "observed_at": moment.astimezone(dt.UTC), "file": file}


def _versions(
    rows: Sequence[Mapping[str, Any]], folder: Path, vault: LocalVault, entries: Mapping[str, Entry]
) -> list[dict[str, object]]:
    """Return journal rows. A present note that cannot be read is left to the listing."""
    versions = []
    known: set[str] = set()
    for row in rows:
        note = row["note"]
        content = _content(row, folder, vault, entries)
        if content is None and row["file"] is not None:
            continue
        versions.append(
            {
                "note_id": note,
                "observed_at": row["observed_at"],
                "content_hash": None if content is None else bytes_hash(content),
                "file_time": None,
                "is_first_listing": note not in known,
                "content": content,
            }
        )
        known.add(note)
    return versions


def _content(
    row: Mapping[str, Any], folder: Path, vault: LocalVault, entries: Mapping[str, Entry]
) -> bytes | None:
    if row["file"] is None:
        return None
    if row["file"] == _PRESENT:
        return vault.read(entries[row["note"]]).content
    try:
        return (folder / row["file"]).read_bytes()
    except OSError:
        raise StoreError(
            f"{folder / row['file']} is missing: the history of a note names it."
        ) from None
