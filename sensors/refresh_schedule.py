"""The week's sweep: every folder is read whatever its file times say, and judged anew.

Three schedules of one hour, because Dagster's schedules ask for one job each: the words of every
folder, the vault (links, build, scores, publishing), and the values of every folder. Where nothing
changed they find that out and write nothing.
"""

import datetime as dt
from dataclasses import dataclass

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.placeholders.listing import begin_listing
from kb_core.errors import KbError
from kb_core.settings import RefreshSettings
from sensors.runs import ASKED_BY_TAG
from sensors.wiring import NOT_BUILT, Job, Wiring, is_built

Evaluated = list[dg.RunRequest] | dg.SkipReason


@dataclass(frozen=True)
class _Part:
    """One of the schedules."""

    name: str
    job: Job
    priority: str  # among what is queued
    description: str
    is_by_folder: bool = True
    begins_listing: bool = False  # so that all that is found carries one instant


def refresh_schedules(wiring: Wiring, settings: RefreshSettings) -> list[dg.ScheduleDefinition]:
    """Return the schedules; none where kb.toml leaves `refresh.schedule` empty."""
    parts = [
        _Part(
            "weekly_words",
            wiring.words,
            "5",
            "Reads every folder again, whatever the file times say.",
            begins_listing=True,
        ),
        _Part(
            "weekly_vault",
            wiring.vault,
            "3",
            "Resolves all links, builds, scores and publishes.",
            is_by_folder=False,
        ),
        _Part(
            "weekly_values",
            wiring.values,
            "-5",
            "Holds the values of every folder's passages against their rules.",
        ),
    ]
    return [_schedule(part, wiring, settings.schedule) for part in parts if settings.schedule]


def _schedule(part: _Part, wiring: Wiring, cron: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=part.name,
        job=part.job,
        cron_schedule=cron,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=part.description,
    )
    @without_text
    def schedule(context: dg.ScheduleEvaluationContext) -> Evaluated:
        try:
            return _evaluate(context, part, wiring)
        except (KbError, OSError) as problem:
            return dg.SkipReason(str(problem))

    return schedule


def _evaluate(context: dg.ScheduleEvaluationContext, part: _Part, wiring: Wiring) -> Evaluated:
    home = wiring.open_bench().home
    if not is_built(home):
        return dg.SkipReason(NOT_BUILT)
    if _was_asked_since(context, part.name):
        return dg.SkipReason("The sweep of a later hour that was missed stands for this one.")
    if part.begins_listing:
        begin_listing(home, dt.datetime.fromtimestamp(wiring.clock(), dt.UTC))
    tags = {**wiring.run_tags(), ASKED_BY_TAG: part.name, "dagster/priority": part.priority}
    partitions = sorted(home.folders()) if part.is_by_folder else [None]
    # Without a run key: see vault_changes.
    return [dg.RunRequest(partition_key=key, tags=tags) for key in partitions]


def _was_asked_since(context: dg.ScheduleEvaluationContext, name: str) -> bool:
    """Tell whether this schedule asked for runs after the hour that it is evaluated for.

    A machine that slept for weeks has several hours to make up for; one sweep is enough.
    """
    wanted = dg.RunsFilter(
        tags={ASKED_BY_TAG: name}, created_after=context.scheduled_execution_time
    )
    return bool(context.instance.get_runs(filters=wanted, limit=1))
