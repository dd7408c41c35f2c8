"""How a stage may fail: its error goes into Dagster's event log, which is kept and shown.

Errors raised on purpose hold counts, paths and ids and pass as they are, without what led to
them. So do the system's own. Any other may quote what it choked on, so only its kind and its
place are told.
"""

import functools
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import dagster as dg

from kb_core.errors import DefectError, KbError

_FRAMES = 4  # of the trail: enough to find the line, few enough to read

P = ParamSpec("P")
T = TypeVar("T")


def without_text(compute: Callable[P, T]) -> Callable[P, T]:
    """Let no error of an asset or a check carry note text or keys."""

    @functools.wraps(compute)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return compute(*args, **kwargs)
        except (KbError, OSError) as problem:
            raise problem from None
        except dg.DagsterError:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, its words stay here
            told = DefectError(_in_places(problem))
        raise told

    return guarded


def _in_places(problem: Exception) -> str:
    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    trail = " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in reversed(frames)
    )
    return (
        f"{type(problem).__name__} at {trail}. Nobody expected this: please report that line "
        "(it holds nothing of your notes). The last build goes on answering."
    )
