"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.keyword_index.run import run
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench
from kb_search.keyword import VERSION


@dg.asset(
    partitions_def=FOLDERS,
    deps=["chunks"],
    group_name="2_local_model",
    kinds={"numpy"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def keyword_index(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """Which words stand in which passages of a folder, for keyword search.

    Next: `build` and `published` follow by themselves; then `kb search` finds these words.
    """
    return stage_result(run(bench.home, context.partition_key))
