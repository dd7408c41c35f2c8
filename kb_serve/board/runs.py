"""What Dagster's history says about folders: their last runs, and how fast vectors were made.

Reads the instance; writes nothing. A run that only scored a folder says nothing about reading it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import dagster as dg

from kb_serve.definitions import SCORES
from kb_serve.run_events import messages_in

PARTITION_TAG = "dagster/partition"

# The first runs of a folder's history that are looked through for one that read it.
_NEWEST = 5
# Fewer passages than this were over before their number told a speed.
_ENOUGH_PASSAGES = 50
_SPEED_RUNS = 3
_STOPPED = dg.DagsterExecutionInterruptedError.__name__
_LOOKED_THROUGH = 30
_UNDER_WAY = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")


@dataclass(frozen=True)
class LastRun:
    """How a folder's last run went."""

    run_id: str
    state: str  # "succeeded", "failed", "stopped", "canceled" or "running"
    at: float  # seconds since 1970, of its end or, while it runs, of its start
    problem: str = ""  # a failed run's own words


def last_runs(instance: dg.DagsterInstance, partitions: Iterable[str]) -> dict[str, LastRun]:
    """Return the last run of each folder that has any, by partition."""
    found = {partition: _last_run(instance, partition) for partition in partitions}
    return {partition: run for partition, run in found.items() if run}


def passages_per_second(instance: dg.DagsterInstance) -> float | None:
    """Return how fast the last runs made vectors on this machine; None if none made enough."""
    key = dg.AssetKey("embeddings")
    made, seconds, runs = 0, 0.0, 0
    for record in instance.fetch_materializations(key, limit=_LOOKED_THROUGH).records:
        number = _embedded(record)
        if number < _ENOUGH_PASSAGES:
            continue
        made, seconds, runs = (
            made + number,
            seconds + _step_seconds(instance, record.run_id),
            runs + 1,
        )
        if runs == _SPEED_RUNS:
            break
    return made / seconds if seconds else None


def _embedded(record: dg.EventLogRecord) -> int:
    event = record.asset_materialization
    value = event.metadata.get("embedded") if event else None
    return value.value or 0 if isinstance(value, dg.IntMetadataValue) else 0


def _step_seconds(instance: dg.DagsterInstance, run_id: str) -> float:
    steps = instance.get_run_step_stats(run_id, ["embeddings"])
    return sum(s.end_time - s.start_time for s in steps if s.start_time and s.end_time)


def _last_run(instance: dg.DagsterInstance, partition: str) -> LastRun | None:
    tags = dg.RunsFilter(tags={PARTITION_TAG: partition})
    for record in instance.get_run_records(tags, limit=_NEWEST):
        run = record.dagster_run
        if run.job_name == SCORES:
            continue
        state = _state(run.status)
        problem = _problem(instance, run.run_id) if state == "failed" else ""
        if _STOPPED in problem:  # the user's own doing: nothing to mend
            state, problem = "stopped", ""
        at = record.end_time or record.start_time or record.create_timestamp.timestamp()
        return LastRun(run.run_id, state, at, problem)
    return None


def _state(status: dg.DagsterRunStatus) -> str:
    if status.value in _UNDER_WAY:
        return "running"
    words = {"SUCCESS": "succeeded", "FAILURE": "failed", "CANCELED": "canceled"}
    return words.get(status.value, status.value.lower())


def _problem(instance: dg.DagsterInstance, run_id: str) -> str:
    logs = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    events = [log.dagster_event for log in logs if log.dagster_event]
    return next(iter(messages_in(events)), "it was ended from outside; the run's page says more")
