"""How much of this machine a process may use."""

import os


def cores() -> int:
    """Return how many cores this process may use; a container may grant fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
