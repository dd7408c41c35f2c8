"""What the assets are handed: the home, and how to report progress and to know when to stop."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from resources.home import Home

Progress = Callable[[str, int, int], None]  # stage and folder, done, total


def _say_nothing(_stage: str, _done: int, _total: int) -> None:
    """Report to nobody."""


def _go_on() -> bool:
    return False


@dataclass(frozen=True)
class Workbench:
    """One process's view of a home while it builds."""

    home: Home
    progress: Progress = _say_nothing
    is_time_up: Callable[[], bool] = _go_on
    may_pay: bool = False  # ask language models for what they have not answered yet
    # One start for everything this process observes outside of a listing of the whole vault.
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
