"""The evaluation history of one home: append-only, one line each time a build was scored.

It holds figures and build names, never note text. It lies with the journal because it cannot be
made anew: what a build scored when it was new is gone with its time.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb_core.errors import StoreError
from resources.atomic_files import write_atomically
from resources.seals import sealed, unsealed

_NAME = "evaluations.jsonl"


class Evaluations:
    """The scores of a home's builds over time."""

    def __init__(self, history: Path) -> None:
        self._path = history / _NAME

    def rows(self) -> list[dict[str, Any]]:
        """Return every scoring, oldest first. Raises StoreError when the file is damaged."""
        try:
            lines = self._path.read_bytes().decode().split("\n")
            return [dict(unsealed(line.encode())) for line in lines if line.strip()]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError, RecursionError):
            raise StoreError(
                f"{self._path} is damaged. Restore data/history from a backup; or take out the "
                "line that `kb verify` names: it holds figures alone."
            ) from None

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a scoring. Callers hold the lease of the build."""
        rows = [*self.rows(), dict(row)]
        lines = (sealed(each, indent=None) + b"\n" for each in rows)
        write_atomically(self._path, b"".join(lines))
