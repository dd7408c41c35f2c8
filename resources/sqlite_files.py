"""Open a SQLite file that several processes may open, or make, at the same moment.

Write-ahead mode lets readers and a writer work side by side. Switching a new file to it needs the
file for a moment, and SQLite then answers "locked" at once instead of waiting: two builds that
began together on a new home failed on this. So the switch is tried again, until time is up.
"""

import os
import sqlite3
from pathlib import Path

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from resources.atomic_files import make_private_folder

BUSY_SECONDS = 30.0
# What a damaged file makes Python's driver raise: SQLite's own words may quote a damaged name,
# which the driver then cannot decode.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
_OWNER_ONLY = 0o600


def open_database(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file for its owner alone, in write-ahead mode, with this one table.

    Statements commit by themselves unless a transaction is begun. Raises sqlite3.Error: the
    caller knows what is lost with the file.
    """
    make_private_folder(path.parent)
    # Made by hand, since SQLite would leave the mode to the process's umask.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, _OWNER_ONLY))
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        for attempt in Retrying(
            retry=retry_if_exception(is_busy),
            stop=stop_after_delay(BUSY_SECONDS),
            wait=wait_random(0.005, 0.05),
            reraise=True,
        ):
            with attempt:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute(schema)
    except DAMAGE:
        db.close()
        raise
    return db


def is_busy(problem: BaseException) -> bool:
    """Tell whether somebody else has the file just now."""
    name = getattr(problem, "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
