"""What one run has come to so far, whether it goes on, and how fast it may go.

A run stops once, for the first reason it meets; what is in flight then still ends and is kept.
"""

import asyncio
import datetime as dt
import random
import time
from collections.abc import Callable, Sequence

from resources.llm import PauseError
from resources.paid_items import Item, PaidOutcome

CEILING = "ceiling"
TIME = "time"
_LOOK_SECONDS = 0.2  # between two looks at the deadline
_MOST_PAUSES = 6  # without any answer in between
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_TOO_LONG_SECONDS = 600.0


class PaidRun:
    """The requests of one run, without those that are over."""

    def __init__(
        self,
        items: Sequence[Item],
        deadline: Callable[[], bool],
        progress: Callable[[int, int], None],
    ) -> None:
        self.pending = {item.request.key: item for item in items}
        self.outcome = PaidOutcome()
        self.is_stopped = False
        self._deadline, self._progress = deadline, progress
        self._total = len(self.pending)

    def known(self, key: str) -> None:
        """Count a request that had an answer."""
        self.outcome.cached += 1
        self._over(key)

    def answered(self, key: str) -> None:
        """Count an answer that has come and is kept."""
        self.outcome.answered += 1
        self._over(key)

    def failed(self, key: str, reason: str) -> None:
        """Count a request that gets no answer."""
        self.outcome.failed[key] = reason
        self._over(key)

    def stop(self, kind: str, words: str) -> None:
        """Let nothing new begin."""
        if not self.is_stopped:
            self.is_stopped = True
            self.outcome.stop_kind, self.outcome.stopped_by = kind, words

    def note(self, kind: str, words: str) -> None:
        """Say why some requests wait while others go on; what was said first stays."""
        if not self.outcome.stop_kind:
            self.outcome.stop_kind, self.outcome.stopped_by = kind, words

    def is_over(self) -> bool:
        """Tell whether nothing new may begin."""
        if not self.is_stopped and self._deadline():
            self.stop(TIME, "The time for this run is up; the next run goes on from here.")
        return self.is_stopped

    async def sleep(self, seconds: float) -> bool:
        """Sleep, unless the run is over; tell whether it still goes on."""
        end = time.monotonic() + seconds
        while not self.is_over():
            rest = end - time.monotonic()
            if rest <= 0:
                return True
            await asyncio.sleep(min(rest, _LOOK_SECONDS))
        return False

    def end(self) -> PaidOutcome:
        """Return what came of the run."""
        self.outcome.waiting = len(self.pending)
        return self.outcome

    def _over(self, key: str) -> None:
        self.pending.pop(key, None)
        self._progress(self._total - len(self.pending), self._total)


class Pace:
    """One pause for all requests in flight, and so many tokens a minute."""

    def __init__(self, run: PaidRun, tokens_per_minute: int, clock: Callable[[], float]) -> None:
        self.mark = 0  # pauses so far: a request that went out before one is no reason for another
        self._run, self._clock = run, clock
        self._rate = tokens_per_minute / 60
        self._pauses = 0  # since the last answer
        self._until = self._next = 0.0

    async def turn(self, tokens: int) -> bool:
        """Wait until a request may go out; tell whether the run still goes on."""
        if self._rate:
            now = time.monotonic()
            mine = max(now, self._next)
            self._next = mine + tokens / self._rate
            if not await self._run.sleep(mine - now):
                return False
        while (rest := self._until - time.monotonic()) > 0:
            if not await self._run.sleep(rest):
                return False
        return not self._run.is_over()

    def success(self) -> None:
        """Take an answer as a sign that the server copes."""
        self._pauses = 0

    def pause(self, problem: PauseError, mark: int) -> None:
        """Hold everything for as long as the server wants, or longer each time it does not say."""
        asked = problem.seconds or 0.0
        if asked > _TOO_LONG_SECONDS:
            until = dt.datetime.fromtimestamp(self._clock() + asked, dt.UTC)
            words = f"The model's server wants no requests before {until:%Y-%m-%d %H:%M} UTC."
            self._run.stop("LLMDownError", f"{words} All that was paid for is kept.")
            return
        if mark == self.mark:
            self.mark += 1
            self._pauses += 1
        if self._pauses > _MOST_PAUSES:
            words = f"The model's server was busy {self._pauses} times without an answer between."
            self._run.stop("LLMDownError", f"{words} All that was paid for is kept; try later.")
            return
        growing = _FIRST_PAUSE_SECONDS * 2 ** (self._pauses - 1) * random.uniform(0.75, 1.25)
        seconds = min(asked or growing, _LONGEST_PAUSE_SECONDS)
        self._until = max(self._until, time.monotonic() + seconds)
