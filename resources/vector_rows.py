"""Look after the vector cache as a whole: find bad rows, save the good ones, drop unwanted ones.

The cache itself looks at the rows it is asked for. Everything here goes through all of them. The
file keeps its name throughout: a new one takes its place in one step.
"""

import sqlite3
from collections.abc import Callable, Iterator, Set
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from resources.atomic_files import TEMPORARY, sync_folder
from resources.caches import TABLE, is_sound_row, profile_id
from resources.soundness import database_problem, database_words, open_to_check
from resources.sqlite_files import DAMAGE, open_database

Progress = Callable[[int], None]  # bytes of rows looked at since the last call

_TOGETHER = 500
_ROWS = "SELECT rowid, profile, passage, checksum, vector FROM vectors"


def cache_problem(path: Path, progress: Progress = lambda read: None) -> str:
    """Say what is wrong with a cache file; empty text if it and every row are sound."""
    problem = database_problem(path)
    if problem:
        return problem
    try:
        with closing(open_to_check(path)) as db:
            if not _has_table(db):
                return "its table is not the one that this version makes"
            damaged = 0
            for rows in _groups(db, _ROWS):
                damaged += sum(not is_sound_row(*row[1:]) for row in rows)
                progress(sum(len(row[-1]) for row in rows if isinstance(row[-1], bytes)))
    except DAMAGE as failed:
        return database_words(failed)
    return f"{damaged} of its vectors do not fit their checksums" if damaged else ""


def save_sound_rows(path: Path) -> int:
    """Put a file with the sound rows in the place of a damaged one; return how many it holds.

    Rows behind a page that cannot be read are looked for from the other end too.
    """
    scratch = path.with_name(f"{path.name}{TEMPORARY}mended")
    remove_database(scratch)
    with closing(open_database(scratch, TABLE)) as saved:
        for direction in ("ASC", "DESC"):
            _copy(path, saved, f"{_ROWS} ORDER BY rowid {direction}")
        number: int = saved.execute("SELECT count(*) FROM vectors").fetchone()[0]
        saved.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        saved.execute("PRAGMA journal_mode = DELETE")
    remove_database(path, but_not_itself=True)  # its log must not be read into the new file
    scratch.replace(path)
    sync_folder(path.parent)
    return number


def drop_rows(path: Path, kept: Set[tuple[str, str]], *, dry_run: bool) -> tuple[int, int]:
    """Drop the vectors that are not `kept`: (profile key, passage hash).

    Returns how many go, and the bytes of their vectors. Raises sqlite3.Error.
    """
    wanted = {(profile_id(profile), bytes.fromhex(passage)) for profile, passage in kept}
    with closing(open_to_check(path)) as db:
        groups = _groups(db, "SELECT rowid, profile, passage, length(vector) FROM vectors")
        gone = [
            (row[0], row[3]) for rows in groups for row in rows if (row[1], row[2]) not in wanted
        ]
        if gone and not dry_run:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("DELETE FROM vectors WHERE rowid = ?", [(row,) for row, _ in gone])
            db.execute("COMMIT")
            db.execute("VACUUM")
    return len(gone), sum(size for _, size in gone)


def remove_database(path: Path, *, but_not_itself: bool = False) -> None:
    """Remove a database with the log files that lie beside it."""
    for ending in ("-wal", "-shm", *(() if but_not_itself else ("",))):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _copy(path: Path, saved: sqlite3.Connection, query: str) -> None:
    # What comes after a page that cannot be read is looked for from the other end.
    with suppress(*DAMAGE), closing(open_to_check(path)) as db:
        for rows in _groups(db, query):
            sound = [row[1:] for row in rows if is_sound_row(*row[1:])]
            saved.execute("BEGIN")
            saved.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", sound)
            saved.execute("COMMIT")


def _groups(db: sqlite3.Connection, query: str) -> Iterator[list[Any]]:
    db.text_factory = bytes  # a cell whose type was damaged must not hide the rows after it
    cursor = db.execute(query)
    while rows := cursor.fetchmany(_TOGETHER):
        yield rows


def _has_table(db: sqlite3.Connection) -> bool:
    found = db.execute("SELECT sql FROM sqlite_master WHERE name = 'vectors'").fetchone()
    return found is not None and _folded(found[0]) == _folded(TABLE)


def _folded(statement: str) -> str:
    return " ".join(statement.replace("IF NOT EXISTS ", "").split())
