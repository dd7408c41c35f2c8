"""The notes of a vault, what they are called, and what they link to or mention: an index. Pure.

Written once a build over the whole vault; nothing in it is summed up, so that whoever may see some
notes alone gets, from the same arrays, the names, neighbours and counts of those notes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from kb_core.name_places import Found, places, without_overlaps
from kb_core.names import forms_of, is_one_word, meant, name_key

GRAPH = "note_graph"  # the index's name among a build's artifacts
VERSION = "1"  # raise it when equal tables would give other arrays
ARRAYS = (
    "ids", "id_starts", "name_hashes", "form_hashes", "name_notes", "name_kinds",
    "entry_starts", "entries", "sources", "out_starts", "in_starts", "in_entries",
)  # fmt: skip

_RESOLVED = "resolved"
_Edge = tuple[str, Sequence[str]]  # a note, and the notes it may mean, best first


def graph_arrays(
    notes: pa.Table, links: Iterable[pa.Table], mentions: Iterable[pa.Table]
) -> dict[str, np.ndarray]:
    """Lay out the present notes, their names and their edges.

    `notes` holds note_id, title, aliases and is_current; `links` source_note_id, is_current,
    status and candidates; `mentions` source_note_id, is_current and candidates. A link means the
    first of its candidates that a reader may see; a name that several notes have may mean each.
    """
    present = notes.filter(notes["is_current"])
    columns = (present[name].to_pylist() for name in ("note_id", "title", "aliases"))
    linked = (each for table in links for each in _resolved(table))
    mentioned = (each for table in mentions for each in _mentioned(table))
    return arrays_of(list(zip(*columns, strict=True)), linked, mentioned)


def arrays_of(
    notes: Iterable[tuple[str, str, Sequence[str]]],
    links: Iterable[_Edge],
    mentions: Iterable[_Edge],
) -> dict[str, np.ndarray]:
    """Lay out some notes (id, title, aliases) and what goes out from them (source, candidates)."""
    # Shortest path first: the order in which a name prefers one of its notes.
    rows = sorted(notes, key=lambda row: (len(row[0]), row[0]))
    numbers = {note_id: at for at, (note_id, _, _) in enumerate(rows)}
    edges = _edges(numbers, links, mentions)
    return {**_ids(list(numbers)), **_names(rows), **_edge_arrays(edges, len(numbers))}


def _ids(ids: Sequence[str]) -> dict[str, np.ndarray]:
    encoded = [each.encode("utf-8", "surrogatepass") for each in ids]
    return {
        "ids": np.frombuffer(b"".join(encoded), np.uint8),
        "id_starts": _starts([len(each) for each in encoded]),
    }


def _names(rows: Sequence[tuple[str, str, Sequence[str]]]) -> dict[str, np.ndarray]:
    found = [
        (_hash(name_key(form)), _hash(form), at, kind)
        for at, (note_id, title, aliases) in enumerate(rows)
        for kind, form in forms_of(title, stem(note_id), aliases)
    ]
    columns = list(zip(*sorted(found), strict=True)) or [(), (), (), ()]
    kinds = (np.uint64, np.uint64, np.int32, np.int8)
    names = ("name_hashes", "form_hashes", "name_notes", "name_kinds")
    return {
        name: np.array(column, kind)
        for name, column, kind in zip(names, columns, kinds, strict=True)
    }


def stem(note_id: str) -> str:
    """Return the name of a note's file without its ending."""
    return note_id.rpartition("/")[2].rpartition(".")[0]


def _resolved(table: pa.Table) -> Iterator[_Edge]:
    kept = table.filter(table["is_current"])
    columns = (kept[name].to_pylist() for name in ("source_note_id", "status", "candidates"))
    for source, status, candidates in zip(*columns, strict=True):
        if status == _RESOLVED:
            yield source, candidates


def _mentioned(table: pa.Table) -> Iterator[_Edge]:
    kept = table.filter(table["is_current"])
    columns = (kept[name].to_pylist() for name in ("source_note_id", "candidates"))
    yield from zip(*columns, strict=True)


def _edges(
    numbers: Mapping[str, int], links: Iterable[_Edge], mentions: Iterable[_Edge]
) -> list[tuple[int, tuple[int, ...]]]:
    """Return every distinct edge: its source, and what it means, best first."""
    found: set[tuple[int, tuple[int, ...]]] = set()
    for source, candidates in links:
        meant_notes = tuple(numbers[each] for each in candidates if each in numbers)
        if meant_notes and source in numbers:
            found.add((numbers[source], meant_notes))
    for source, candidates in mentions:
        notes = [numbers[each] for each in candidates if each in numbers]
        found.update((numbers[source], (note,)) for note in notes if source in numbers)
    return sorted(found)


def _edge_arrays(edges: Sequence[tuple[int, tuple[int, ...]]], size: int) -> dict[str, np.ndarray]:
    sources = np.array([source for source, _ in edges], np.int32)
    entries = np.array([note for _, notes in edges for note in notes], np.int32)
    order = np.argsort(entries, kind="stable")
    every = np.arange(size + 1)
    return {
        "entry_starts": _starts([len(notes) for _, notes in edges]),
        "entries": entries,
        "sources": sources,
        "out_starts": np.searchsorted(sources, every).astype(np.int64),
        "in_starts": np.searchsorted(entries[order], every).astype(np.int64),
        "in_entries": order.astype(np.int64),
    }


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


class NoteGraph:
    """The index, opened. Notes are numbered as it holds them."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays

    @property
    def size(self) -> int:
        """How many notes there are."""
        return len(self._arrays["id_starts"]) - 1

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The notes' ids by number."""
        text = self._arrays["ids"].tobytes()
        starts = self._arrays["id_starts"].tolist()
        return tuple(
            text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(starts)
        )

    @cached_property
    def edge_of(self) -> NDArray[np.int64]:
        """Which edge each entry belongs to."""
        sizes = np.diff(self._arrays["entry_starts"])
        return np.repeat(np.arange(len(sizes)), sizes)

    def within(self, ids: Iterable[str]) -> "NotesInView":
        """Take these notes alone: to whoever asks, there are no others."""
        wanted = frozenset(ids)
        mask = np.fromiter((each in wanted for each in self.ids), np.bool_, self.size)
        return NotesInView(self, self._arrays, mask)


class NotesInView:
    """The part of the index that some notes alone would give."""

    def __init__(
        self, graph: NoteGraph, arrays: Mapping[str, np.ndarray], mask: NDArray[np.bool_]
    ) -> None:
        self._graph = graph
        self._arrays = arrays
        self._mask = mask

    @cached_property
    def size(self) -> int:
        """How many notes are in view."""
        return int(np.count_nonzero(self._mask))

    def id_of(self, note: int) -> str:
        """Return a note's id."""
        return self._graph.ids[note]

    def in_view(self) -> Iterator[tuple[int, str]]:
        """Yield the notes in view and their ids."""
        for note in np.flatnonzero(self._mask).tolist():
            yield note, self._graph.ids[note]

    def named_in(self, text: str) -> tuple[list[int], list[Found]]:
        """Return the notes a short text names, in order, and where; `Found.name` is no matter."""
        found: dict[Found, tuple[int, ...]] = {}
        for start, end in places(text):
            notes = self._meant_by(text[start:end])
            if notes:
                found[Found(start, end, notes[0])] = notes
        kept = without_overlaps(found)
        return list(dict.fromkeys(note for each in kept for note in found[each])), kept

    def _meant_by(self, form: str) -> tuple[int, ...]:
        key = name_key(form)
        wanted = np.uint64(_hash(key))
        hashes = self._arrays["name_hashes"]
        first, last = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, "right")
        rows = [row for row in range(first, last) if self._mask[self._arrays["name_notes"][row]]]
        if not rows:
            return ()
        kinds = [int(self._arrays["name_kinds"][row]) for row in rows]
        notes = [int(self._arrays["name_notes"][row]) for row in rows]
        kind, carriers = meant(zip(kinds, notes, strict=True))
        if is_one_word(key):
            exact = np.uint64(_hash(form))
            forms = (self._arrays["form_hashes"][row] for row in rows)
            written = {form for form, each in zip(forms, kinds, strict=True) if each == kind}
            return carriers if exact in written else ()
        return carriers

    def targets(self, note: int) -> NDArray[np.int64]:
        """Return what a note links to or mentions, itself left out, sorted."""
        first, last = self._arrays["out_starts"][note : note + 2]
        start, end = self._arrays["entry_starts"][[first, last]]
        entries = np.arange(start, end)
        return _others(self._arrays["entries"][self._firsts(entries)], note)

    def sources(self, note: int) -> NDArray[np.int64]:
        """Return what links to a note or mentions it, itself left out, sorted."""
        first, last = self._arrays["in_starts"][note : note + 2]
        entries = self._arrays["in_entries"][first:last]
        edges = self._graph.edge_of[entries]
        is_best = entries == self._arrays["entry_starts"][edges]
        for at in np.flatnonzero(~is_best):
            is_best[at] = entries[at] in self._first_of(int(edges[at]))
        found = self._arrays["sources"][edges[is_best]]
        return _others(found[self._mask[found]], note)

    def _firsts(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, of each edge's entries, the first in view; entries are in the edges' order."""
        seen = entries[self._mask[self._arrays["entries"][entries]]]
        _, at = np.unique(self._graph.edge_of[seen], return_index=True)
        return seen[at]

    def _first_of(self, edge: int) -> NDArray[np.int64]:
        start, end = self._arrays["entry_starts"][edge : edge + 2]
        return self._firsts(np.arange(start, end))


def _others(notes: np.ndarray, note: int) -> NDArray[np.int64]:
    found = np.unique(notes).astype(np.int64)
    return found[found != note]
