"""Read what a Dagster run says of itself: its counts, and why a step failed."""

from collections import Counter
from collections.abc import Iterable, Iterator

import dagster as dg

from kb_assets.failures import failures_in, innermost_causes

_INTERRUPTED = dg.DagsterExecutionInterruptedError.__name__


def counts_of(result: dg.ExecuteInProcessResult) -> Counter[str]:
    """Add up the whole numbers that the run's assets reported."""
    counts: Counter[str] = Counter()
    for event in result.get_asset_materialization_events():
        for name, value in event.materialization.metadata.items():
            if isinstance(value.value, int) and not name.startswith("dagster/"):
                counts[name] += value.value
    return counts


def notes_of(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return what the run's assets say is left to do, and why."""
    events = result.get_asset_materialization_events()
    found = (event.materialization.metadata.get("note") for event in events)
    return [str(note.value) for note in found if note is not None and note.value != "none"]


def was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Tell whether the user or the system asked the run to stop: Dagster makes it a failure."""
    return any(_INTERRUPTED in message for message in innermost_causes(result.all_events))


def failures_of(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return each failed step's own message; steps that were only skipped say nothing."""
    return list(messages_in(result.all_events))


def messages_in(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Yield what each step failure among a run's events says; never an unexpected error's text."""
    yield from (failed.message for failed in failures_in(events))
