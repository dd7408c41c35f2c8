"""Copy files for good: every byte hashed on the way, flushed to the disk, for the user alone.

A copy keeps its original's time, by which builds are listed and old files are collected. Never
by hard link: a copy on the same disk must not share a damaged block with its original.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import xxhash

from resources.atomic_files import make_private_folder
from resources.soundness import open_to_check

_BLOCK = 1 << 20


def copy_file(source: Path, target: Path) -> tuple[int, str]:
    """Copy a file to a place that is free; return its size and the hash of what was read.

    Raises OSError.
    """
    make_private_folder(target.parent)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    digest, size = xxhash.xxh3_128(), 0
    with source.open("rb") as reading, os.fdopen(descriptor, "wb") as writing:
        while block := reading.read(_BLOCK):
            digest.update(block)
            size += len(block)
            writing.write(block)
        writing.flush()
        os.fsync(writing.fileno())
    changed = source.stat().st_mtime_ns
    os.utime(target, ns=(changed, changed))
    return size, digest.hexdigest()


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite file as it is at one moment, whoever writes meanwhile. Raises sqlite3.Error."""
    make_private_folder(target.parent)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(open_to_check(source)) as original, closing(sqlite3.connect(target)) as copied:
        original.backup(copied)
        # One file, whole without a log beside it.
        copied.execute("PRAGMA journal_mode = DELETE")
    with target.open("rb") as file:
        os.fsync(file.fileno())
