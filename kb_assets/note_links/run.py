"""Resolve the vault's links, find its unlinked mentions, and list its folders. Safe to repeat.

Each folder's links and mentions are a partition of their own: they are made anew when its notes
change, or when what they could point at does. An edit that adds no note, alias or title leaves
the other folders' as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links import figures, resolver
from kb_assets.outcome import Outcome, are_held, outcome
from kb_core import names as name_rules
from kb_core.contracts import FOLDERS, NOTE_LINKS
from kb_core.errors import StoreError
from kb_core.ids import combined, fingerprint
from kb_knowledge import note_mentions as mentions
from kb_knowledge.note_names import find_names
from kb_search import note_graph
from kb_search.note_graph import GRAPH
from resources.home import Home
from resources.tables import WHOLE, Pointer

VERSION = f"{resolver.VERSION}.{mentions.VERSION}.{name_rules.VERSION}.{note_graph.VERSION}"
BY_FOLDER = ("note_links", "note_mentions")
WHOLES = ("note_names", "folders")  # the last is written when all else is done
_SHARED = {"note_links": ("targets",), "note_mentions": ("names",)}  # made from, beside its own
_EDGES = ["source_note_id", "is_current", "status", "candidates"]
_LINKS = [*_EDGES, *(name for name in figures.COLUMNS if name not in _EDGES)]
_MENTIONS = ["source_note_id", "is_current", "candidates"]
_PRESENT = ["note_id", "is_current", "title", "aliases"]
_TEXTS = ["note_id", "version_id", "is_current", "body_start", "text"]


def run(home: Home) -> Outcome:
    """Bring links, mentions, names and folders up to date with everything that was read."""
    if is_fresh(home):
        links = list(_present_rows(home, "note_links", _LINKS))
        return _outcome(home, _present(home), links, is_cached=True)
    with home.leases.hold(f"note_links/{WHOLE}"):
        inputs = _inputs(home)
        notes = _present(home)
        names = _write_names(home, notes)
        targets = _write_links(home, notes)
        _write_mentions(home, names)
        _forget_others(home)
        links = list(_present_rows(home, "note_links", _LINKS))
        _write_graph(home, notes, links, names.inputs)
        made_from = {**inputs, **names.inputs, "targets": targets, "names": names.hash}
        _write(home, "folders", WHOLE, made_from, _folders(home))
    return _outcome(home, notes, links, is_cached=False)


def is_fresh(home: Home) -> bool:
    """Tell whether a run would find nothing to do."""
    inputs = _inputs(home)
    last = home.store.pointer("folders")
    if last is None or not inputs.items() <= last.inputs.items():
        return False
    shared = {name: last.inputs.get(name, "") for name in ("named", "targets", "names")}
    return (
        are_held(home, ["note_names"], WHOLE, {"named": shared["named"]}, VERSION)
        and are_held(home, ["folders"], WHOLE, {**inputs, **shared}, VERSION)
        and _is_whole(home, GRAPH)
        and not any(True for name in BY_FOLDER for _ in _to_do(home, name, shared))
    )


def _is_whole(home: Home, name: str) -> bool:
    pointer = home.store.pointer(name)
    if pointer is None or pointer.code_version != VERSION:
        return False
    return home.store.is_whole(pointer)


def _inputs(home: Home) -> dict[str, str]:
    store = home.store
    return {
        f"{name}/{partition}": pointer.hash
        for name in ("notes", "note_links_raw", "files")
        for partition in store.partitions(name)
        if (pointer := store.pointer(name, partition))
    }


def _own_inputs(home: Home, partition: str) -> dict[str, str]:
    found = {name: home.store.pointer(name, partition) for name in ("notes", "note_links_raw")}
    return {name: pointer.hash if pointer else "" for name, pointer in found.items()}


def _write(
    home: Home, name: str, partition: str, inputs: Mapping[str, str], table: pa.Table
) -> Pointer:
    return home.store.write(name, table, partition=partition, inputs=inputs, code_version=VERSION)


def _present(home: Home) -> pa.Table:
    """Return what the present notes are called, sorted."""
    notes = home.store.read_all("notes", _PRESENT)
    return notes.filter(notes["is_current"]).sort_by("note_id")


def _write_names(home: Home, notes: pa.Table) -> Pointer:
    """Write the names unless the notes are called what they were called before."""
    inputs = {"named": fingerprint(notes)}
    held = home.store.holds("note_names", WHOLE, inputs, VERSION)
    return held or _write(home, "note_names", WHOLE, inputs, find_names(notes))


def _write_links(home: Home, notes: pa.Table) -> str:
    """Resolve what is not up to date; return the hash of what links can point at."""
    files = home.store.read_all("files", ["path", "is_note"])
    targets = combined([fingerprint(_targets(notes)), fingerprint(files)])
    vault = resolver.build_vault(notes, files)
    for partition, inputs in _to_do(home, "note_links", {"targets": targets}):
        own = home.store.read("notes", partition, ["version_id", "is_current"])
        raw = home.store.read("note_links_raw", partition)
        links = resolver.resolve_links(own, raw, vault)
        _write(home, "note_links", partition, inputs, links)
    return targets


def _write_graph(
    home: Home, notes: pa.Table, all_links: Sequence[pa.Table], shared: Mapping[str, str]
) -> None:
    """Lay out what questions need of names and links, over all folders.

    Where in a text they stand is no matter to it, and that is what most edits change.
    """
    links = [table.select(_EDGES) for table in all_links]
    found = list(_present_rows(home, "note_mentions", _MENTIONS))
    inputs = {
        name: combined(fingerprint(table) for table in tables)
        for name, tables in zip(BY_FOLDER, (links, found), strict=True)
    }
    inputs |= shared
    if home.store.holds(GRAPH, WHOLE, inputs, VERSION):
        return
    arrays = note_graph.graph_arrays(notes, links, found)
    rows = len(arrays["sources"])
    home.store.write_arrays(
        GRAPH, arrays, partition=WHOLE, rows=rows, inputs=inputs, code_version=VERSION
    )


def _present_rows(home: Home, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    for partition in home.store.partitions(name):
        table = home.store.read(name, partition, columns)
        yield table.filter(table["is_current"])


def _targets(notes: pa.Table) -> pa.Table:
    return notes.select(["note_id", "aliases"]).combine_chunks()


def _write_mentions(home: Home, pointer: Pointer) -> None:
    names = None
    for partition, inputs in _to_do(home, "note_mentions", {"names": pointer.hash}):
        names = names or mentions.Names.of_table(home.store.read("note_names"))
        own = home.store.read("notes", partition, _TEXTS)
        raw = home.store.read("note_links_raw", partition)
        before = _mentions_before(home, partition, inputs)
        found = mentions.find_mentions(own, raw, names, before)
        _write(home, "note_mentions", partition, inputs, found)


def _mentions_before(home: Home, partition: str, inputs: Mapping[str, str]) -> pa.Table | None:
    """Return the folder's mentions if they were found by this code for the same names."""
    pointer = home.store.pointer("note_mentions", partition)
    if pointer is None or pointer.code_version != VERSION:
        return None
    if pointer.inputs.get("names") != inputs["names"]:
        return None
    try:
        return home.store.read("note_mentions", partition)
    except StoreError:
        return None  # damaged: they are found and written anew


def _to_do(
    home: Home, name: str, shared: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the folders whose table is not up to date, and what it is to be made from."""
    needed = {key: shared[key] for key in _SHARED[name]}
    for partition in home.store.partitions("notes"):
        inputs = {**_own_inputs(home, partition), **needed}
        if not are_held(home, [name], partition, inputs, VERSION):
            yield partition, inputs


def _forget_others(home: Home) -> None:
    """Forget what was made of folders that are gone."""
    there = set(home.store.partitions("notes"))
    for name in BY_FOLDER:
        for partition in home.store.partitions(name):
            if partition not in there:
                home.store.forget(name, partition)


def _outcome(home: Home, notes: pa.Table, links: Sequence[pa.Table], *, is_cached: bool) -> Outcome:
    tables = {name: list(_pointers(home, name)) for name in BY_FOLDER}
    rows = {name: sum(pointer.rows for pointer in found) for name, found in tables.items()}
    wholes = [pointer for name in WHOLES if (pointer := home.store.pointer(name))]
    everything = [*(pointer for found in tables.values() for pointer in found), *wholes]
    done = outcome("note_links", WHOLE, everything or wholes, is_cached=is_cached)
    return Outcome(
        done.stage,
        WHOLE,
        done.hash,
        rows["note_links"],
        is_cached,
        {
            "mentions": rows["note_mentions"],
            **figures.link_figures(
                notes, pa.concat_tables([NOTE_LINKS.empty().select(_LINKS), *links])
            ),
        },
    )


def _pointers(home: Home, name: str) -> Iterable[Pointer]:
    for partition in home.store.partitions(name):
        if pointer := home.store.pointer(name, partition):
            yield pointer


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
