"""The Dagster side of the stages: names and versions. No logic lives here."""

import dagster as dg

from kb_assets.automation import WHEN_CONTENT_CHANGED
from kb_assets.build.manifest import VERSION
from kb_assets.build.publish import run_published
from kb_assets.build.run import run_build
from kb_assets.failures import without_text
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    deps=["note_links", "keyword_index", "embeddings", "knowledge", "line_vectors"],
    group_name="4_vault_knowledge",
    kinds={"json"},
    code_version=VERSION,
    tags={"cost": "free"},
    automation_condition=WHEN_CONTENT_CHANGED,
)
@without_text
def build(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """One list of everything that belongs together now: what a search reads from.

    Next: `eval_report` and `published` follow by themselves. The [board](/board) shows what pends.
    """
    outcome = run_build(bench.home)
    return stage_result(outcome, build=outcome.hash)


@dg.asset(
    deps=["build", "eval_report"],
    group_name="5_judge",
    kinds={"json"},
    code_version=VERSION,
    tags={"cost": "free"},
    automation_condition=WHEN_CONTENT_CHANGED,
)
@without_text
def published(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """The build that answers questions; it moves on only when the new one passes its checks.

    Next: ask it, `kb search "…"`. If it stays back, the [board](/board) says why and what to do.
    """
    outcome, verdict = run_published(bench.home)
    return stage_result(
        outcome,
        what_now=dg.MetadataValue.md(verdict.what_now),
        build=outcome.hash,
        answers=verdict.answers,
        why_not=verdict.why_not or "none",
    )
