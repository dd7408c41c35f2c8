"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.spending.run import VERSION, run
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["chunks", "retyping"],
    group_name="3_folder_knowledge",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def spending_plan(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """What the folder's language model has not answered yet, and what that would cost.

    Next: what is below the limit for a day goes on by itself; the rest waits for your word on the
    [board](/board), or `kb approve`.
    """
    outcome, note = run(bench.home, context.partition_key)
    return stage_result(outcome, note=note or "none")
