"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.placeholders.observe import VERSION
from kb_assets.placeholders.run import run
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    group_name="1_read",
    kinds={"parquet"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def placeholders(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """Which files a folder holds, which of them can be read, and which notes are new.

    Next: `notes` of the same folder. The [board](/board) shows every folder's state.
    """
    return stage_result(run(bench.home, context.partition_key, bench.started))
