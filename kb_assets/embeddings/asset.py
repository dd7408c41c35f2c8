"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.embeddings.run import VERSION, run
from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["chunks"],
    group_name="2_local_model",
    kinds={"numpy"},
    code_version=VERSION,
    tags={"cost": "local-time"},
)
@without_text
def embeddings(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """A vector for each passage, so that a question finds what is said in other words.

    Next: while passages are pending, materialize it again: it goes on where it stopped.
    The [board](/board) says how long that takes.
    """
    outcome, note = run(bench, context.partition_key)
    return stage_result(outcome, note=note or "none")
