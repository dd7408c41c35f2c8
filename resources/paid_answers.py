"""Answers that were paid for: kept whole before anybody reads them, found by what they answer.

One answer may answer several parts; the latest answer to a part counts. A row whose bytes do not
match their checksum is moved aside and counted, never deleted: money was paid for it. The file
and the transactions are those of resources/paid_store.py.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import xxhash

from resources.llm import Answer

# A request that got no answer in so many runs is not asked again by itself.
MOST_FAILURES = 3
_PARAMETERS = 500  # SQLite allows 999 in old builds
_CELLS = "key, text, raw, stop, label, input, output, cache_write, cache_read, checksum"
ALL_ROWS = f"SELECT {_CELLS} FROM answers"  # noqa: S608 (our own columns)
_COLUMNS = """
    key BLOB NOT NULL, text BLOB NOT NULL, raw BLOB NOT NULL, stop TEXT NOT NULL,
    label TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    cache_write INTEGER NOT NULL, cache_read INTEGER NOT NULL, checksum BLOB NOT NULL
"""
# With row ids, so that rows of some thousand bytes are appended instead of sorted in by key.
TABLES = (
    f"CREATE TABLE answers ({_COLUMNS}, PRIMARY KEY (key))",
    f"CREATE TABLE damaged_answers ({_COLUMNS})",
    "CREATE TABLE parts (part BLOB PRIMARY KEY, key BLOB NOT NULL, number INTEGER NOT NULL, "
    "checksum BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX parts_of_answer ON parts (key)",
    "CREATE TABLE failures (key BLOB PRIMARY KEY, times INTEGER NOT NULL, reason TEXT NOT NULL) "
    "WITHOUT ROWID",
)


class Stored(NamedTuple):
    """A paid answer, and which part of it was asked for."""

    key: str  # of the request
    part: int  # its place among the parts of the request
    text: str  # unread: data that nobody trusts before it was checked
    stop: str  # see resources/llm.py
    label: str  # of the model


class Answers:
    """The tables of answers. Called inside a transaction where it writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def find(self, parts: Sequence[str]) -> tuple[dict[str, Stored], list[bytes]]:
        """Return the answers by part, in order of `parts`, and the keys of damaged rows."""
        found: dict[str, Stored] = {}
        links = {part: (key, number) for part, key, number in self._links(parts)}
        rows = {row[0]: row for row in self._rows([key for key, _ in links.values()])}
        damaged = [key for key, row in rows.items() if not is_sound_answer(row)]
        for part in parts:
            key, number = links.get(bytes.fromhex(part), (b"", 0))
            if key in rows and key not in damaged:
                _, text, _, stop, label, *_ = rows[key]
                found[part] = Stored(key.hex(), number, _read(text), stop, label)
        return found, damaged

    def raw(self, key: str) -> tuple[str | None, bool]:
        """Return the provider's whole answer, if it is there, and whether its row is damaged."""
        for row in self._rows([bytes.fromhex(key)]):
            return (_read(row[2]), False) if is_sound_answer(row) else (None, True)
        return None, False

    def has(self, key: bytes) -> bool:
        """Tell whether a request was answered; a damaged answer is set aside."""
        rows = list(self._rows([key]))
        if rows and not is_sound_answer(rows[0]):
            self.set_aside([key])
            return False
        return bool(rows)

    def keep(self, key: bytes, parts: bytes, label: str, answer: Answer) -> None:
        """Store an answer for its parts. The first answer to a request stays."""
        tokens = answer.tokens
        counted = (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read)
        cells = (key, _written(answer.text), _written(answer.raw), answer.stop, label, *counted)
        self._db.execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*cells, _checksum(cells)),
        )
        self._db.execute("DELETE FROM failures WHERE key = ?", (key,))
        self.link(key, parts)

    def link(self, key: bytes, parts: bytes) -> None:
        """Say which parts a request's answer answers: 16 bytes each, in order."""
        cut = [parts[start : start + 16] for start in range(0, len(parts), 16)]
        wanted = [(part, key, number) for number, part in enumerate(cut)]
        if wanted == sorted(self._links([part.hex() for part in cut]), key=itemgetter(2)):
            return
        rows = [(*cells, _checksum(cells)) for cells in wanted]
        self._db.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)", rows)

    def set_aside(self, keys: Sequence[bytes]) -> None:
        """Move damaged rows to where nobody looks for answers."""
        marks = [(key,) for key in keys]
        self._db.executemany(
            f"INSERT INTO damaged_answers ({_CELLS}) SELECT {_CELLS} FROM answers WHERE key = ?",  # noqa: S608 (our own columns)
            marks,
        )
        self._db.executemany("DELETE FROM answers WHERE key = ?", marks)
        self._db.executemany("DELETE FROM parts WHERE key = ?", marks)

    def damaged(self) -> int:
        """Count the rows that were set aside."""
        return int(self._db.execute("SELECT COUNT(*) FROM damaged_answers").fetchone()[0])

    def fail(self, key: bytes, reason: str) -> None:
        """Remember that a request got no answer in this run."""
        self._db.execute(
            "INSERT INTO failures VALUES (?, 1, ?) ON CONFLICT (key) DO UPDATE "
            "SET times = times + 1, reason = excluded.reason",
            (key, reason),
        )

    def failures(self, keys: Sequence[str]) -> dict[str, str]:
        """Return why requests are given up, by key, in order of `keys`."""
        query = "SELECT key, reason FROM failures WHERE times >= ? AND key IN ({marks})"
        found = dict(self._chunked(query, keys, MOST_FAILURES))
        reasons = {key: found.get(bytes.fromhex(key)) for key in keys}
        return {key: reason for key, reason in reasons.items() if reason is not None}

    def forget_failures(self, keys: Sequence[str]) -> None:
        """Let requests be asked again."""
        marks = [(bytes.fromhex(key),) for key in keys]
        self._db.executemany("DELETE FROM failures WHERE key = ?", marks)

    def _links(self, parts: Sequence[str]) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield part, key and number; a damaged row is passed over, and made anew when asked."""
        query = "SELECT part, key, number, checksum FROM parts WHERE part IN ({marks})"
        for part, key, number, checksum in self._chunked(query, parts):
            if _is_bytes(part, key) and checksum == _checksum((part, key, number)):
                yield part, key, number

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple]:
        query = f"SELECT {_CELLS} FROM answers WHERE key IN ({{marks}})"  # noqa: S608 (marks only)
        yield from self._chunked(query, [key.hex() for key in dict.fromkeys(keys)])

    def _chunked(self, query: str, keys: Sequence[str], *first: object) -> Iterator[tuple]:
        for start in range(0, len(keys), _PARAMETERS):
            some = [bytes.fromhex(key) for key in keys[start : start + _PARAMETERS]]
            marks = ", ".join("?" * len(some))
            yield from self._db.execute(query.format(marks=marks), (*first, *some)).fetchall()


def is_sound_answer(row: tuple) -> bool:
    """Tell whether a row of the answers is what was stored."""
    *cells, checksum = row
    return _is_bytes(*cells[:3]) and checksum == _checksum(tuple(cells))


def _is_bytes(*cells: object) -> bool:
    return all(isinstance(cell, bytes) for cell in cells)


def _checksum(cells: tuple) -> bytes:
    """Cover the key too, so that a row that slid under another key is found out."""
    digest = xxhash.xxh3_64()
    for cell in cells:
        data = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return bytes(digest.digest())


def _written(text: str) -> bytes:
    """Take half characters too: a model may write them, and it was paid for them."""
    return text.encode("utf-8", "surrogatepass")


def _read(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
