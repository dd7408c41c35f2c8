"""What the user decided about suggestions: kept ones are questions, dropped ones never return.

`data/eval/questions.jsonl` holds the kept questions, `data/eval/dropped.json` the ids of those
that were dropped. Every decision is on the disk before the next question is shown; two processes
that decide at once both count.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from eval_assets.questions import (
    EVAL_FOLDER,
    OWN_FILE,
    Question,
    question_files,
    questions_text,
    read_questions,
)
from kb_core.errors import SettingsError
from resources.atomic_files import write_atomically
from resources.home import Home

DROPPED_FILE = "dropped.json"
_LEASE = "record/questions"


class Decisions:
    """The decisions of one home."""

    def __init__(self, home: Home) -> None:
        """Remember where they lie; nothing is read yet."""
        self._home = home
        self._own = home.data / EVAL_FOLDER / OWN_FILE
        self._dropped = home.data / EVAL_FOLDER / DROPPED_FILE

    def kept(self) -> list[Question]:
        """Return the kept questions, oldest first. Raises SettingsError for a damaged file."""
        return read_questions(self._own) if self._own.is_file() else []

    def dropped(self) -> list[str]:
        """Return the ids that were dropped, sorted. Raises SettingsError for a damaged file."""
        if not self._dropped.is_file():
            return []
        try:
            ids = json.loads(self._dropped.read_text("utf-8"))["dropped"]
        except (ValueError, KeyError, TypeError):
            raise SettingsError(_damaged(self._dropped)) from None
        if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
            raise SettingsError(_damaged(self._dropped))
        return sorted(set(ids))

    def taken(self) -> set[str]:
        """Return the ids that are not suggested again: of any question file, and dropped ones."""
        files = question_files(self._home.data)
        return {row.id for file in files for row in read_questions(file)} | set(self.dropped())

    def keep(self, questions: Iterable[Question]) -> None:
        """Add questions to the kept ones; one whose id is there takes its place."""
        with self._home.leases.hold(_LEASE):
            rows = {row.id: row for row in self.kept()}
            rows.update((row.id, row) for row in questions)
            self._write_kept(rows.values())

    def drop(self, question_id: str) -> bool:
        """Never suggest this id again, and score it no longer. Return whether it had been kept."""
        with self._home.leases.hold(_LEASE):
            rows = self.kept()
            left = [row for row in rows if row.id != question_id]
            ids = sorted({*self.dropped(), question_id})
            text = json.dumps({"dropped": ids}, indent=1) + "\n"
            write_atomically(self._dropped, text.encode())
            if len(left) < len(rows):
                self._write_kept(left)
        return len(left) < len(rows)

    def _write_kept(self, rows: Iterable[Question]) -> None:
        write_atomically(self._own, questions_text(list(rows)).encode())


def _damaged(path: Path) -> str:
    return f"{path} is damaged. Delete it: what was dropped may then be suggested again."
