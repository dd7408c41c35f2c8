"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.chunks.chunker import VERSION
from kb_assets.chunks.run import run
from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["notes"],
    group_name="2_local_model",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "free"},
)
@without_text
def chunks(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """Passages of each note, cut at headings, each with the date it was written.

    Next: `keyword_index` of the same folder, then its `embeddings`.
    """
    return stage_result(run(bench.home, context.partition_key))
