"""Who allowed what to be spent: approvals and refusals of plans, written once and never changed.

An approval holds the keys of the requests it covers. A row whose bytes do not match their
checksum counts as no decision: nothing is spent on a damaged word. The file and the transactions
are those of resources/paid_store.py.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from kb_core.ids import content_id

APPROVED = "approved"
DECLINED = "declined"
TABLES = (
    """CREATE TABLE decisions (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, kind TEXT NOT NULL,
    plan TEXT NOT NULL, folder TEXT NOT NULL, stage TEXT NOT NULL, ceiling INTEGER NOT NULL,
    who TEXT NOT NULL, keys BLOB NOT NULL, checksum TEXT NOT NULL)""",
    "CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions BEGIN "
    "SELECT RAISE(ABORT, 'a decision is never changed'); END",
)


class Decision(NamedTuple):
    """What somebody decided about a plan."""

    id: str
    at: float  # seconds since 1970
    kind: str  # APPROVED or DECLINED
    plan: str
    folder: str
    stage: str
    ceiling_nano: int
    who: str
    spent_nano: int  # what counts against it by now


class Approval(NamedTuple):
    """A decision with the keys it covers, in the order it was made."""

    number: int
    id: str
    at: float
    kind: str
    plan: str
    folder: str
    stage: str
    ceiling_nano: int
    who: str
    keys: frozenset[str]


class Approvals:
    """The table of decisions. Called inside a transaction where it writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(
        self,
        kind: str,
        *,
        at: float,
        plan: str,
        folder: str,
        stage: str,
        ceiling: int,
        who: str,
        keys: Sequence[str],
    ) -> str:
        """Write a decision down and return its id."""
        packed = b"".join(bytes.fromhex(key) for key in sorted(set(keys)))
        cells = (secrets.token_hex(8), at, kind, plan, folder, stage, ceiling, who, packed)
        self._db.execute(
            "INSERT INTO decisions (id, at, kind, plan, folder, stage, ceiling, who, keys, "
            "checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*cells, _checksum(cells)),
        )
        return cells[0]

    def all(self, approval: str | None = None) -> list[Approval]:
        """Return the sound decisions in order, or the one with an id."""
        rows = self._db.execute(
            "SELECT number, id, at, kind, plan, folder, stage, ceiling, who, keys, checksum "
            "FROM decisions WHERE ? IS NULL OR id = ? ORDER BY number",
            (approval, approval),
        )
        return [
            Approval._make((number, *cells[:-1], _unpacked(cells[-1])))
            for number, *cells, checksum in rows
            if isinstance(cells[-1], bytes) and checksum == _checksum(cells)
        ]


def _checksum(cells: Sequence[object]) -> str:
    *words, keys = cells
    return content_id(*map(str, words), keys.hex() if isinstance(keys, bytes) else "")


def _unpacked(packed: bytes) -> frozenset[str]:
    return frozenset(packed[start : start + 16].hex() for start in range(0, len(packed), 16))
