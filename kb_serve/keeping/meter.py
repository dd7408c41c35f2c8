"""Count what was looked at, and tell how far that is."""

from collections.abc import Callable
from pathlib import Path

from resources.content_names import named_problem

Progress = Callable[[int], None]  # bytes looked at so far


class Meter:
    """Files and bytes that were checked."""

    def __init__(self, progress: Progress = lambda read: None) -> None:
        self.files = 0
        self.bytes = 0
        self._progress = progress

    def hashed(self, path: Path) -> str:
        """Check a file that is named by its hash; return its problem in words, or empty text."""
        self.files += 1
        return named_problem(path, self.add)

    def look_at(self, path: Path) -> None:
        """Count a file that somebody else reads."""
        self.files += 1
        self.add(path.stat().st_size if path.is_file() else 0)

    def add(self, read: int) -> None:
        """Count bytes."""
        self.bytes += read
        self._progress(self.bytes)
