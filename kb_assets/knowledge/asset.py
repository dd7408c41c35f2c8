"""The Dagster side of the stage: names and versions. No logic lives here."""

import dagster as dg

from kb_assets.automation import WHEN_CONTENT_CHANGED
from kb_assets.failures import without_text
from kb_assets.knowledge.run import VERSION, run
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    deps=["notes", "chunks", "extractions", "retyping", "entities"],
    group_name="4_vault_knowledge",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "free"},
    automation_condition=WHEN_CONTENT_CHANGED,
)
@without_text
def knowledge(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """How things are linked, what is claimed of them and when, and what replaced what.

    Next: nothing, it follows by itself; `kb search` reads it.
    """
    return stage_result(run(bench.home))
