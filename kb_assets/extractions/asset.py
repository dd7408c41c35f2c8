"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.extractions.extraction import VERSION
from kb_assets.extractions.run import run
from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    partitions_def=FOLDERS,
    deps=["notes", "chunks", "triage"],
    group_name="3_folder_knowledge",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "paid"},
)
@without_text
def extractions(
    context: dg.AssetExecutionContext, bench: dg.ResourceParam[Workbench]
) -> dg.MaterializeResult:
    """What each chunk says: its structure by rules, its prose by a language model or by rules.

    Next: `entities` and `knowledge` of the whole vault follow by themselves. The [board](/board)
    shows how far every folder is.
    """
    outcome, note = run(bench, context.partition_key)
    return stage_result(outcome, note=note or "none")
