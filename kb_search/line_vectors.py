"""The vectors of link and claim lines, by what a line says: written here, read at question time.

A line's core is the same in every view, so a view looks its lines up here by their hashes; a line
that has no vector is scored by its words. Pure: arrays in, arrays out.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kb_core.ids import content_id

LINES = "line_vectors"  # the index's name among a build's artifacts
VERSION = "1"
ARRAYS = ("hashes", "matrix")

_ID_BYTES = 16


def core_id(core: str) -> str:
    """Return what a line's vector is kept under."""
    return content_id(core)


def line_arrays(ids: Sequence[str], matrix: NDArray[np.float32]) -> dict[str, np.ndarray]:
    """Lay out vectors by the ids of their cores, distinct and sorted; a row of the matrix each."""
    data = np.frombuffer(bytes.fromhex("".join(ids)), np.uint8).reshape(-1, _ID_BYTES)
    return {"hashes": data, "matrix": matrix}


class LineVectors:
    """The index, opened."""

    def __init__(self, arrays: Mapping[str, np.ndarray], profile: str) -> None:
        self.profile = profile  # the key of the profile the vectors were made with
        self._matrix = np.asarray(arrays["matrix"])
        # As sortable keys: two big-endian halves.
        self._keys = _keys(np.asarray(arrays["hashes"]))

    @property
    def size(self) -> int:
        """How many lines have a vector."""
        return len(self._keys)

    def of(self, cores: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return a row for each core, zeros where there is no vector, and which have one."""
        found = np.zeros((len(cores), self._matrix.shape[1]), np.float32)
        if not len(self._keys) or not cores:
            return found, np.zeros(len(cores), np.bool_)
        wanted = _keys(_ids([core_id(core) for core in cores]))
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        is_there = self._keys[places] == wanted
        found[is_there] = self._matrix[places[is_there]]
        return found, is_there


def _ids(ids: Sequence[str]) -> np.ndarray:
    return np.frombuffer(bytes.fromhex("".join(ids)), np.uint8).reshape(-1, _ID_BYTES)


def _keys(ids: np.ndarray) -> np.ndarray:
    """Return ids as fixed byte strings, which sort as the ids do."""
    return np.ascontiguousarray(ids).view(f"V{_ID_BYTES}").ravel()
