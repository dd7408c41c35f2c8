"""What Dagster's history says of runs: which are under way, and why the last one failed.

Reads the instance; writes nothing.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence

import dagster as dg

from kb_assets.failures import Failed, failures_in

PARTITION_TAG = "dagster/partition"
ASKED_BY_TAG = "kb/asked-by"

_UNDER_WAY = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
# A run that shows as under way for so long belongs to a machine that lost its power: without an
# end to believing it, its folder would never be read again.
_BELIEVED_FOR = dt.timedelta(hours=6)


def under_way(
    instance: dg.DagsterInstance, is_orphan: Callable[[dg.DagsterRun], bool], now: float
) -> list[dg.DagsterRun]:
    """Return the runs that wait or work, without those whose process is gone."""
    since = dt.datetime.fromtimestamp(now, dt.UTC) - _BELIEVED_FOR
    runs = instance.get_runs(filters=dg.RunsFilter(statuses=_UNDER_WAY, created_after=since))
    return [run for run in runs if not is_orphan(run)]


def partitions_of(runs: Iterable[dg.DagsterRun], jobs: Sequence[str]) -> frozenset[str]:
    """Return the folders that runs of these jobs, or runs somebody put together, are over."""
    return frozenset(
        run.tags[PARTITION_TAG]
        for run in runs
        if PARTITION_TAG in run.tags and (run.job_name in jobs or run.job_name.startswith("__"))
    )


def last_failure(
    instance: dg.DagsterInstance, job: str, partition: str | None, since: float
) -> Failed | None:
    """Return why the newest run of this job failed; None where none began since, or none failed."""
    wanted = dg.RunsFilter(
        job_name=job,
        tags={PARTITION_TAG: partition} if partition else {},
        created_after=dt.datetime.fromtimestamp(since - 1, dt.UTC),
    )
    run = next(iter(instance.get_runs(filters=wanted, limit=1)), None)
    if run is None or run.status != dg.DagsterRunStatus.FAILURE:
        return None
    return next(failures_of(instance, run.run_id), Failed("", "it was ended from outside"))


def failures_of(instance: dg.DagsterInstance, run_id: str) -> Iterator[Failed]:
    """Yield why the run's steps failed."""
    logs = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    yield from failures_in(log.dagster_event for log in logs if log.dagster_event)
