"""Say what a long run is doing: one line a stage and folder, with the time left."""

import time
from collections.abc import Callable

from kb_serve.output import visible

_SECONDS_BETWEEN_LINES = 10.0


class ProgressLines:
    """Turn progress calls into lines: at the end of a piece of work, and every ten seconds."""

    def __init__(self, say: Callable[[str], None], duration: Callable[[float], str]) -> None:
        self._say = say
        self._duration = duration
        self._begun: dict[str, tuple[float, int]] = {}
        self._last = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that `done` of `total` pieces of `what` are done."""
        what = visible(what)
        now = time.monotonic()
        start, first = self._begun.setdefault(what, (now, done))
        if done < total and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        passed = now - start
        fresh = done - first
        if done >= total or not fresh:
            self._say(f"  {what}: {done:,} of {total:,}")
            return
        left = passed / fresh * (total - done)
        speed = fresh / passed if passed else 0.0
        self._say(f"  {what}: {done:,} of {total:,}, {speed:.1f}/s, {self._duration(left)} left")
