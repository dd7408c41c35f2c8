"""Vectors already made, kept by profile and passage, so that no text is embedded twice.

One SQLite file in write-ahead mode: several processes may read and write at once, and a batch
is stored whole or not at all. A row whose bytes do not match their checksum is deleted and
counts as never made. Only the owner can read the file: a vector tells what its text says.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from kb_core.errors import BusyError, StoreError
from resources.sqlite_files import BUSY_SECONDS, DAMAGE, is_busy, open_database

Vector = NDArray[np.float32]

_PARAMETERS = 500  # SQLite allows 999 in old builds; one goes to the profile
_FLOAT32 = np.dtype("<f4")
# With row ids, so that rows are appended: sorted by key, a row of 4 KB takes a page of its own
# and more, and 20,000 rows took 2.4 times the time and twice the space (384 numbers a row).
TABLE = """
CREATE TABLE IF NOT EXISTS vectors (
    profile BLOB NOT NULL,
    passage BLOB NOT NULL,
    checksum BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (profile, passage)
)
"""


class EmbeddingCache:
    """Vectors by profile key and passage hash. Open one per thread; close it, or use `with`."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it and the folders above it. Raises StoreError if damaged."""
        self._path = path
        with self._explained():
            self._db = open_database(path, TABLE)
            # A power cut may take the last batches: they are made again, not lost for good.
            self._db.execute("PRAGMA synchronous = NORMAL")
            # A cell whose type was damaged is no reason to refuse the rows around it.
            self._db.text_factory = bytes

    def __enter__(self) -> Self:
        """Use the cache in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; harmless when done twice."""
        self._db.close()

    def get_many(self, profile_key: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the known vectors by passage hash, (dims,) float32 each, in order of `hashes`.

        A damaged row is left out and deleted. Raises StoreError if the file itself is damaged.
        """
        profile = profile_id(profile_key)
        found: dict[str, Vector] = {}
        damaged: list[bytes] = []
        for passage, checksum, blob in self._rows(profile, hashes):
            if is_sound_row(profile, passage, checksum, blob):
                found[passage.hex()] = np.frombuffer(blob, _FLOAT32).astype(np.float32)
            else:
                damaged.append(passage)
        if damaged:
            self._delete(profile, damaged)
        return {passage: found[passage] for passage in hashes if passage in found}

    def put_many(self, profile_key: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by passage hash, all or none. What is there already stays."""
        profile = profile_id(profile_key)
        rows = []
        for passage_hash, vector in vectors.items():
            passage, blob = bytes.fromhex(passage_hash), vector.astype(_FLOAT32).tobytes()
            rows.append((profile, passage, _checksum(profile, passage, blob), blob))
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def _rows(self, profile: bytes, hashes: Sequence[str]) -> Iterator[tuple[bytes, bytes, bytes]]:
        passages = [bytes.fromhex(passage) for passage in hashes]
        for start in range(0, len(passages), _PARAMETERS):
            some = passages[start : start + _PARAMETERS]
            marks = ", ".join("?" * len(some))
            query = (
                "SELECT passage, checksum, vector FROM vectors "  # noqa: S608 (marks only)
                f"WHERE profile = ? AND passage IN ({marks})"
            )
            with self._explained():
                yield from self._db.execute(query, (profile, *some)).fetchall()

    def _delete(self, profile: bytes, passages: Sequence[bytes]) -> None:
        with self._transaction():
            self._db.executemany(
                "DELETE FROM vectors WHERE profile = ? AND passage = ?",
                [(profile, passage) for passage in passages],
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._explained():
            # Taking the write lock first: a reader that turns writer cannot wait its turn.
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours, with what to do next."""
        try:
            yield
        except DAMAGE as problem:
            code = getattr(problem, "sqlite_errorname", None) or "SQLITE_ERROR"
            if is_busy(problem):
                raise BusyError(
                    f"{self._path} was locked for {BUSY_SECONDS:.0f} s by another process. "
                    "Wait for that build to end, then try again."
                ) from None
            raise StoreError(
                f"The vector cache {self._path} cannot be used ({code}). Free some disk space if "
                "the disk is full; else delete the file, and its vectors are made again."
            ) from None


def profile_id(profile_key: str) -> bytes:
    """Return the key that rows of a profile are stored under."""
    return xxhash.xxh3_128_digest(profile_key.encode())


def is_sound_row(profile: object, passage: object, checksum: object, blob: object) -> bool:
    """Tell whether a row's four cells are those that were stored."""
    if not isinstance(profile, bytes) or not isinstance(passage, bytes):
        return False
    if not isinstance(blob, bytes) or len(blob) % _FLOAT32.itemsize:
        return False
    return checksum == _checksum(profile, passage, blob)


def _checksum(profile: bytes, passage: bytes, blob: bytes) -> bytes:
    """Cover the key too, so that a row that slid under another key is found out."""
    return xxhash.xxh3_64_digest(profile + passage + blob)
