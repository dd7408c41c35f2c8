"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.notes.parser import VERSION
from kb_assets.notes.run import run
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["placeholders"],
    group_name="1_read",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def notes(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """A folder's notes, every kept version: title, dates, tags, properties and links as written.

    Next: `chunks` of the same folder. The [board](/board) shows which notes could not be read.
    """
    return stage_result(run(bench.home, context.partition_key))
