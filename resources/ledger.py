"""The ledger of money: one row before each paid call, settled by what the provider billed.

Amounts are whole nano-dollars. What counts against a ceiling: an open row at the most it can
cost, a settled row at what was billed, a lost row (its process or its connection died, so nobody
knows) at its estimate, a void row nothing. No row is ever deleted. The file and the transactions
are those of resources/paid_store.py.
"""

import datetime as dt
import math
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from kb_core.money import Tokens

OPEN = "open"
SETTLED = "settled"
LOST = "lost"
VOID = "void"
_DAY_SECONDS = 24 * 60 * 60
_MINUTE_SECONDS = 60
# Triggers keep the sums that every call is checked against: by month, by approval, and by minute
# what needed none. With 50,000 rows of one day, adding those up took longer than the calls.
_COUNT = (
    "INSERT INTO sums VALUES ('month ' || strftime('%Y-%m', NEW.at, 'unixepoch'), {change}), "
    "(CASE NEW.approval WHEN '' THEN 'auto ' || printf('%012d', CAST(NEW.at / 60 AS INTEGER)) "
    "ELSE 'approval ' || NEW.approval END, {change}) "
    "ON CONFLICT (name) DO UPDATE SET nano = nano + excluded.nano;"
)
TABLES = (
    """CREATE TABLE ledger (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, folder TEXT NOT NULL, stage TEXT NOT NULL,
    plan TEXT NOT NULL, label TEXT NOT NULL, key BLOB NOT NULL, parts BLOB NOT NULL,
    approval TEXT NOT NULL, parcel INTEGER NOT NULL, state TEXT NOT NULL,
    owner TEXT NOT NULL, until REAL NOT NULL, estimated INTEGER NOT NULL CHECK (estimated >= 0),
    reserved INTEGER NOT NULL CHECK (reserved >= 0), billed INTEGER NOT NULL CHECK (billed >= 0),
    counted INTEGER NOT NULL CHECK (counted >= 0), input INTEGER NOT NULL,
    output INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_read INTEGER NOT NULL)""",
    "CREATE INDEX ledger_open ON ledger (key) WHERE state = 'open'",
    "CREATE INDEX ledger_at ON ledger (at, counted)",
    "CREATE INDEX ledger_auto ON ledger (at, counted) WHERE approval = ''",
    "CREATE TABLE sums (name TEXT PRIMARY KEY, nano INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TRIGGER ledger_new AFTER INSERT ON ledger BEGIN "
    + _COUNT.format(change="NEW.counted")
    + " END",
    "CREATE TRIGGER ledger_moved AFTER UPDATE OF counted ON ledger BEGIN "
    + _COUNT.format(change="NEW.counted - OLD.counted")
    + " END",
)
_GROUPS = {
    "folder": "folder",
    "stage": "stage",
    "model": "label",
    "day": "strftime('%Y-%m-%d', at, 'unixepoch')",
}


class LedgerRow(NamedTuple):
    """One paid call, or one that was about to be."""

    id: int
    at: float  # seconds since 1970
    folder: str
    stage: str
    plan: str
    label: str  # of the model
    key: str  # of the request
    approval: str  # nothing: within what needs no approval
    state: str
    is_batch: bool
    estimated_nano: int
    reserved_nano: int
    billed_nano: int
    tokens: Tokens


class Total(NamedTuple):
    """What some rows come to, void ones left out."""

    group: tuple[str, ...]
    calls: int
    estimated_nano: int
    billed_nano: int  # as settled
    lost_nano: int  # the estimates of those that nobody knows the bill of


class NewRow(NamedTuple):
    """What is written down before a call."""

    folder: str
    stage: str
    plan: str
    label: str
    key: bytes
    parts: bytes
    approval: str
    estimated: int
    reserved: int


class OpenRow(NamedTuple):
    """A call somebody is paying for."""

    id: int
    key: bytes
    parts: bytes
    approval: str
    parcel: int
    estimated: int
    owner: str
    until: float


class Ledger:
    """The table of calls. Called inside a transaction where it writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def rows(self, since: float, plan: str | None) -> list[LedgerRow]:
        """Return the rows from an instant on, of one plan or of all, in order."""
        found = self._db.execute(
            "SELECT id, at, folder, stage, plan, label, key, approval, state, parcel, estimated, "
            "reserved, billed, input, output, cache_write, cache_read FROM ledger "
            "WHERE at >= ? AND (? IS NULL OR plan = ?) ORDER BY id",
            (since, plan, plan),
        )
        return [_row(*cells) for cells in found]

    def totals(self, by: Sequence[str]) -> list[Total]:
        """Add the rows up by any of folder, stage, model and day (UTC), in order of the groups."""
        groups = ", ".join(_GROUPS[name] for name in by)
        query = (
            f"SELECT {groups or 'NULL'}, COUNT(*), SUM(estimated), SUM(billed), "  # noqa: S608 (our own words)
            f"SUM(CASE state WHEN 'lost' THEN counted ELSE 0 END) FROM ledger WHERE state != 'void'"
        )
        ending = f" GROUP BY {groups} ORDER BY {groups}" if by else " HAVING COUNT(*)"
        found = self._db.execute(query + ending)
        return [Total(row[: len(by)], *row[-4:]) for row in found]

    def spent_since(self, instant: float, is_auto: bool) -> int:
        """Return what counts since an instant, all of it or what needed no approval."""
        auto = " AND approval = ''" if is_auto else ""
        query = f"SELECT COALESCE(SUM(counted), 0) FROM ledger WHERE at >= ?{auto}"  # noqa: S608 (our own words)
        return int(self._db.execute(query, (instant,)).fetchone()[0])

    def spent_in_month(self, now: float) -> int:
        """Return what counts in the calendar month (UTC) of an instant."""
        return self._sum(f"month {dt.datetime.fromtimestamp(now, dt.UTC):%Y-%m}")

    def spent_in_day(self, now: float) -> int:
        """Return what counts of the 24 hours before an instant and needed no approval."""
        start = now - _DAY_SECONDS
        minute = math.ceil(start / _MINUTE_SECONDS)
        broken = self._db.execute(
            "SELECT COALESCE(SUM(counted), 0) FROM ledger "
            "WHERE approval = '' AND at >= ? AND at < ?",
            (start, minute * _MINUTE_SECONDS),
        ).fetchone()
        whole = self._db.execute(
            "SELECT COALESCE(SUM(nano), 0) FROM sums WHERE name >= ? AND name < 'auto :'",
            (f"auto {minute:012d}",),
        ).fetchone()
        return int(broken[0] + whole[0])

    def spent_under(self, approval: str) -> int:
        """Return what counts against an approval."""
        return self._sum(f"approval {approval}")

    def open(self, row: NewRow, owner: str, until: float, now: float, parcel: int = 0) -> int:
        """Write a row down before its call and return its number."""
        added = self._db.execute(
            "INSERT INTO ledger (at, folder, stage, plan, label, key, parts, approval, estimated, "
            "reserved, counted, state, owner, until, parcel, billed, input, output, cache_write, "
            "cache_read) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, 0, 0, 0, 0, 0)",
            (now, *row, row.reserved, owner, until, parcel),
        )
        return int(added.lastrowid or 0)

    def settle(self, row: int, tokens: Tokens, billed: int) -> None:
        """Write down what the provider billed, whatever the row was taken for meanwhile."""
        self._db.execute(
            "UPDATE ledger SET state = 'settled', billed = ?, counted = ?, input = ?, output = ?, "
            "cache_write = ?, cache_read = ? WHERE id = ?",
            (
                *(billed, billed, tokens.input, tokens.output),
                *(tokens.cache_write, tokens.cache_read, row),
            ),
        )

    def lose(self, row: int) -> None:
        """Count an open row at its estimate: whether it was billed is not known."""
        self._close(row, LOST, "estimated")

    def void(self, row: int) -> None:
        """Count an open row as nothing: it was not billed."""
        self._close(row, VOID, "0")

    def opened(self, key: bytes) -> OpenRow | None:
        """Return the open row of a request."""
        rows = self._open_rows("key = ?", key)
        return rows[0] if rows else None

    def in_flight(self, owner: str) -> list[OpenRow]:
        """Return the open rows that will be settled soon: single calls, and this owner's parcel."""
        return self._open_rows("(parcel = 0 OR owner = ?)", owner)

    def in_parcel(self, parcel: int) -> list[OpenRow]:
        """Return the open rows of a parcel."""
        return self._open_rows("parcel = ?", parcel)

    def parts(self, row: int) -> bytes:
        """Return what a row's request answers, 16 bytes a part."""
        found = self._db.execute("SELECT parts FROM ledger WHERE id = ?", (row,)).fetchone()
        return bytes(found[0])

    def is_open(self, row: int) -> bool:
        """Tell whether a row's call is not over yet."""
        query = "SELECT 1 FROM ledger WHERE id = ? AND state = 'open'"
        return self._db.execute(query, (row,)).fetchone() is not None

    def renew(self, owner: str, until: float) -> None:
        """Say that an owner is still at work on its rows."""
        self._db.execute(
            "UPDATE ledger SET until = ? WHERE state = 'open' AND owner = ?", (until, owner)
        )

    def _sum(self, name: str) -> int:
        found = self._db.execute("SELECT nano FROM sums WHERE name = ?", (name,)).fetchone()
        return int(found[0]) if found else 0

    def _close(self, row: int, state: str, counted: str) -> None:
        self._db.execute(
            f"UPDATE ledger SET state = ?, counted = {counted} WHERE id = ? AND state = 'open'",  # noqa: S608 (our own words)
            (state, row),
        )

    def _open_rows(self, condition: str, value: object) -> list[OpenRow]:
        found = self._db.execute(
            "SELECT id, key, parts, approval, parcel, estimated, owner, until FROM ledger "  # noqa: S608 (our own words)
            f"WHERE state = 'open' AND {condition} ORDER BY id",
            (value,),
        )
        return [OpenRow(*row) for row in found]


def _row(*cells: Any) -> LedgerRow:
    key, approval, state, parcel = cells[6:10]
    money, tokens = cells[10:13], Tokens(*cells[13:])
    return LedgerRow._make((*cells[:6], key.hex(), approval, state, parcel != 0, *money, tokens))
