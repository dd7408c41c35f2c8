"""Runs whose process was killed: Dagster would show them as running for ever.

A run of `kb build` goes on in the build's own process and carries its name as a tag; one that a
sensor asked for ends with the page's process and carries that name. Whoever opens the home next
ends the runs of processes that are gone, so that the page shows them as failed.
"""

import dagster as dg

from resources.processes import is_gone, this_process

TAG = "kb/process"
_OPEN = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING]
_WHY = "The process that ran this was killed. What it finished is kept; the next build goes on."


def run_tags() -> dict[str, str]:
    """Return what a run of this process is marked with."""
    return {TAG: this_process()}


def is_orphan(run: dg.DagsterRun) -> bool:
    """Tell whether the process that a run goes on in, or below, is gone."""
    return TAG in run.tags and is_gone(run.tags[TAG])


def end_orphans(instance: dg.DagsterInstance) -> int:
    """Mark the runs of processes that are gone as failed; return how many."""
    runs = instance.get_runs(filters=dg.RunsFilter(statuses=_OPEN))
    orphans = [run for run in runs if is_orphan(run)]
    for run in orphans:
        instance.report_run_failed(run, message=_WHY)
    return len(orphans)
