"""The Dagster side of the scores: names, versions and what the page shows. No logic lives here."""

import dagster as dg

from eval_assets.evaluation import evaluate
from eval_assets.folder_scores import score_folder
from eval_assets.report_page import folder_markdown, report_markdown
from eval_assets.scoring import VERSION
from kb_assets.automation import WHEN_CONTENT_CHANGED
from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.workbench import Workbench


@dg.asset(
    deps=["build"],
    group_name="5_judge",
    kinds={"json"},
    code_version=VERSION,
    tags={"cost": "free"},
    automation_condition=WHEN_CONTENT_CHANGED,
)
@without_text
def eval_report(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """How well the new build answers the questions you gave; switch to Plots for its history.

    Next: `published` follows by itself. Without questions yet: `kb questions suggest`.
    """
    done = evaluate(bench.home)
    return dg.MaterializeResult(
        metadata={
            **done.figures,
            "report": dg.MetadataValue.md(report_markdown(bench.home, done)),
            "build": done.build,
            "variant": done.variant or "none",
            "why_not": done.why_not or "none",
        },
        data_version=dg.DataVersion(f"{done.build}-{done.stamp}"),
    )


@dg.asset(
    deps=["build"],
    partitions_def=FOLDERS,
    group_name="5_judge",
    kinds={"json"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def eval_scores(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """How well one folder's questions are answered: asked in the folder, and in the whole vault.

    Next: nothing, `kb build` scores the folders that moved. The [board](/board) draws them all.
    """
    done = score_folder(bench.home, context.partition_key)
    return dg.MaterializeResult(
        metadata={
            **done.figures,
            "report": dg.MetadataValue.md(folder_markdown(done)),
            "build": done.build,
            "variant": done.variant or "none",
            "why_not": done.why_not or "none",
        },
        data_version=dg.DataVersion(done.stamp),
    )
