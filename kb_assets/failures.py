"""How a stage may fail: its error goes into Dagster's event log, which is kept and shown.

Errors raised on purpose hold counts, paths and ids and pass as they are, without what led to
them. So do the system's own. Any other may quote what it choked on, so only its kind and its
place are told. What a repeat cannot mend is marked so: no retry policy of Dagster tries it again.
"""

import functools
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import dagster as dg

from kb_core import errors
from kb_core.errors import (
    ApprovalError,
    ContractError,
    DefectError,
    HomeError,
    KbError,
    SettingsError,
    VaultError,
)

# Equal input gives these again, until a person mends the vault, kb.toml or the code. The others
# may be over by themselves: a lease that was taken, a full disk, a server that was down.
PERMANENT: tuple[type[KbError], ...] = (
    SettingsError,
    HomeError,
    VaultError,
    ContractError,
    ApprovalError,
)
_FRAMES = 4  # of the trail: enough to find the line, few enough to read
_OURS = ("kb_", "resources.")

P = ParamSpec("P")
T = TypeVar("T")


class Failed(NamedTuple):
    """Why a step failed: the error's class, its words, and whether a repeat could help."""

    kind: str
    message: str

    @property
    def is_permanent(self) -> bool:
        """Tell whether equal input would give the same again."""
        return self.is_a(*PERMANENT)

    def is_a(self, *kinds: type[KbError]) -> bool:
        """Tell whether the error is of one of these kinds."""
        found = getattr(errors, self.kind, None)
        return isinstance(found, type) and issubclass(found, kinds)


def without_text(compute: Callable[P, T]) -> Callable[P, T]:
    """Let no error of an asset, a check or a sensor carry note text or keys."""

    @functools.wraps(compute)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return compute(*args, **kwargs)
        except PERMANENT as problem:
            problem.__cause__, problem.__suppress_context__ = None, True
            raise dg.Failure(description=str(problem), allow_retries=False) from problem
        except (KbError, OSError) as problem:
            raise problem from None
        except dg.DagsterError:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, its words stay here
            told = DefectError(_in_places(problem))
        raise told

    return guarded


def failures_in(events: Iterable[dg.DagsterEvent]) -> Iterator[Failed]:
    """Yield what each step failure among a run's events says; never an unexpected error's text."""
    for message in innermost_causes(events):
        # Dagster puts the class's name before the message.
        name, _, text = message.partition(": ")
        kind = name.rpartition(".")[2]
        if name.startswith(_OURS) and name.endswith("Error"):
            yield Failed(kind, text)
        else:
            # An unexpected error's text might quote a note: its class alone is shown.
            yield Failed(kind, f"an unexpected {name}; the run's page has the details")


def innermost_causes(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Yield the innermost cause of each step that failed: `package.Class: text`."""
    for event in events:
        if not event.is_step_failure:
            continue
        error: Any = event.step_failure_data.error
        while error is not None and error.cause is not None:
            error = error.cause
        yield error.message.strip() if error is not None else "unknown"


def _in_places(problem: Exception) -> str:
    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    trail = " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in reversed(frames)
    )
    return (
        f"{type(problem).__name__} at {trail}. Nobody expected this: please report that line "
        "(it holds nothing of your notes). The last build goes on answering."
    )
