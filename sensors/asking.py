"""When may a run be asked for again that did not help? Pure.

What failed is asked for again, later each time, so that no needed run is ever lost; what a repeat
cannot mend is not, until the state of things it failed over is another one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kb_assets.failures import Failed
from kb_core.errors import VaultError
from sensors.memory import NEVER, Asked

MOST_NAMED = 8  # things one skip reason names

LastFailure = Callable[[str, str | None, float], Failed | None]


@dataclass(frozen=True)
class Request:
    """A run to ask for: which job, of which folder, for the how manieth time."""

    job: str
    partition: str | None
    times: int = 1


def ask(
    held: dict[str, Asked],
    key: str,
    request: Request,
    *,
    situation: str,
    now: float,
    last_failure: LastFailure,
) -> tuple[Request | None, str]:
    """Return the run to ask for, or why it is not asked for now. Notes it in `held`.

    `situation` names the state of things that the run would be over: in a new one nothing counts
    that was before.
    """
    before = held.get(key, NEVER)
    if before.situation == situation:
        failed = last_failure(request.job, request.partition, before.at)
        if failed and is_final(failed):
            return None, f"failed, and a repeat would not help: {failed.message}"
        if now < before.next_at():
            left = f"{_runs(before.times)}, asked for again in {spoken(before.next_at() - now)}"
            what = f"failed: {failed.message}" if failed else "is not done"
            return None, f"{what} ({left})"
    held[key] = before.again(situation, now)
    return Request(request.job, request.partition, held[key].times), ""


def is_final(failed: Failed) -> bool:
    """Tell whether asking again over an equal state of things is no use.

    What was wrong with the vault may be over (it was mounted again, the loss approved), and a
    sensor looks for itself before it asks.
    """
    return failed.is_permanent and not failed.is_a(VaultError)


def listed(words: Sequence[str], otherwise: str) -> str:
    """Put what waits into one skip reason."""
    if not words:
        return otherwise
    shown = [each.rstrip(".") for each in words[:MOST_NAMED]]
    more = len(words) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown) + "."


def spoken(seconds: float) -> str:
    """Say a time span: 4 s, 3 min, 2 h."""
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def counted(number: int, thing: str) -> str:
    """Say how many of a thing: 1 folder, 3 folders."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def moved(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the keys whose value is another one or new, sorted."""
    return sorted(key for key, value in new.items() if old.get(key) != value)


def _runs(number: int) -> str:
    return counted(number, "run")
