"""Pause Python's search for garbage while millions of rows are made that will all be kept.

It goes through everything there is again and again: two fifths of the time that knowledge takes,
measured at 53,000 claims. Rows hold no cycles, so nothing is left behind meanwhile.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Pause it, and let it go on as it was."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
