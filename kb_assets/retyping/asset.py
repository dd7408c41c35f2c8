"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.retyping.run import VERSION, run
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["extractions"],
    group_name="3_folder_knowledge",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "paid"},
)
@without_text
def retyping(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """Better types for links that were only known to be related, from their own words.

    Next: `knowledge` of the whole vault follows by itself; new types are proposed by `kb check`.
    """
    outcome, note = run(bench, context.partition_key)
    return stage_result(outcome, note=note or "none")
