"""Vector search: a folder's vectors, written and read here, and an exact scan over a scope.

Float32 products change in their last bits with threads, slices and batches. So the scan
multiplies int8 codes, whose sums float32 holds exactly, and the best docs are scored again in
float64, each vector summed by itself. A score is the same bits whatever else is loaded.
Pure: arrays in, arrays out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kb_core.errors import ContractError, EmbedderError

VERSION = "1"

ARRAYS = ("passage_starts", "codes", "scales", "vectors")

_LARGEST_CODE = 127
# Up to this many products of two codes add up below 2**24, where float32 still counts exactly.
EXACT_DIMS = (2**24 - 1) // _LARGEST_CODE**2
_BLOCK_ROWS = 4096
_DECIMALS = 9
_HUGE_PAGE_BYTES = 2**21


def build_vector_arrays(passages_per_doc: np.ndarray, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Lay out a folder's vectors. Returns one array per name in ARRAYS.

    `matrix` is float32, passages x dims, docs in order; `passages_per_doc` says how many rows
    each doc has, 0 while its vectors are pending. Raises ContractError if the two disagree.
    """
    starts = np.concatenate([[0], np.cumsum(passages_per_doc)]).astype(np.int64)
    if matrix.ndim != 2 or starts[-1] != len(matrix):
        raise ContractError(
            f"The vectors have shape {matrix.shape}, but their docs have {starts[-1]} passages. "
            "Fix the stage that assembles them."
        )
    codes, scales = _quantise(np.asarray(matrix, np.float32))
    vectors = np.ascontiguousarray(matrix, np.float32)
    return {"passage_starts": starts, "codes": codes, "scales": scales, "vectors": vectors}


def _quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each vector to whole numbers of at most 127, its largest value being 127 scales."""
    largest = np.abs(vectors).max(axis=-1, initial=0.0)
    factors = np.divide(_LARGEST_CODE, largest, out=np.zeros_like(largest), where=largest > 0)
    codes = np.rint(vectors * factors[..., None]).astype(np.int8)
    return codes, (largest / _LARGEST_CODE).astype(np.float32)


class HeldBytes:
    """How many bytes of converted codes may still be kept, over all folders."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Use up `size` bytes if there are as many, and tell whether there were."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Vectors:
    """One folder's vectors, read where they lie."""

    def __init__(self, arrays: Mapping[str, np.ndarray], budget: HeldBytes | None = None) -> None:
        # A memory map makes every slice pay for its subclass, so it is shed once.
        self.starts, self._codes, self.scales, self._vectors = (
            arrays[name].view(np.ndarray) for name in ARRAYS
        )
        self._budget = budget or HeldBytes(0)
        self._held: NDArray[np.float32] | None = None
        self._scans = 0

    @property
    def dims(self) -> int:
        """How wide the vectors are."""
        return int(self._codes.shape[1])

    def dots(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Multiply every passage's codes with the query's: exact whole numbers."""
        sums = np.zeros(len(self.scales))
        for rows, codes in self._blocks():
            for first in range(0, self.dims, EXACT_DIMS):
                columns = slice(first, first + EXACT_DIMS)
                sums[rows] += codes[:, columns] @ query[columns]
        return sums

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Give the codes as float32, which has fast products and int8 has not."""
        self._scans += 1
        # Converting costs more than one scan saves; from the second on, keeping halves its CPU.
        if self._scans == 2 and self._budget.take(4 * self._codes.size):
            held = _on_whole_pages(self._codes.shape)
            held[:] = self._codes
            self._held = held  # filled first: another thread may be asking
        if self._held is not None:
            yield slice(None), self._held
            return
        for start in range(0, len(self.scales), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield rows, self._codes[rows].astype(np.float32)

    def exact(self, passages: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply the named passages with the query in float64, each summed by itself."""
        products = self._vectors[passages].astype(np.float64)
        products *= query
        return products.sum(axis=1)


class VectorScope:
    """The vectors of the docs somebody may see."""

    def __init__(self, vectors: Sequence[Vectors | None], counts: Sequence[np.ndarray]) -> None:
        """Take each folder's vectors, if it has any, and its docs' number of chunks in scope."""
        doc_ends = np.cumsum([len(each) for each in counts])
        held = [
            (each, scope > 0, int(end) - len(scope))
            for each, scope, end in zip(vectors, counts, doc_ends, strict=True)
            if each is not None and scope.any()
        ]
        self._vectors = [each for each, _, _ in held]
        self._offsets = np.cumsum([0, *(len(each.scales) for each in self._vectors)])
        self._scales = _joined([each.scales for each in self._vectors], np.float64)
        laid_out = [
            _docs_with_vectors(each.starts, scope, first_doc, int(first_passage))
            for (each, scope, first_doc), first_passage in zip(held, self._offsets, strict=False)
        ]
        docs, firsts, passages, is_seen = zip(*laid_out, strict=True) if held else [[]] * 4
        self._docs = _joined(docs, np.int64)
        self._firsts = _joined(firsts, np.int64)
        self._passages = _joined(passages, np.int64)
        self._is_seen = _joined(is_seen, np.bool_)

    @property
    def size(self) -> int:
        """How many docs in scope have vectors."""
        return int(np.count_nonzero(self._is_seen))

    def best(
        self, query: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return about `limit` docs of the scope by their best passage, and its product.

        Docs are numbered over the scope's folders, one after the other. Products are rounded to
        nine decimals. Raises EmbedderError if the query's width is not the vectors'.
        """
        if not self.size:
            return self._docs[:0], self._scales[:0]
        self._check(query)
        codes, _ = _quantise(query.astype(np.float32))
        factors = codes.astype(np.float32)
        scores = np.concatenate([each.dots(factors) for each in self._vectors])
        scores *= self._scales
        if len(self._firsts) < len(scores):
            scores = np.maximum.reduceat(scores, self._firsts)
        scores[~self._is_seen] = -np.inf
        found = largest(scores, min(limit, self.size))
        return self._docs[found], self._rescored(found, query.astype(np.float64))

    def _check(self, query: np.ndarray) -> None:
        dims = {each.dims for each in self._vectors}
        if {len(query)} != dims:
            raise EmbedderError(
                f"The question's vector has {len(query)} dimensions, the index {sorted(dims)}. "
                "Run `kb build` with the embedder that kb.toml names."
            )

    def _rescored(
        self, found: NDArray[np.int64], query: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        passages = self._passages[found]
        ends = np.cumsum(passages)
        rows = np.repeat(self._firsts[found] - ends + passages, passages) + np.arange(ends[-1])
        cuts = np.searchsorted(rows, self._offsets)
        exact = [
            each.exact(rows[start:end] - first, query)
            for each, first, start, end in zip(
                self._vectors, self._offsets[:-1], cuts[:-1], cuts[1:], strict=True
            )
            if end > start
        ]
        best = np.maximum.reduceat(np.concatenate(exact), ends - passages)
        return best.round(_DECIMALS).astype(np.float64, copy=False)


def _on_whole_pages(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return room for floats that begins at a 2 MB boundary, where Linux can map huge pages.

    A scan of thirteen folders took 7.4 CPU ms from ordinary arrays and 6.3 from these.
    """
    size = 4 * math.prod(shape)
    room = np.empty(size + _HUGE_PAGE_BYTES, np.uint8)
    first = -room.ctypes.data % _HUGE_PAGE_BYTES
    return room[first : first + size].view(np.float32).reshape(shape)


def _docs_with_vectors(
    starts: np.ndarray, scope: np.ndarray, first_doc: int, first_passage: int
) -> tuple[np.ndarray, ...]:
    """Return, of a folder's docs with vectors: number, first passage, passages, if it is seen."""
    passages = np.diff(starts)
    has_any = np.flatnonzero(passages)
    firsts = starts[has_any] + first_passage
    return has_any + first_doc, firsts, passages[has_any], scope[has_any]


def largest(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the positions of the largest scores, ascending; of equal ones the first."""
    if limit >= len(scores):
        return np.flatnonzero(scores > -np.inf)
    if not limit:
        return np.empty(0, np.int64)
    bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above, equal = np.flatnonzero(scores > bound), np.flatnonzero(scores == bound)
    return np.sort(np.concatenate([above, equal[: limit - len(above)]]))


def _joined(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(arrays, dtype=kind) if arrays else np.empty(0, kind)
