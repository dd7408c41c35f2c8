"""Who is writing where: one row per partition, with an expiry, in SQLite.

A process that dies leaves its row behind; it is taken over at once when the process is known to
be gone on this machine, else when the row expires. So is the row of this very process when it
could not be deleted: a process knows what it holds. One lease, of the whole home, is held alone:
nobody has another one meanwhile. Safe between processes.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kb_core.errors import BusyError, StoreError
from resources.processes import is_gone, this_process
from resources.sqlite_files import DAMAGE, open_database

HOME = "home"  # the lease of everything: for what must see nobody write
_SECONDS = 60.0
_POLL_SECONDS = 0.2
_TABLE = (
    "CREATE TABLE IF NOT EXISTS leases "
    "(name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"
)


class Leases:
    """The leases of one home."""

    _mine: ClassVar[set[str]] = set()  # the owners that hold or wait, of this process

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock

    @contextlib.contextmanager
    def hold(self, name: str, wait_seconds: float = 600) -> Iterator[None]:
        """Hold the lease while the block runs; wait for whoever has it.

        HOME waits for all the others, and they for it.
        Raises BusyError when it is still taken after `wait_seconds`.
        """
        owner = this_process()
        self._mine.add(owner)
        try:
            self._take(name, owner, wait_seconds)
            try:
                with self._renewed(name, owner):
                    yield
            finally:
                self._release(name, owner)
        finally:
            self._mine.discard(owner)

    def _take(self, name: str, owner: str, wait_seconds: float) -> None:
        deadline = time.monotonic() + wait_seconds
        while holder := self._try_take(name, owner):
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"{holder.name} is being written by process {holder.process}. Wait for that "
                    f"run to end, or stop it; its lease ends {_SECONDS:.0f} s after its last sign."
                )
            time.sleep(_POLL_SECONDS)

    def _try_take(self, name: str, owner: str) -> "_Holder | None":
        """Take the lease, or return who is in the way."""
        now = self._clock()
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            rows = db.execute("SELECT name, owner, until FROM leases ORDER BY name").fetchall()
            for held, holder, until in rows:
                is_in_the_way = held == name or HOME in (held, name)
                if is_in_the_way and _is_later(until, now) and not self._is_left(holder):
                    return _Holder(held, holder.split(":")[1])
            db.execute(
                "INSERT OR REPLACE INTO leases (name, owner, until) VALUES (?, ?, ?)",
                (name, owner, now + _SECONDS),
            )
            return None

    def _is_left(self, owner: object) -> bool:
        """Tell whether nobody holds what the row says is held."""
        if _is_dead(owner):
            return True
        process = this_process().rpartition(":")[0]
        return str(owner).rpartition(":")[0] == process and owner not in self._mine

    @contextlib.contextmanager
    def _renewed(self, name: str, owner: str) -> Iterator[None]:
        stop = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(name, owner, stop), daemon=True)
        renewer.start()
        try:
            yield
        finally:
            stop.set()
            renewer.join()

    def _renew(self, name: str, owner: str, stop: threading.Event) -> None:
        while not stop.wait(_SECONDS / 3):
            # A busy moment must not end the renewing: the next try comes in time.
            with contextlib.suppress(sqlite3.Error), self._connection() as db:
                db.execute(
                    "UPDATE leases SET until = ? WHERE name = ? AND owner = ?",
                    (self._clock() + _SECONDS, name, owner),
                )

    def _release(self, name: str, owner: str) -> None:
        with self._connection() as db:
            db.execute("DELETE FROM leases WHERE name = ? AND owner = ?", (name, owner))

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError:
            raise  # busy or full: the system's own words are the right ones
        except DAMAGE as problem:
            raise StoreError(
                f"{self._path} is damaged ({problem}). Delete it: it is made anew. `kb verify` "
                "finds what else is."
            ) from None

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            db = open_database(self._path, _TABLE)
        try:
            with self._explained(), db:
                yield db
        finally:
            db.close()


@dataclass(frozen=True)
class _Holder:
    name: str
    process: str


def _is_later(until: object, now: float) -> bool:
    """Tell whether a lease runs on; one whose end is no number is damaged, and over."""
    return isinstance(until, float) and until > now


def _is_dead(owner: object) -> bool:
    """Tell whether the owner ran on this machine and is gone. Unknown machines: not dead.

    A name that is none was damaged: nobody renews that lease.
    """
    return not isinstance(owner, str) or owner.count(":") != 2 or is_gone(owner)
