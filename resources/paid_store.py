"""What was paid for and what was spent: one file of answers, ledger, decisions and parcels.

SQLite in write-ahead mode: several processes may read and write at once, and what is committed
survives a power cut. Only the owner can read the file: answers tell what notes say. It is the one
file that cannot be made again without paying again, so nothing in it is deleted on damage.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from kb_core.errors import BusyError, StoreError
from resources import approvals, ledger, paid_answers, paid_parcels
from resources.approvals import APPROVED, DECLINED, Approval, Approvals, Decision
from resources.ledger import Ledger, LedgerRow, Total
from resources.paid_answers import Answers, Stored
from resources.paid_parcels import Parcels
from resources.sqlite_files import BUSY_SECONDS, DAMAGE, is_busy, open_database

_FORMAT = 1
_FIRST = "CREATE TABLE IF NOT EXISTS format (number INTEGER NOT NULL)"
_TABLES = approvals.TABLES + ledger.TABLES + paid_answers.TABLES + paid_parcels.TABLES


class PaidStore:
    """One home's paid answers and money. Open one per thread; close it, or use `with`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Open the file, or make it and the folders above it. Raises StoreError if damaged."""
        self.path = path
        self._clock = clock
        with self._explained():
            self._db = open_database(path, _FIRST)
            self._db.execute("PRAGMA synchronous = FULL")
            # A damaged name must not keep the rows around it from being read.
            self._db.text_factory = lambda data: data.decode("utf-8", "replace")
            self._make_tables()
        self.paid_answers = Answers(self._db)
        self.ledger = Ledger(self._db)
        self.approvals = Approvals(self._db)
        self.parcels = Parcels(self._db)

    def __enter__(self) -> Self:
        """Use the store in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; harmless when done twice."""
        self._db.close()

    def answers(self, parts: Sequence[str]) -> dict[str, Stored]:
        """Return what was answered, by part key, in order of `parts`.

        A damaged row is left out and set aside; `damaged` counts those.
        """
        with self._explained():
            found, damaged = self.paid_answers.find(parts)
        if damaged:
            with self.transaction():
                self.paid_answers.set_aside(damaged)
        return found

    def raw(self, key: str) -> str | None:
        """Return the provider's whole answer to a request, or None if there is none."""
        with self._explained():
            found, is_damaged = self.paid_answers.raw(key)
        if is_damaged:
            with self.transaction():
                self.paid_answers.set_aside([bytes.fromhex(key)])
        return found

    @property
    def damaged(self) -> int:
        """Return how many answers were found damaged and set aside, ever."""
        with self._explained():
            return self.paid_answers.damaged()

    def failures(self, keys: Sequence[str]) -> dict[str, str]:
        """Return why requests are not asked any more, by key: they failed in three runs."""
        with self._explained():
            return self.paid_answers.failures(keys)

    def forget_failures(self, keys: Sequence[str]) -> None:
        """Let requests that failed be asked again."""
        with self.transaction():
            self.paid_answers.forget_failures(keys)

    def approve(
        self,
        *,
        plan: str,
        folder: str,
        stage: str,
        ceiling_nano: int,
        keys: Sequence[str],
        who: str,
    ) -> str:
        """Write down that a plan may cost so much, and return the approval's id."""
        with self.transaction():
            return self.approvals.add(
                APPROVED,
                at=self._clock(),
                plan=plan,
                folder=folder,
                stage=stage,
                ceiling=ceiling_nano,
                who=who,
                keys=keys,
            )

    def decline(self, *, plan: str, folder: str, stage: str, who: str) -> None:
        """Write down that a plan shall not be paid for."""
        with self.transaction():
            self.approvals.add(
                DECLINED,
                at=self._clock(),
                plan=plan,
                folder=folder,
                stage=stage,
                ceiling=0,
                who=who,
                keys=(),
            )

    def decisions(self) -> list[Decision]:
        """Return what was approved and declined, in order, with what was spent on it."""
        return [
            Decision(*made[1:-1], spent_nano=self.ledger.spent_under(made.id))
            for made in self.made_decisions()
        ]

    def made_decisions(self) -> list[Approval]:
        """Return the decisions with the keys they cover."""
        with self._explained():
            return self.approvals.all()

    def rows(self, since: float = 0, plan: str | None = None) -> list[LedgerRow]:
        """Return the ledger from an instant on, of one plan or of all, in order."""
        with self._explained():
            return self.ledger.rows(since, plan)

    def totals(self, by: Sequence[str]) -> list[Total]:
        """Add the ledger up by any of `folder`, `stage`, `model` and `day` (UTC)."""
        with self._explained():
            return self.ledger.totals(by)

    def spent_since(self, instant: float, *, auto_only: bool = False) -> int:
        """Return what counts as spent since an instant, in nano-dollars."""
        with self._explained():
            return self.ledger.spent_since(instant, auto_only)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing. One inside another is undone by itself."""
        start, end, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        if self._db.in_transaction:
            start, end = "SAVEPOINT step", "RELEASE step"
            undo = "ROLLBACK TO step; RELEASE step"
        with self._explained():
            # Taking the write lock first: a reader that turns writer cannot wait its turn.
            self._db.execute(start)
            try:
                yield
            except BaseException:
                for step in undo.split("; "):
                    if self._db.in_transaction:  # a full disk has ended it already
                        self._db.execute(step)
                raise
            self._db.execute(end)

    def _make_tables(self) -> None:
        """Make what is missing, once, whoever else opens the new file."""
        if self._number() is None:
            with self.transaction():
                if self._number() is None:
                    for statement in _TABLES:
                        self._db.execute(statement)
                    self._db.execute("INSERT INTO format VALUES (?)", (_FORMAT,))
        if self._number() != _FORMAT:
            self._db.close()
            raise StoreError(
                f"{self.path} was written by another version of this program. Use that version, "
                "or bring back the file from a backup."
            )

    def _number(self) -> object:
        found = self._db.execute("SELECT number FROM format").fetchone()
        return found[0] if found else None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours, with what to do next."""
        try:
            yield
        except DAMAGE as problem:
            code = getattr(problem, "sqlite_errorname", None) or "SQLITE_ERROR"
            if is_busy(problem):
                raise BusyError(
                    f"{self.path} was locked for {BUSY_SECONDS:.0f} s by another process. "
                    "Wait for that build to end, then try again."
                ) from None
            raise StoreError(
                f"The file of paid answers {self.path} cannot be used ({code}). Free some disk "
                "space if the disk is full; else bring it back from a backup (`kb restore`), or "
                "move it away: its answers are then paid for again."
            ) from None
