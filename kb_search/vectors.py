"""Vector search: a folder's vectors, written and read here, and an exact scan over a scope.

Float32 products change in their last bits with threads, slices and batches. So the scan
multiplies int8 codes, whose sums float32 holds exactly, and the best docs are scored again in
float64, each vector summed by itself. A score is the same bits whatever else is loaded.
Pure: arrays in, arrays out.
"""

from collections.abc import Mapping, Sequence

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


class Vectors:
    """One folder's vectors, read where they lie."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        # A memory map makes every slice pay for its subclass, so it is shed once.
        self.starts, self._codes, self.scales, self._vectors = (
            arrays[name].view(np.ndarray) for name in ARRAYS
        )
        self._floats: NDArray[np.float32] | None = None

    @property
    def dims(self) -> int:
        """How wide the vectors are."""
        return int(self._codes.shape[1])

    def hold(self, budget_bytes: int) -> int:
        """Keep the codes as float32 if they fit the budget, and return the bytes that takes.

        A held scan costs half the CPU of one that converts the codes block by block.
        """
        size = self._codes.size * np.dtype(np.float32).itemsize
        if self._floats is not None or size > budget_bytes:
            return 0
        self._floats = self._codes.astype(np.float32)
        return size

    def dots(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Multiply every passage's codes with the query's: exact whole numbers."""
        sums = np.zeros(len(self.scales))
        for rows in self._blocks():
            block = self._codes[rows].astype(np.float32) if self._floats is None else self._floats
            for first in range(0, self.dims, EXACT_DIMS):
                columns = slice(first, first + EXACT_DIMS)
                sums[rows] += block[:, columns] @ query[columns]
        return sums

    def exact(self, passages: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply the named passages with the query in float64, each summed by itself."""
        products = self._vectors[passages].astype(np.float64)
        products *= query
        return products.sum(axis=1)

    def _blocks(self) -> list[slice]:
        if self._floats is not None:
            return [slice(None)]
        starts = range(0, len(self.scales), _BLOCK_ROWS)
        return [slice(start, start + _BLOCK_ROWS) for start in starts]


class VectorScope:
    """The vectors of the docs somebody may see."""

    def __init__(self, vectors: Sequence[Vectors | None], counts: Sequence[np.ndarray]) -> None:
        """Take each folder's vectors, if it has any, and its docs' number of chunks in scope."""
        sizes = [len(each) for each in counts]
        doc_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        held = [
            (each, np.asarray(scope) > 0, int(offset))
            for each, scope, offset in zip(vectors, counts, doc_offsets[:-1], strict=True)
            if each is not None and np.any(scope)
        ]
        self._vectors = [each for each, _, _ in held]
        lengths = [len(each.scales) for each in self._vectors]
        self._offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._scales = _joined([each.scales for each in self._vectors], np.float64)
        docs, firsts, passages, is_seen = [], [], [], []
        for (each, scope, offset), first in zip(held, self._offsets[:-1], strict=True):
            per_doc = np.diff(each.starts)
            has_any = np.flatnonzero(per_doc)
            docs.append(has_any + offset)
            firsts.append(each.starts[has_any] + first)
            passages.append(per_doc[has_any])
            is_seen.append(scope[has_any])
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


def largest(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the positions of the largest scores, ascending; of equal ones the first."""
    if limit >= len(scores):
        return np.flatnonzero(scores > -np.inf)
    bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above, equal = np.flatnonzero(scores > bound), np.flatnonzero(scores == bound)
    return np.sort(np.concatenate([above, equal[: limit - len(above)]]))


def _joined(arrays: list[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(arrays, dtype=kind) if arrays else np.empty(0, kind)
