"""Parcels of requests handed over together: written down before they are sent, known until done.

A parcel without a provider's id was about to be sent when its process died: whoever comes next
looks for it before anything is sent again. Its requests are the ledger's rows that name it. The
file and the transactions are those of resources/paid_store.py.
"""

import sqlite3
from typing import NamedTuple

TABLES = (
    """CREATE TABLE parcels (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, identity TEXT NOT NULL, provider TEXT NOT NULL,
    is_over INTEGER NOT NULL, owner TEXT NOT NULL, until REAL NOT NULL)""",
)


class Parcel(NamedTuple):
    """Requests that went out together, or were about to."""

    id: int
    at: float  # when it was written down, before it was sent
    provider: str  # the provider's id of it; nothing before that is known
    owner: str
    until: float


class Parcels:
    """The table of parcels. Called inside a transaction where it writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def open(self, identity: str, owner: str, until: float, now: float) -> int:
        """Write down that a parcel for a model is about to be sent, and return its number."""
        added = self._db.execute(
            "INSERT INTO parcels (at, identity, provider, is_over, owner, until) "
            "VALUES (?, ?, '', 0, ?, ?)",
            (now, identity, owner, until),
        )
        return int(added.lastrowid or 0)

    def sent(self, parcel: int, provider: str) -> None:
        """Write down the provider's id of a parcel."""
        self._db.execute("UPDATE parcels SET provider = ? WHERE id = ?", (provider, parcel))

    def end(self, parcel: int) -> None:
        """Write down that nothing more comes of a parcel."""
        self._db.execute("UPDATE parcels SET is_over = 1 WHERE id = ?", (parcel,))

    def under_way(self, identity: str) -> list[Parcel]:
        """Return the parcels of a model that something may still come of, in order."""
        found = self._db.execute(
            "SELECT id, at, provider, owner, until FROM parcels "
            "WHERE identity = ? AND NOT is_over ORDER BY id",
            (identity,),
        )
        return [Parcel(*row) for row in found]

    def known(self) -> set[str]:
        """Return the provider's ids of all parcels that are ours."""
        found = self._db.execute("SELECT provider FROM parcels WHERE provider != ''")
        return {provider for (provider,) in found}

    def renew(self, owner: str, until: float) -> None:
        """Say that an owner is still at work on its parcels."""
        self._db.execute(
            "UPDATE parcels SET until = ? WHERE owner = ? AND NOT is_over", (until, owner)
        )
