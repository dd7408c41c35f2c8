"""Read what a Dagster run says of itself: its counts, and why a step failed."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import dagster as dg


def counts_of(result: dg.ExecuteInProcessResult) -> Counter[str]:
    """Add up the whole numbers that the run's assets reported."""
    counts: Counter[str] = Counter()
    for event in result.get_asset_materialization_events():
        for name, value in event.materialization.metadata.items():
            if isinstance(value.value, int) and not name.startswith("dagster/"):
                counts[name] += value.value
    return counts


def failures_of(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return each failed step's own message; steps that were only skipped say nothing."""
    return list(_messages(result))


def _messages(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    for event in result.all_events:
        if not event.is_step_failure:
            continue
        error: Any = event.step_failure_data.error
        while error is not None and error.cause is not None:
            error = error.cause
        if error is None:
            yield f"{event.step_key} failed."
            continue
        # Dagster puts the class's name before the message, and a line break behind it.
        name, _, text = error.message.strip().partition(": ")
        yield (
            text
            if name.endswith("Error") and name.startswith(("kb_", "resources."))
            else (f"{event.step_key} failed: {type_only(error.message)}")
        )


def type_only(message: str) -> str:
    """Return an unexpected error's class alone: its text might quote a note."""
    return message.strip().partition(":")[0]
