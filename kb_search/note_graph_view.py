"""The names and links between the notes of a view: what a vault of these notes alone would have.

The build's own index serves whoever sees the whole present vault. For anybody else, and for another
day, links are resolved and mentions found anew among the notes of the view: a title that shadows
another, a link that was added since, a note that is gone now would all be seen in the present's.
Only what stands in a chunk of the view counts. Nine hundred long notes take half a second.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_core.contract import Contract
from kb_core.contracts import NOTE_LINKS, NOTES
from kb_core.link_targets import Paths, is_address, note_paths
from kb_knowledge.note_mentions import Names, find_mentions
from kb_knowledge.note_names import find_names
from kb_search.build import PublishedBuild
from kb_search.folder import Folder
from kb_search.note_graph import NoteGraph, graph_arrays
from kb_search.view import View

_NOTE = ["version_id", "note_id", "title", "aliases", "body_start", "text", "is_current"]
_LINK = ["source_version_id", "source_note_id", "target", "syntax", "byte_start", "byte_end"]
_CHUNK = ["version_id", "ordinal", "byte_start", "byte_end"]
_EDGE = ["source_note_id", "is_current", "status", "candidates"]

# Of a version: the bytes of its chunks in view. The front matter goes with the first chunk.
_Seen = Mapping[str, Sequence[tuple[int, int]]]


def note_graph_of(build: PublishedBuild, view: View) -> NoteGraph | None:
    """Return the index of the view's notes; None in a build that was made without links."""
    whole = build.note_graph
    if whole is None or view.is_whole_present(build):
        return whole
    seen = {folder: _seen(folder, mask) for folder, mask in _parts(view)}
    notes = _joined(NOTES, _NOTE, (_notes(folder, seen[folder]) for folder in seen))
    links = [_links(build, folder, seen[folder]) for folder in seen]
    names = Names(find_names(notes))
    edges = _edges(links, note_paths(notes["note_id"].to_pylist()))
    mentions = [_mentions(notes, links, names, seen)]
    return NoteGraph(graph_arrays(notes, [edges], mentions))


def _parts(view: View) -> Iterator[tuple[Folder, np.ndarray]]:
    for folder, mask in zip(view.folders, view.masks, strict=True):
        if mask.any():
            yield folder, mask


def _seen(folder: Folder, mask: np.ndarray) -> _Seen:
    rows = folder.table("chunks", _CHUNK).take(pa.array(np.flatnonzero(mask).tolist(), pa.int64()))
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    columns = (rows[name].to_pylist() for name in _CHUNK)
    for version, ordinal, start, end in zip(*columns, strict=True):
        found[version].append((start if ordinal else 0, end))
    return {version: sorted(spans) for version, spans in found.items()}


def _notes(folder: Folder, seen: _Seen) -> pa.Table:
    """Return the versions in view, each as if it were the present one."""
    rows = folder.table("notes", _NOTE)
    kept = rows.filter(pc.is_in(rows["version_id"], value_set=pa.array(list(seen), pa.string())))
    return _as_present(kept)


def _as_present(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("is_current")
    return rows.set_column(at, rows.schema.field(at), pa.array([True] * rows.num_rows))


def _links(build: PublishedBuild, folder: Folder, seen: _Seen) -> pa.Table:
    rows = build.vault_table(f"note_links/{folder.partition}", _LINK)
    if rows is None:
        return NOTE_LINKS.empty().select(_LINK)
    columns = (rows[name].to_pylist() for name in ("source_version_id", "byte_start"))
    is_seen = [_is_inside(seen.get(version, ()), at) for version, at in zip(*columns, strict=True)]
    return rows.filter(pa.array(is_seen, pa.bool_()))


def _edges(links: Iterable[pa.Table], paths: Paths) -> pa.Table:
    rows = []
    for table in links:
        columns = (table[name].to_pylist() for name in ("source_note_id", "target", "syntax"))
        for source, target, syntax in zip(*columns, strict=True):
            found = () if is_address(target, syntax) else paths.find(source, target)
            if target and found:
                edge = {"source_note_id": source, "is_current": True, "status": "resolved"}
                rows.append({**edge, "candidates": found})
    fields = [NOTE_LINKS.schema.field(name) for name in _EDGE]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def _mentions(
    notes: pa.Table, links: Sequence[pa.Table], names: Names, seen: Mapping[Folder, _Seen]
) -> pa.Table:
    linked = pa.concat_tables(
        [NOTE_LINKS.empty().select(_LINK), *(table.select(_LINK) for table in links)]
    )
    raw = linked.select(["source_version_id", "byte_start", "byte_end"])
    found = find_mentions(
        notes, raw.rename_columns(["version_id", "byte_start", "byte_end"]), names
    )
    spans = {version: each for part in seen.values() for version, each in part.items()}
    columns = (found[name].to_pylist() for name in ("source_version_id", "byte_starts"))
    is_seen = [
        any(_is_inside(spans[version], at) for at in places)
        for version, places in zip(*columns, strict=True)
    ]
    return found.filter(pa.array(is_seen, pa.bool_()))


def _is_inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in spans)


def _joined(contract: Contract, columns: Sequence[str], tables: Iterable[pa.Table]) -> pa.Table:
    empty = contract.empty().select(columns)
    return pa.concat_tables([empty, *tables]).combine_chunks()
