"""Read what a Dagster run says of itself: its counts, and why a step failed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import dagster as dg

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
    return any(_INTERRUPTED in message for message in _raw_messages(result.all_events))


def failures_of(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return each failed step's own message; steps that were only skipped say nothing."""
    return list(messages_in(result.all_events))


def messages_in(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Yield what each step failure among a run's events says; never an unexpected error's text."""
    for message in _raw_messages(events):
        # Dagster puts the class's name before the message.
        name, _, text = message.partition(": ")
        is_ours = name.startswith(("kb_", "resources.")) and name.endswith("Error")
        # An unexpected error's text might quote a note: its class alone is shown.
        yield text if is_ours else f"an unexpected {name}; the run's page has the details"


def _raw_messages(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Yield the innermost cause of each step that failed: `package.Class: text`."""
    for event in events:
        if not event.is_step_failure:
            continue
        error: Any = event.step_failure_data.error
        while error is not None and error.cause is not None:
            error = error.cause
        yield error.message.strip() if error is not None else "unknown"
