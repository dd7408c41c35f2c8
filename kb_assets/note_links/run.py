"""Resolve the whole vault's links, and list its folders. Safe to repeat."""

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import VERSION, resolve_links
from kb_assets.outcome import Outcome, are_held, run_tables
from kb_core.contracts import FOLDERS
from resources.home import Home
from resources.tables import WHOLE

NAMES = ("note_links", "folders")
_NOTE_COLUMNS = ["note_id", "version_id", "is_current", "aliases"]


def run(home: Home) -> Outcome:
    """Write `note_links` and `folders` over everything that was read so far."""
    return run_tables(
        home,
        "note_links",
        WHOLE,
        names=NAMES,
        inputs=_inputs(home),
        code_version=VERSION,
        make=lambda: {"note_links": _links(home), "folders": _folders(home)},
    )


def is_fresh(home: Home) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, NAMES, WHOLE, _inputs(home), VERSION)


def _inputs(home: Home) -> dict[str, str]:
    store = home.store
    return {
        f"{name}/{partition}": pointer.hash
        for name in ("notes", "note_links_raw", "files")
        for partition in store.partitions(name)
        if (pointer := store.pointer(name, partition))
    }


def _links(home: Home) -> pa.Table:
    files = home.store.read_all("files", ["path", "is_note"])
    notes = home.store.read_all("notes", _NOTE_COLUMNS)
    return resolve_links(notes, home.store.read_all("note_links_raw"), files)


def _folders(home: Home) -> pa.Table:
    rows = []
    for partition, path in sorted(home.folders().items()):
        if home.store.pointer("files", partition) is None:
            continue
        files = home.store.read("files", partition, ["is_note"])
        notes = pc.sum(files["is_note"]).as_py() or 0
        row = {"partition": partition, "path": path, "files": files.num_rows, "notes": notes}
        rows.append(row)
    return FOLDERS.table(rows)
