"""Dagster's composition root: the one file that sees every package.

Loading it opens no connection and needs no secret. The home is the working directory's, or KB_HOME.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg

from eval_assets.assets import eval_report, eval_scores
from eval_assets.evaluation import is_fresh as evaluation_is_fresh
from eval_assets.folder_scores import folders_to_score
from kb_assets.approvals import approve_spend
from kb_assets.build.asset import build, published
from kb_assets.checks import (
    CHECKS,
    answers_check,
    contracts_check,
    files_check,
    freshness_check,
    spending_check,
    values_check,
    vectors_check,
)
from kb_assets.chunks.asset import chunks
from kb_assets.embeddings.asset import embeddings
from kb_assets.entities.asset import entities
from kb_assets.extractions.asset import extractions
from kb_assets.keyword_index.asset import keyword_index
from kb_assets.knowledge.asset import knowledge
from kb_assets.lines.asset import line_vectors
from kb_assets.note_links.asset import note_links
from kb_assets.notes.asset import notes
from kb_assets.placeholders.asset import placeholders
from kb_assets.retyping.asset import retyping
from kb_assets.spending.asset import spending_plan
from kb_assets.triage.asset import triage
from kb_assets.workbench import Workbench
from kb_core.errors import SettingsError
from kb_core.settings import RefreshSettings, Settings, find_home, read_settings
from kb_serve.orphan_runs import is_orphan, run_tags
from resources.home import Home
from sensors.after_build import after_build
from sensors.failure_alerts import failure_alerts
from sensors.paid_gate import paid_gate
from sensors.refresh_schedule import refresh_schedules
from sensors.runs import ASKED_BY_TAG
from sensors.vault_changes import vault_changes
from sensors.wiring import TIME_BOX_TAG, Job, Wiring

WORDS = "words"
VECTORS = "vectors"
LINES = "lines"
PAID = "paid"
VAULT = "vault"
PUBLISH = "publish"
SCORES = "scores"
VALUES = "values"


def _with_checks(
    assets: Sequence[dg.AssetsDefinition], *checks: dg.AssetChecksDefinition
) -> dg.AssetSelection:
    """Select assets and these checks of theirs: a slow check has a job of its own."""
    return dg.AssetSelection.assets(*assets).without_checks() | dg.AssetSelection.checks(*checks)


# A failed step is never run again as it is: what a repeat could mend, the sensor asks for again.
_NO_RETRY = {"dagster/retry_on_asset_or_op_failure": "false"}


def _job(name: str, selection: dg.AssetSelection, description: str) -> Job:
    return dg.define_asset_job(name, selection=selection, description=description, tags=_NO_RETRY)


# What a language model has a part in. Only the job of that name, or a person, has it asked.
_READING = [triage, extractions, retyping, spending_plan]

_WORDS_JOB = _job(
    WORDS,
    _with_checks(
        [placeholders, notes, chunks, keyword_index, *_READING],
        files_check,
        contracts_check,
        spending_check,
    ),
    "Read one folder of the vault, and make its words and what it says searchable.",
)
_VECTORS_JOB = _job(
    VECTORS,
    _with_checks([embeddings], vectors_check),
    "Make the vectors of one folder's passages.",
)
_LINES_JOB = _job(
    LINES,
    dg.AssetSelection.assets(line_vectors),
    "Make the vectors of links and claims.",
)
_PAID_JOB = _job(
    PAID,
    _with_checks(_READING, spending_check),
    "Have a language model read one folder, as far as that is affordable or approved.",
)
_VAULT_JOB = _job(
    VAULT,
    _with_checks(
        [note_links, entities, knowledge, build, eval_report, published],
        answers_check,
        freshness_check,
    ),
    "Resolve all links, put together what the vault says, score and publish it.",
)
_PUBLISH_JOB = _job(
    PUBLISH,
    _with_checks([build, eval_report, published], answers_check, freshness_check),
    "Put everything together, score it and publish it.",
)
_SCORES_JOB = _job(
    SCORES,
    dg.AssetSelection.assets(eval_scores),
    "Score one folder with the questions that it answers alone.",
)
_VALUES_JOB = _job(
    VALUES,
    # With its asset: a job of checks alone cannot be run for one folder.
    _with_checks([chunks], values_check),
    "Hold the values of one folder's passages against their rules.",
)
_JOBS = [
    _WORDS_JOB,
    _VECTORS_JOB,
    _LINES_JOB,
    _PAID_JOB,
    _VAULT_JOB,
    _PUBLISH_JOB,
    _SCORES_JOB,
    _VALUES_JOB,
]


def make_definitions(bench: Workbench | None = None) -> dg.Definitions:
    """Return all assets, jobs and sensors; without a workbench, each run opens the home it finds.

    A kb.toml that cannot be read leaves the sensors' defaults: they and the runs say what is wrong.
    """
    settings = _settings(bench)
    wiring = make_wiring(bench)
    return dg.Definitions(
        assets=[
            placeholders,
            notes,
            note_links,
            chunks,
            keyword_index,
            embeddings,
            triage,
            extractions,
            retyping,
            spending_plan,
            entities,
            knowledge,
            line_vectors,
            build,
            eval_report,
            eval_scores,
            published,
        ],
        asset_checks=CHECKS,
        jobs=[*_JOBS, approve_spend],
        sensors=[
            vault_changes(wiring, settings.refresh),
            _follow_folders(settings.refresh),
            paid_gate(wiring, settings.refresh),
            after_build(wiring, settings.refresh),
            failure_alerts(wiring),
        ],
        schedules=refresh_schedules(wiring, settings.refresh),
        resources={"bench": dg.ResourceDefinition(lambda context: bench_for(bench, context.run))},
        # Steps in one process: 4 to 6 times cheaper than a process a step for work this small.
        executor=dg.in_process_executor,
    )


def _follow_folders(settings: RefreshSettings) -> dg.AutomationConditionSensorDefinition:
    return dg.AutomationConditionSensorDefinition(
        "follow_folders",
        target=dg.AssetSelection.assets(
            note_links, entities, knowledge, build, eval_report, published
        ),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=settings.every_seconds,
        run_tags={**run_tags(), **_NO_RETRY, ASKED_BY_TAG: "follow_folders"},
        description="When a folder's content changed: links, knowledge, build, scores and "
        "publishing follow.",
    )


def _settings(bench: Workbench | None) -> Settings:
    if bench:
        return bench.home.settings
    try:
        return read_settings(find_home(None, Path.cwd()))
    except SettingsError:
        return Settings()


def make_wiring(bench: Workbench | None) -> Wiring:
    """Return what the sensors are handed; without a workbench, a tick opens the home it finds."""
    return Wiring(
        open_bench=lambda: bench or _find_bench(),
        words=_WORDS_JOB,
        vectors=_VECTORS_JOB,
        lines=_LINES_JOB,
        paid=_PAID_JOB,
        vault=_VAULT_JOB,
        scores=_SCORES_JOB,
        values=_VALUES_JOB,
        run_tags=run_tags,
        is_orphan=is_orphan,
        scores_are_behind=lambda home: not evaluation_is_fresh(home),
        folders_to_score=folders_to_score,
    )


def bench_for(bench: Workbench | None, run: dg.DagsterRun | None) -> Workbench:
    """Return what a run is handed; a language model is asked by its own job, or by hand alone."""
    by_hand = run is not None and run.job_name.startswith("__")
    may_pay = by_hand or (run is not None and run.job_name == PAID)
    return replace(bench or _bench_of(run), may_pay=may_pay)


def _bench_of(run: dg.DagsterRun | None) -> Workbench:
    """Open the home for a run; one that a sensor asked for may have a time box."""
    bench = _find_bench()
    minutes = run.tags.get(TIME_BOX_TAG) if run else None
    if minutes is None:
        return bench
    until = time.monotonic() + float(minutes) * 60
    return replace(bench, is_time_up=lambda: time.monotonic() >= until)


def _find_bench() -> Workbench:
    return Workbench(Home.open(find_home(None, Path.cwd())))


warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

defs = make_definitions()
