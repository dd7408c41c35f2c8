"""The names and links between the notes of a view: what a vault of these notes alone would have.

The build's own index serves whoever sees the whole present vault. For anybody else, and for another
day, links are resolved and mentions found anew among the notes of the view: a title that shadows
another, a link that was added since, a note that is gone now would all be seen in the present's.
Only what stands in a chunk of the view counts. Nine hundred long notes take half a second.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kb_core.link_targets import Paths, is_address, note_paths
from kb_knowledge.note_mentions import Names, Span, Text, mentions_in
from kb_knowledge.note_names import names_of
from kb_search.build import PublishedBuild
from kb_search.folder import Folder, booleans
from kb_search.note_graph import NoteGraph, arrays_of
from kb_search.view import View

_NOTE = ["version_id", "note_id", "title", "aliases", "body_start", "text"]
_LINK = ["source_version_id", "source_note_id", "target", "syntax", "byte_start", "byte_end"]
_CHUNK = ["version_id", "ordinal", "byte_start", "byte_end"]

# Of a version: the bytes of its chunks in view. The front matter goes with the first chunk.
_Seen = Mapping[str, Sequence[Span]]


class _Note(NamedTuple):
    version_id: str
    note_id: str
    title: str
    aliases: Sequence[str]
    body_start: int
    text: str


class _Link(NamedTuple):
    version_id: str
    note_id: str
    target: str
    syntax: str
    start: int
    end: int


def note_graph_of(build: PublishedBuild, view: View) -> NoteGraph | None:
    """Return the index of the view's notes; None in a build that was made without links."""
    whole = build.note_graph
    if whole is None or view.is_whole_present(build):
        return whole
    seen: dict[str, Sequence[Span]] = {}
    notes: list[_Note] = []
    links: list[_Link] = []
    for folder, mask in _parts(view):
        spans = _seen(folder, mask)
        seen |= spans
        notes += _notes(folder, spans)
        links += _links(build, folder, spans)
    named = [(note.note_id, note.title, note.aliases) for note in notes]
    paths = note_paths(note.note_id for note in notes)
    return NoteGraph(arrays_of(named, _resolved(links, paths), _mentioned(notes, links, seen)))


def _parts(view: View) -> Iterator[tuple[Folder, np.ndarray]]:
    for folder, mask in zip(view.folders, view.masks, strict=True):
        if mask.any():
            yield folder, mask


def _seen(folder: Folder, mask: np.ndarray) -> _Seen:
    rows = folder.table("chunks", _CHUNK).filter(booleans(mask.tolist()))
    found: dict[str, list[Span]] = defaultdict(list)
    columns = (rows[name].to_pylist() for name in _CHUNK)
    for version, ordinal, start, end in zip(*columns, strict=True):
        found[version].append((start if ordinal else 0, end))
    return {version: sorted(spans) for version, spans in found.items()}


def _notes(folder: Folder, seen: _Seen) -> Iterator[_Note]:
    rows = folder.table("notes", _NOTE)
    is_seen = [version in seen for version in rows["version_id"].to_pylist()]
    kept = rows.filter(booleans(is_seen))
    yield from map(_Note._make, zip(*(kept[name].to_pylist() for name in _NOTE), strict=True))


def _links(build: PublishedBuild, folder: Folder, seen: _Seen) -> Iterator[_Link]:
    rows = build.vault_table(f"note_links/{folder.partition}", _LINK)
    columns = (rows[name].to_pylist() for name in _LINK) if rows is not None else ()
    for link in map(_Link._make, zip(*columns, strict=True)):
        if _is_inside(seen.get(link.version_id, ()), link.start):
            yield link


def _resolved(links: Iterable[_Link], paths: Paths) -> Iterator[tuple[str, Sequence[str]]]:
    for link in links:
        if link.target and not is_address(link.target, link.syntax):
            yield link.note_id, paths.find(link.note_id, link.target)


def _mentioned(
    notes: Sequence[_Note], links: Iterable[_Link], seen: _Seen
) -> Iterator[tuple[str, Sequence[str]]]:
    names = Names(names_of((note.note_id, note.title, note.aliases) for note in notes))
    linked: dict[str, list[Span]] = defaultdict(list)
    for link in links:
        linked[link.version_id].append((link.start, link.end))
    for note in notes:
        text = Text(note.text, note.body_start, sorted(linked[note.version_id]))
        for row in mentions_in(note.note_id, text, names):
            if any(_is_inside(seen[note.version_id], at) for at in row["byte_starts"]):
                yield note.note_id, row["candidates"]


def _is_inside(spans: Sequence[Span], at: int) -> bool:
    return any(start <= at < end for start, end in spans)
