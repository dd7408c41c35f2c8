"""The vectors of link and claim lines, by what a line says: written here, read at question time.

A line's core is the same in every view, so a view looks its lines up here by their hashes; a line
that has no vector is scored by its words. Pure: arrays in, arrays out.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kb_core.ids import content_id

LINES = "line_vectors"  # the index's name among a build's artifacts
VERSION = "1"
ARRAYS = ("hashes", "matrix")

# Of a core: all models here read that many characters of any script in one window.
LONGEST_CORE = 600

_ID_BYTES = 16
_MOST_MADE = 256  # at one question; where more are missing, the build has not made them yet
_MOST_KEPT = 10_000

# Embeds texts with the embedder of a profile; None where there is none that may be told them.
Embed = Callable[[str, Sequence[str]], "NDArray[np.float32] | None"]


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


class FilledVectors(LineVectors):
    """The index, with the lines of narrower views, whose vectors are made when first asked for.

    A view may name an end of a link otherwise than the whole vault does: without this, a note out
    of sight would decide which lines in sight have a vector.
    """

    def __init__(self, held: LineVectors, embed: Embed) -> None:
        self.profile = held.profile
        self._held = held
        self._embed = embed
        self._made: dict[str, NDArray[np.float32]] = {}

    @property
    def size(self) -> int:
        """How many lines the build made a vector of."""
        return self._held.size

    def of(self, cores: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return a row for each core, zeros where there is no vector, and which have one."""
        found, is_there = self._held.of(cores)
        missing = [core for core, has_one in zip(cores, is_there, strict=True) if not has_one]
        if missing and self.size:
            self._make(sorted(set(missing) - self._made.keys()))
            for at in np.flatnonzero(~is_there).tolist():
                if cores[at] in self._made:
                    found[at], is_there[at] = self._made[cores[at]], True
        return found, is_there

    def _make(self, cores: Sequence[str]) -> None:
        if not cores or len(cores) > _MOST_MADE:
            return
        made = self._embed(self.profile, [core[:LONGEST_CORE] for core in cores])
        if made is not None:
            kept = {} if len(self._made) > _MOST_KEPT else self._made
            self._made = {**kept, **dict(zip(cores, made, strict=True))}


def _ids(ids: Sequence[str]) -> np.ndarray:
    return np.frombuffer(bytes.fromhex("".join(ids)), np.uint8).reshape(-1, _ID_BYTES)


def _keys(ids: np.ndarray) -> np.ndarray:
    """Return ids as fixed byte strings, which sort as the ids do."""
    return np.ascontiguousarray(ids).view(f"V{_ID_BYTES}").ravel()
