"""Who is paying for a request just now: a process, a run in it, and an expiry that is renewed.

What a process that died left open is taken over at once when it is known to be gone on this
machine, else when its time is up; and so is what an ended run of this very process left open.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from resources.processes import is_gone, this_process

OWNED_SECONDS = 120.0  # after the last sign of life
RENEW_SECONDS = 20.0
_living: set[str] = set()  # the runs of this process


@contextmanager
def living() -> Iterator[str]:
    """Return a name for a run that lives while the block runs."""
    owner = this_process()
    _living.add(owner)
    try:
        yield owner
    finally:
        _living.discard(owner)


def is_alive(owner: str, until: float, now: float) -> bool:
    """Tell whether an owner is at work. One of an unknown machine is, until its time is up."""
    if owner in _living:
        return True
    process = this_process().rpartition(":")[0]
    if owner.count(":") != 2 or owner.rpartition(":")[0] == process:
        return False
    return until > now and not is_gone(owner)
