"""Dagster's composition root: the one file that sees every package.

Loading it opens no connection and needs no secret. The home is the working directory's, or KB_HOME.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from eval_assets.assets import eval_report, eval_scores
from kb_assets.build.asset import build, published
from kb_assets.checks import (
    CHECKS,
    answers_check,
    contracts_check,
    files_check,
    freshness_check,
    values_check,
    vectors_check,
)
from kb_assets.chunks.asset import chunks
from kb_assets.embeddings.asset import embeddings
from kb_assets.keyword_index.asset import keyword_index
from kb_assets.note_links.asset import note_links
from kb_assets.notes.asset import notes
from kb_assets.placeholders.asset import placeholders
from kb_assets.workbench import Workbench
from kb_core.settings import find_home
from resources.home import Home

WORDS = "words"
VECTORS = "vectors"
VAULT = "vault"
PUBLISH = "publish"
SCORES = "scores"
VALUES = "values"


def make_definitions(bench: Workbench | None = None) -> dg.Definitions:
    """Return all assets and jobs; without a workbench, each run opens the home it finds."""
    resource = dg.ResourceDefinition(lambda _context: bench or _find_bench())
    return dg.Definitions(
        assets=[
            placeholders,
            notes,
            note_links,
            chunks,
            keyword_index,
            embeddings,
            build,
            eval_report,
            eval_scores,
            published,
        ],
        asset_checks=CHECKS,
        jobs=[
            dg.define_asset_job(
                WORDS,
                selection=_with_checks(
                    [placeholders, notes, chunks, keyword_index], files_check, contracts_check
                ),
                description="Read one folder of the vault and make its words searchable.",
            ),
            dg.define_asset_job(
                VECTORS,
                selection=_with_checks([embeddings], vectors_check),
                description="Make the vectors of one folder's passages.",
            ),
            dg.define_asset_job(
                VAULT,
                selection=_with_checks(
                    [note_links, build, eval_report, published], answers_check, freshness_check
                ),
                description="Resolve all links, put everything together, score and publish it.",
            ),
            dg.define_asset_job(
                PUBLISH,
                selection=_with_checks(
                    [build, eval_report, published], answers_check, freshness_check
                ),
                description="Put everything together, score it and publish it.",
            ),
            dg.define_asset_job(
                SCORES,
                selection=[eval_scores],
                description="Score one folder with the questions that it answers alone.",
            ),
            dg.define_asset_job(
                VALUES,
                # With its asset: a job of checks alone cannot be run for one folder.
                selection=_with_checks([chunks], values_check),
                description="Hold the values of one folder's passages against their rules.",
            ),
        ],
        sensors=[_automation_sensor()],
        resources={"bench": resource},
        # Steps in one process: 4 to 6 times cheaper than a process a step for work this small.
        executor=dg.in_process_executor,
    )


def _with_checks(
    assets: Sequence[dg.AssetsDefinition], *checks: dg.AssetChecksDefinition
) -> dg.AssetSelection:
    """Select assets and these checks of theirs: a slow check has a job of its own."""
    return dg.AssetSelection.assets(*assets).without_checks() | dg.AssetSelection.checks(*checks)


def _automation_sensor() -> dg.AutomationConditionSensorDefinition:
    return dg.AutomationConditionSensorDefinition(
        "follow_folders",
        target=dg.AssetSelection.assets(note_links, build, eval_report, published),
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="When a folder's content changed: links, build, scores and publishing follow.",
    )


def _find_bench() -> Workbench:
    return Workbench(Home.open(find_home(None, Path.cwd())))


warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

defs = make_definitions()
