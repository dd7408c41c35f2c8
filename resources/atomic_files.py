"""Write files so that a reader sees the old one or the new one, never half of one.

Everything is readable by its owner alone. Safe to interrupt anywhere: a leftover temporary file
is never read and its name says so.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".tmp-"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: temporary name, fsync, rename, fsync of the folder."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes `path` when the block ends without an error."""
    make_private_folder(path.parent)
    # The random part keeps two processes that write the same file out of each other's way.
    scratch = path.with_name(f"{path.name}{TEMPORARY}{secrets.token_hex(4)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            scratch.unlink()
        raise
    sync_folder(path.parent)


def make_private_folder(path: Path) -> None:
    """Create a folder, and those above it, for the user alone."""
    if path.is_dir():
        return
    make_private_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)


def sync_folder(path: Path) -> None:
    """Make a rename inside the folder survive a power cut, where the system can."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders, and renames are durable there
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
