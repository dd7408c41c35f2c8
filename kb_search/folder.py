"""One folder of a build: its rows, postings, vectors and texts, each loaded when first asked for.

Reads only; nothing is opened twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kb_core.contracts import CHUNKS
from kb_core.errors import StoreError
from kb_search.keyword import ARRAYS as KEYWORD_ARRAYS
from kb_search.keyword import Postings
from kb_search.vectors import ARRAYS as VECTOR_ARRAYS
from kb_search.vectors import HeldBytes, Vectors
from kb_search.versions import Version, by_note
from resources.content_names import named_problem
from resources.tables import MADE_ANEW, read_parquet

_KEPT_GROUPS = 64  # unpacked row groups a folder keeps: some megabytes of text

# What numpy raises for a file that is cut, empty, or has a header that is no header.
_BAD_ARRAY = (
    OSError, ValueError, EOFError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError,
)  # fmt: skip
# What pyarrow raises for a file whose foot or page heads were damaged: no checksum covers them.
_BAD_TABLE = (OSError, pa.ArrowException, ValueError, KeyError, IndexError, MemoryError)
# Arrays whose numbers are places in others: a wrong one is no slip in a score but a crash. They
# are small beside the vectors, and hashing takes 50 ms a gigabyte.
_CHECKED = (*KEYWORD_ARRAYS, "passage_starts", "scales")

_VERSIONED = (
    "note_id", "version_id", "version", "observed_at", "observed_until", "available_at",
)  # fmt: skip
_RANKED = ["text_id", "chunk_id", "note_id", "is_current"]
SHOWN = [
    "note_id", "chunk_id", "title", "breadcrumb", "anchors", "text", "byte_start", "byte_end",
    "written_date", "written_basis", "written_is_weak", "kind", "tokens",
]  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """What ranking needs of a folder's chunks, one value a row."""

    docs: NDArray[np.int32]  # which of the folder's distinct search texts the row carries
    doc_count: int
    notes: NDArray[np.int32]  # which of the folder's notes the row is of
    note_ids: pa.StringArray  # one a note
    is_current: NDArray[np.bool_]
    chunk_ids: pa.StringArray

    def note_id(self, row: int) -> str:
        """Return the id of a row's note."""
        note_id: str = self.note_ids[int(self.notes[row])].as_py()
        return note_id


class Folder:
    """One folder of a build."""

    def __init__(
        self, partition: str, entry: Mapping[str, Any], store: Path, budget: HeldBytes
    ) -> None:
        self.partition = partition
        self.path: str = entry["path"]
        self._artifacts: Mapping[str, Any] = entry["artifacts"]
        self._store = store
        self._budget = budget
        self._groups: dict[int, pa.Table] = {}
        self._check()

    @property
    def vector_profile(self) -> str | None:
        """The key of the profile its vectors were made with; None without vectors."""
        vectors = self._artifacts.get("vectors")
        return vectors["meta"]["profile"] if vectors and vectors["rows"] else None

    @cached_property
    def rows(self) -> Rows:
        """The chunk rows, numbered as the table holds them."""
        table = self._read(_RANKED).combine_chunks()
        if table.num_rows != self._artifacts["chunks"]["rows"]:
            raise _damaged(self._path("chunks", "table"), "not as many rows as its build says")
        texts = _column(table, "text_id").dictionary_encode()
        notes = _column(table, "note_id").dictionary_encode()
        return Rows(
            docs=numbers(texts.indices, np.int32),
            doc_count=len(texts.dictionary),
            notes=numbers(notes.indices, np.int32),
            note_ids=notes.dictionary,
            is_current=numbers(_column(table, "is_current").cast(pa.uint8()), np.uint8) > 0,
            chunk_ids=_column(table, "chunk_id"),
        )

    @cached_property
    def available_at(self) -> NDArray[np.int64]:
        """From when on each row could be read, in microseconds since 1970."""
        column = _column(self._read(["available_at"]).combine_chunks(), "available_at")
        return numbers(column.cast(pa.int64()), np.int64)

    @cached_property
    def may_leave(self) -> NDArray[np.bool_]:
        """Which rows may be sent to a hosted model."""
        column = _column(self._read(["may_leave"]).combine_chunks(), "may_leave")
        return numbers(column.cast(pa.uint8()), np.uint8) > 0

    @cached_property
    def access(self) -> list[tuple[str, ...]]:
        """Each row's tenant, followed by its readers."""
        table = self._read(["tenant", "readers"])
        columns = (table[name].to_pylist() for name in ("tenant", "readers"))
        return [(tenant, *readers) for tenant, readers in zip(*columns, strict=True)]

    @cached_property
    def last_access(self) -> dict[str, tuple[str, ...]]:
        """Each note's tenant, followed by its readers, in the newest of its versions."""
        table = self.table("notes", ["note_id", "version", "tenant", "readers"])
        found = sorted(table.to_pylist(), key=lambda row: int(row["version"]))
        return {row["note_id"]: (row["tenant"], *row["readers"]) for row in found}

    @cached_property
    def version_ids(self) -> list[str]:
        """Each row's version of its note."""
        ids: list[str] = self._read(["version_id"])["version_id"].to_pylist()
        return ids

    @cached_property
    def versions(self) -> "list[list[Version]]":
        """Every kept version of every note, by note."""
        table = read_parquet(self._path("notes", "table"), list(_VERSIONED))
        times = [table[name].cast(pa.int64()).to_pylist() for name in _VERSIONED[3:]]
        columns = [table[name].to_pylist() for name in _VERSIONED[:3]]
        return by_note(
            (note_id, Version(version_id, number, observed, until, available))
            for note_id, version_id, number, observed, until, available in zip(
                *columns, *times, strict=True
            )
        )

    @cached_property
    def postings(self) -> Postings:
        """The folder's keyword index."""
        return Postings(self._arrays("keyword_index", KEYWORD_ARRAYS))

    @cached_property
    def vectors(self) -> Vectors:
        """The folder's vectors."""
        arrays = self._arrays("vectors", VECTOR_ARRAYS)
        starts, codes, _, vectors = (arrays[name] for name in VECTOR_ARRAYS)
        is_laid_out = codes.shape == vectors.shape == (starts[-1], vectors.shape[-1])
        if not is_laid_out or (codes.dtype, vectors.dtype) != (np.int8, np.float32):
            raise _damaged(self._path("vectors", "codes"), "its head, or that of the vectors'")
        return Vectors(arrays, self._budget)

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of one of the folder's tables. Raises StoreError if it is damaged."""
        return read_parquet(self._path(name, "table"), list(columns))

    def has(self, name: str) -> bool:
        """Tell whether the build holds something of the folder under this name."""
        return name in self._artifacts

    def shown(self, row: int) -> dict[str, Any]:
        """Return what is shown of one chunk row: the columns in SHOWN."""
        group = int(np.searchsorted(self._group_ends, row, "right"))
        if group not in self._groups:
            if len(self._groups) >= _KEPT_GROUPS:
                self._groups.clear()
            self._groups[group] = self._group(group)
        first = self._group_ends[group - 1] if group else 0
        shown: dict[str, Any] = self._groups[group].slice(row - first, 1).to_pylist()[0]
        return shown

    @cached_property
    def _chunks(self) -> pq.ParquetFile:
        path = self._path("chunks", "table")
        try:
            return pq.ParquetFile(
                path, memory_map=True, page_checksum_verification=True, pre_buffer=False
            )
        except _BAD_TABLE as problem:
            raise _damaged(path, type(problem).__name__) from None

    @cached_property
    def _group_ends(self) -> list[int]:
        metadata = self._chunks.metadata
        sizes = [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]
        ends: list[int] = np.cumsum(sizes).tolist()
        if sum(sizes) != self._artifacts["chunks"]["rows"]:
            raise _damaged(self._path("chunks", "table"), "not as many rows as its build says")
        return ends

    def _read(self, columns: list[str]) -> pa.Table:
        return self._whole(lambda: self._chunks.read(columns=columns, use_threads=False), columns)

    def _group(self, group: int) -> pa.Table:
        def read() -> pa.Table:
            return self._chunks.read_row_group(group, columns=SHOWN, use_threads=False)

        return self._whole(read, SHOWN)

    def _whole(self, read: Callable[[], pa.Table], columns: Sequence[str]) -> pa.Table:
        """Read columns of the chunks as their contract has them. Raises StoreError."""
        path = self._path("chunks", "table")
        try:
            table = read().select(columns)
        except _BAD_TABLE as problem:
            raise _damaged(path, type(problem).__name__) from None
        if any(table.schema.field(name).type != CHUNKS.schema.field(name).type for name in columns):
            raise _damaged(path, "other types than its contract's")
        return table

    def _arrays(self, artifact: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        return {name: open_array(self._path(artifact, name), name in _CHECKED) for name in names}

    def _path(self, artifact: str, name: str) -> Path:
        try:
            return self._store / self._artifacts[artifact]["files"][name]
        except KeyError:
            raise StoreError(
                f"Folder {self.path!r} of this build has no {artifact!r}. Run `kb build`."
            ) from None

    def _check(self) -> None:
        needed = [("chunks", "table"), *(("keyword_index", name) for name in KEYWORD_ARRAYS)]
        if self.vector_profile:
            needed += [("vectors", name) for name in VECTOR_ARRAYS]
        for artifact, name in needed:
            path = self._path(artifact, name)
            if not path.is_file():
                raise StoreError(f"{path} is missing. Run `kb build` to make it anew.")


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)


def numbers(array: pa.Array, kind: type) -> np.ndarray:
    """Return an array's values, shared with it. It must hold no nulls."""
    # Not `to_numpy`: that loads pandas, which takes longer than the whole question.
    values: np.ndarray = np.frombuffer(array.buffers()[1] or b"", kind)
    return values[array.offset : array.offset + len(array)]


def booleans(values: Sequence[bool]) -> pa.BooleanArray:
    """Return a column of truths. Not `pa.array`: that loads pandas, like `to_numpy`."""
    packed = np.packbits(np.asarray(values, np.bool_), bitorder="little").tobytes()
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(packed)])


def open_array(path: Path, is_checked: bool) -> np.ndarray:
    """Open an array; `is_checked`: hold its bytes against its name."""
    if is_checked and named_problem(path):
        raise _damaged(path, "its bytes are not its name's")
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except _BAD_ARRAY as problem:
        raise _damaged(path, type(problem).__name__) from None
    return array


def _damaged(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} is damaged ({problem}). {MADE_ANEW}")
