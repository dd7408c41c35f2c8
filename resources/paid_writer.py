"""One thread that writes to the paid store, so that the loop that talks to a model never waits.

Whatever is asked of it while it writes is written together next: with many answers a second, one
commit to the disk serves several of them. A job is done when it is on the disk, not before. The
same thread keeps renewing what the run holds.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from kb_core.errors import BusyError, KbError
from resources.paid_owners import OWNED_SECONDS, RENEW_SECONDS
from resources.paid_store import PaidStore

T = TypeVar("T")
Job = Callable[[PaidStore], Any]
_Asked = tuple[Job, "asyncio.Future[Any]"]
# A paid answer waits for whoever holds the file: each of these is half a minute.
_BUSY_TRIES = 10


class PaidWriter:
    """Jobs on the store, from one event loop. Use `with`; at its end all jobs are done."""

    def __init__(self, path: Path, owner: str, clock: Callable[[], float]) -> None:
        self._path, self._owner, self._clock = path, owner, clock
        self._jobs: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="paid-writer", daemon=True)
        self._renewed = time.monotonic()

    def __enter__(self) -> Self:
        """Start the thread."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the jobs; what this run still holds open is lost."""
        self._jobs.put(None)
        self._thread.join()

    def do(self, job: Callable[[PaidStore], T]) -> "asyncio.Future[T]":
        """Have a job done in a transaction; the future holds what it returned or raised."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put((job, done))
        return done

    def _work(self) -> None:
        try:
            store = PaidStore(self._path, self._clock)
        except KbError as problem:
            self._refuse(problem)
            return
        with store:
            is_over = False
            while not is_over:
                jobs, is_over = self._next()
                self._commit(store, jobs)
                self._renew(store, is_over)

    def _next(self) -> tuple[list[_Asked], bool]:
        """Return all jobs that wait, or none when it is time to renew; and if they are the last."""
        jobs: list[_Asked] = []
        try:
            job = self._jobs.get(timeout=RENEW_SECONDS)
            while job is not None:
                jobs.append(job)
                job = self._jobs.get_nowait()
        except queue.Empty:
            return jobs, False
        return jobs, True

    def _commit(self, store: PaidStore, jobs: Sequence[_Asked]) -> None:
        if not jobs:
            return
        results: list[tuple[Any, Exception | None]]
        for attempt in range(_BUSY_TRIES):
            try:
                with store.transaction():
                    results = [_tried(store, job) for job, _ in jobs]
                break
            except BusyError as problem:
                results = [(None, problem)] * len(jobs)
                if attempt + 1 == _BUSY_TRIES:
                    break
            except KbError as problem:  # nothing of it was written
                results = [(None, problem)] * len(jobs)
                break
        futures = [done for _, done in jobs]
        self._loop.call_soon_threadsafe(_deliver, futures, results)

    def _renew(self, store: PaidStore, is_over: bool) -> None:
        """Give a sign of life from time to time, and at the end give back what is held."""
        if not is_over and time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self._renewed = time.monotonic()
        try:
            with store.transaction():
                until = self._clock() + OWNED_SECONDS
                store.ledger.renew(self._owner, until)
                store.parcels.renew(self._owner, until)
                for row in store.ledger.in_flight(self._owner) if is_over else ():
                    if row.owner == self._owner and not row.parcel:
                        store.ledger.lose(row.id)
        except KbError:
            return  # a busy moment: the next sign comes in time, and a dead owner's rows are found

    def _refuse(self, problem: KbError) -> None:
        """Answer every job with why the file could not be opened."""
        while (job := self._jobs.get()) is not None:
            self._loop.call_soon_threadsafe(_deliver, [job[1]], [(None, problem)])


def _tried(store: PaidStore, job: Job) -> tuple[Any, Exception | None]:
    """Do one job; its failure undoes it alone."""
    try:
        with store.transaction():
            return job(store), None
    except Exception as problem:
        if isinstance(problem, KbError):
            raise  # the file's trouble is everybody's
        return None, problem


def _deliver(
    futures: Sequence["asyncio.Future[Any]"], results: Sequence[tuple[Any, Exception | None]]
) -> None:
    for done, (value, problem) in zip(futures, results, strict=True):
        if done.done():  # its run was given up meanwhile
            continue
        if problem is None:
            done.set_result(value)
        else:
            done.set_exception(problem)
