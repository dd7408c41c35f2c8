"""Who is writing where: one row per partition, with an expiry, in SQLite.

A process that dies leaves its row behind; it is taken over at once when the process is known to
be gone on this machine, else when the row expires. Safe between processes.
"""

import contextlib
import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kb_core.errors import BusyError, StoreError
from resources.sqlite_files import open_database

_SECONDS = 60.0
_POLL_SECONDS = 0.2
_TABLE = (
    "CREATE TABLE IF NOT EXISTS leases "
    "(name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"
)


class Leases:
    """The leases of one home."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    @contextlib.contextmanager
    def hold(self, name: str, wait_seconds: float = 600) -> Iterator[None]:
        """Hold the lease while the block runs; wait for whoever has it.

        Raises BusyError when it is still taken after `wait_seconds`.
        """
        deadline = time.monotonic() + wait_seconds
        while not (taken := self._try_take(name)):
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"{name} is being written by process {self._holder(name)}. Wait for that run "
                    f"to end, or stop it; its lease ends {_SECONDS:.0f} s after its last sign."
                )
            time.sleep(_POLL_SECONDS)
        stop = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(name, stop), daemon=True)
        renewer.start()
        try:
            yield
        finally:
            stop.set()
            renewer.join()
            if taken:
                self._release(name)

    def _try_take(self, name: str) -> bool:
        now = self._clock()
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            row = db.execute("SELECT owner, until FROM leases WHERE name = ?", (name,)).fetchone()
            if row and row[1] > now and not _is_dead(row[0]):
                return False
            db.execute(
                "INSERT OR REPLACE INTO leases (name, owner, until) VALUES (?, ?, ?)",
                (name, self._owner, now + _SECONDS),
            )
            return True

    def _renew(self, name: str, stop: threading.Event) -> None:
        while not stop.wait(_SECONDS / 3):
            # A busy moment must not end the renewing: the next try comes in time.
            with contextlib.suppress(sqlite3.Error), self._connection() as db:
                db.execute(
                    "UPDATE leases SET until = ? WHERE name = ? AND owner = ?",
                    (self._clock() + _SECONDS, name, self._owner),
                )

    def _release(self, name: str) -> None:
        with self._connection() as db:
            db.execute("DELETE FROM leases WHERE name = ? AND owner = ?", (name, self._owner))

    def _holder(self, name: str) -> str:
        with self._connection() as db:
            row = db.execute("SELECT owner FROM leases WHERE name = ?", (name,)).fetchone()
        return row[0].split(":")[1] if row else "unknown"

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError:
            raise  # busy or full: the system's own words are the right ones
        except sqlite3.DatabaseError as problem:
            raise StoreError(
                f"{self._path} is damaged ({problem}). Delete it: it is made anew."
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


def _is_dead(owner: str) -> bool:
    """Tell whether the owner ran on this machine and is gone. Unknown machines: not dead."""
    host, pid, _ = owner.split(":")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
