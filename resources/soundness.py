"""Is a small file or a database what was written? Looks only.

Each check says the problem in words, or gives empty text. What a file means and what is lost
with it is for the caller to say.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from resources.content_names import MISSING, unreadable
from resources.seals import unsealed
from resources.sqlite_files import BUSY_SECONDS, DAMAGE, is_busy


def sealed_problem(path: Path) -> str:
    """Check a small JSON file; an earlier version's without a seal only for being JSON."""
    try:
        unsealed(path.read_bytes())
    except FileNotFoundError:
        return MISSING
    except OSError as problem:
        return unreadable(problem)
    except (ValueError, RecursionError):
        return "its seal does not fit what it holds, or it is no JSON"
    return ""


def lines_problem(path: Path) -> str:
    """Check a file of sealed lines, naming the first bad one."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as problem:
        return unreadable(problem)
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                unsealed(line)
        except (ValueError, RecursionError):
            return f"line {number}: its seal does not fit what it holds, or it is no JSON"
    return "" if lines[-1] == b"" else f"line {len(lines)} is cut off"


def open_to_check(path: Path) -> sqlite3.Connection:
    """Open a database that exists; one that does not is not made. Raises sqlite3.Error."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def database_problem(path: Path) -> str:
    """Let a SQLite file check its own structure. Cells without a checksum are not covered."""
    try:
        with closing(open_to_check(path)) as db:
            db.text_factory = bytes  # what it finds may quote a damaged name
            found = [row[0] for row in db.execute("PRAGMA integrity_check(1)")]
    except DAMAGE as problem:
        return database_words(problem)
    return "" if found == [b"ok"] else "its pages do not fit together"


def database_words(problem: Exception) -> str:
    """Say in words what SQLite refused."""
    if is_busy(problem):
        return "another process locks it; try again when that one has ended"
    code = getattr(problem, "sqlite_errorname", None) or type(problem).__name__
    return f"SQLite cannot read it ({code})"
