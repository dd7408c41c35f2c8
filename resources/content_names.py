"""Is a file that is named by its content's hash what was written? Looks only."""

from collections.abc import Callable
from pathlib import Path

import xxhash

MISSING = "it is missing"
_OTHER_BYTES = "its bytes are not those it is named by"
_BLOCK = 1 << 20

Progress = Callable[[int], None]  # bytes read since the last call


def _say_nothing(_read: int) -> None:
    """Report to nobody."""


def file_hash(path: Path, progress: Progress = _say_nothing) -> str:
    """Hash a file's bytes, block by block, as `kb_core.ids.bytes_hash` does. Raises OSError."""
    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            progress(len(block))
    return digest.hexdigest()


def named_problem(path: Path, progress: Progress = _say_nothing) -> str:
    """Say in words what is wrong with a file that is named by its own hash; empty if nothing."""
    try:
        found = file_hash(path, progress)
    except FileNotFoundError:
        return MISSING
    except OSError as problem:
        return unreadable(problem)
    return "" if found == path.name.partition(".")[0] else _OTHER_BYTES


def unreadable(problem: OSError) -> str:
    """Say in words why a file cannot be read."""
    return f"it cannot be read: {(problem.strerror or type(problem).__name__).lower()}"
