"""Which chunks take part: a mask over the rows of some folders, and what is counted under it.

Everything that ranks works on a view, so what is outside it changes no score, rank or count.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kb_core.errors import SettingsError
from kb_core.folder_names import folder_path, shown_path
from kb_search.build import PublishedBuild
from kb_search.folder import Folder, numbers
from kb_search.keyword import KeywordScope
from kb_search.policy import Policy
from kb_search.readable import EPOCH, MICROSECOND, readable, remembered
from kb_search.vectors import VectorScope

EVERYTHING = Policy()  # everybody's notes, as of now


@dataclass(frozen=True, eq=False)
class View:
    """The folders that take part and, per folder, the rows of its chunks that do."""

    folders: tuple[Folder, ...]
    masks: tuple[NDArray[np.bool_], ...]
    valid_until: int | None = None  # when time alone adds to it; microseconds since 1970
    policy: Policy = EVERYTHING
    now: int = 0  # when it was taken, in microseconds since 1970
    bounds: tuple[NDArray[np.bool_], ...] | None = None  # the rows of the folders asked for, if any

    @classmethod
    def over(
        cls,
        build: PublishedBuild,
        folders: Sequence[str] | None = None,
        policy: Policy = EVERYTHING,
        now: int | None = None,
    ) -> "View":
        """Take the chunks that a policy lets take part, of the named folders or of all.

        A folder is named by its path, a path above or below it, or its partition key; `/` is the
        vault's root alone. `now` is in microseconds since 1970. Raises SettingsError for a name
        that fits none, listing what there is for this policy.
        """
        at = time.time_ns() // 1000 if now is None else now
        found = [(folder, *readable(folder, policy, at)) for folder in build.folders]
        horizon = min((later for _, _, later in found if later is not None), default=None)
        if policy != EVERYTHING:  # a folder without a row in view is as good as absent
            found = [(folder, mask, later) for folder, mask, later in found if mask.any()]
        seen = {folder.partition: mask for folder, mask, _ in found}
        there = [folder for folder, _, _ in found]
        if folders is None:
            return cls(tuple(there), tuple(seen.values()), horizon, policy, at)
        bounds: dict[str, NDArray[np.bool_]] = {}
        for name in folders:
            for folder, bound in _named(there, seen, name):
                bounds[folder.partition] = bounds.get(folder.partition, bound) | bound
        chosen = tuple(folder for folder in there if folder.partition in bounds)
        asked = tuple(bounds[folder.partition] for folder in chosen)
        masks = tuple(seen[folder.partition] & bounds[folder.partition] for folder in chosen)
        return cls(chosen, masks, horizon, policy, at, asked)

    @property
    def day(self) -> str:
        """The day it is a view of: as of which was asked, else the day it was taken."""
        at = self.policy.as_of or EPOCH + self.now * MICROSECOND
        return at.date().isoformat()

    def is_over(self, now: int) -> bool:
        """Tell whether time alone has changed what belongs to it (microseconds since 1970)."""
        return self.valid_until is not None and now >= self.valid_until

    def is_whole_present(self, build: PublishedBuild) -> bool:
        """Tell whether it holds every present chunk of a build and nothing else."""
        seen = dict(zip((folder.partition for folder in self.folders), self.masks, strict=True))
        return all(
            np.array_equal(seen[folder.partition], folder.rows.is_current)
            if folder.partition in seen
            else not folder.rows.is_current.any()
            for folder in build.folders
        )

    def remembered(self, folder: Folder) -> NDArray[np.bool_]:
        """Return the rows of a folder that are not in view but say what was said before.

        The folder is one of the view's, or one of its build's that has no row in view.
        """
        at = next((n for n, each in enumerate(self.folders) if each is folder), None)
        if at is None:
            nothing = np.zeros(len(folder.rows.docs), np.bool_)
            is_asked = self.bounds is None
            return remembered(folder, self.policy, self.now, nothing) if is_asked else nothing
        found = remembered(folder, self.policy, self.now, self.masks[at])
        return found if self.bounds is None else found & self.bounds[at]

    @cached_property
    def counts(self) -> tuple[NDArray[np.int64], ...]:
        """Per folder and distinct search text: how many rows in view carry it."""
        return tuple(
            np.bincount(folder.rows.docs[mask], minlength=folder.rows.doc_count)
            for folder, mask in zip(self.folders, self.masks, strict=True)
        )

    @cached_property
    def keyword(self) -> KeywordScope:
        """The postings of the view."""
        return KeywordScope([folder.postings for folder in self.folders], self.counts)

    def vectors(self, profile: str) -> VectorScope:
        """The view's vectors that were made with this profile."""
        if profile not in self._scopes:
            fitting = [
                folder.vectors if folder.vector_profile == profile else None
                for folder in self.folders
            ]
            self._scopes[profile] = VectorScope(fitting, self.counts)
        return self._scopes[profile]

    @cached_property
    def populated(self) -> tuple[Folder, ...]:
        """The folders that have any chunk in view."""
        return tuple(
            folder for folder, mask in zip(self.folders, self.masks, strict=True) if mask.any()
        )

    @cached_property
    def texts(self) -> int:
        """How many distinct search texts take part."""
        return sum(int(np.count_nonzero(counts)) for counts in self.counts)

    def rows_of(self, docs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in view that carry these docs, and for each the doc's position.

        Docs and rows are numbered over the view's folders, one after the other.
        """
        if not len(docs):
            return docs, docs
        order, starts = self._rows_by_doc
        sizes = starts[docs + 1] - starts[docs]
        ends = np.cumsum(sizes)
        spread = np.repeat(starts[docs] - ends + sizes, sizes) + np.arange(ends[-1])
        return order[spread], np.repeat(np.arange(len(docs)), sizes)

    def located(self, rows: NDArray[np.int64]) -> list[tuple[Folder, int]]:
        """Return, for each row of the view, its folder and its number there."""
        at = np.searchsorted(self._row_offsets, rows, "right") - 1
        inside = rows - self._row_offsets[at]
        return [
            (self.folders[folder], row)
            for folder, row in zip(at.tolist(), inside.tolist(), strict=True)
        ]

    @cached_property
    def rows_by_id(self) -> NDArray[np.int64]:
        """The view's rows in the order of their chunk ids, by which ties are broken."""
        ids = pa.chunked_array([folder.rows.chunk_ids for folder in self.folders], type=pa.string())
        return numbers(pc.sort_indices(ids), np.uint64).astype(np.int64)

    @cached_property
    def id_places(self) -> NDArray[np.int64]:
        """Each row's place in that order."""
        places = np.empty(len(self.rows_by_id), np.int64)
        places[self.rows_by_id] = np.arange(len(places))
        return places

    @cached_property
    def note_numbers(self) -> NDArray[np.int64]:
        """Each row's note, numbered over the view's folders."""
        offsets = _offsets([len(folder.rows.note_ids) for folder in self.folders])
        return _joined(
            folder.rows.notes + offset
            for folder, offset in zip(self.folders, offsets[:-1], strict=True)
        )

    @cached_property
    def notes(self) -> dict[str, int]:
        """The notes that have a chunk in view, by id, with their numbers."""
        ids = [each for folder in self.folders for each in folder.rows.note_ids.to_pylist()]
        seen = np.unique(self.note_numbers[np.flatnonzero(_joined(self.masks))])
        return {ids[number]: number for number in seen.tolist()}

    def rows_of_note(self, number: int) -> NDArray[np.int64]:
        """Return a note's rows in view, in the table's order."""
        return np.flatnonzero((self.note_numbers == number) & (_joined(self.masks) > 0))

    @cached_property
    def note_lengths(self) -> NDArray[np.int64]:
        """Return how many keywords each note has in view, by number."""
        rows = np.flatnonzero(_joined(self.masks))
        lengths = np.zeros(sum(len(folder.rows.note_ids) for folder in self.folders), np.int64)
        np.add.at(lengths, self.note_numbers[rows], self.keyword.lengths[self.docs[rows]])
        return lengths

    def note_scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return BM25 of every note's best chunk for distinct terms, by number; 0 is no match."""
        scores = self.keyword.scores(terms)
        docs = np.flatnonzero(scores > 0)
        rows, at = self.rows_of(docs)
        best = np.zeros(sum(len(folder.rows.note_ids) for folder in self.folders))
        np.maximum.at(best, self.note_numbers[rows], scores[docs][at])
        return best

    @cached_property
    def _scopes(self) -> dict[str, VectorScope]:
        return {}

    @cached_property
    def _row_offsets(self) -> NDArray[np.int64]:
        return _offsets([len(mask) for mask in self.masks])

    @cached_property
    def _rows_by_doc(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in view in order of their docs, and where each doc's begin."""
        rows = np.flatnonzero(_joined(self.masks))
        docs = self.docs[rows]
        order = np.argsort(docs, kind="stable")
        starts = np.searchsorted(docs[order], np.arange(self._doc_offsets[-1] + 1))
        return rows[order], starts

    @cached_property
    def docs(self) -> NDArray[np.int64]:
        """Each row's distinct search text, numbered over the view's folders."""
        return _joined(
            folder.rows.docs + offset
            for folder, offset in zip(self.folders, self._doc_offsets[:-1], strict=True)
        )

    @cached_property
    def _doc_offsets(self) -> NDArray[np.int64]:
        return _offsets([folder.rows.doc_count for folder in self.folders])


def _named(
    folders: Sequence[Folder], seen: Mapping[str, NDArray[np.bool_]], name: str
) -> list[tuple[Folder, NDArray[np.bool_]]]:
    """Return the folders a name stands for, and which of their rows lie there."""
    path = folder_path(name)
    found = [
        (folder, np.ones(len(seen[folder.partition]), np.bool_))
        for folder in folders
        if name == folder.partition or path == folder.path or _is_above(path, folder.path)
    ]
    found = found or [
        (folder, bound)
        for folder in folders
        if _is_above(folder.path, path)
        and ((bound := _rows_below(folder, path)) & seen[folder.partition]).any()
    ]
    if not found:
        known = ", ".join(shown_path(folder.path) for folder in folders)
        raise SettingsError(f"No folder {name!r} in this build. It has: {known}.")
    return found


def _is_above(path: str, folder: str) -> bool:
    return bool(path) and folder.startswith(f"{path}/")


def _rows_below(folder: Folder, path: str) -> NDArray[np.bool_]:
    """Return the rows of notes in a folder deeper than the partition's."""
    below = pc.starts_with(folder.rows.note_ids, f"{path}/").cast(pa.uint8())
    # Not `to_numpy`: that loads pandas, which takes longer than the whole question.
    values = np.frombuffer(below.buffers()[1] or b"", np.uint8)
    mask: NDArray[np.bool_] = values[below.offset : below.offset + len(below)] > 0
    return mask[folder.rows.notes]


def _joined(arrays: Iterable[np.ndarray]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *arrays])


def _offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
