"""The Dagster side of the stage: names, partitions and versions. No logic lives here."""

import dagster as dg

from kb_assets.automation import WHEN_CONTENT_CHANGED
from kb_assets.failures import without_text
from kb_assets.note_links.run import VERSION, run
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    deps=["notes"],
    group_name="1_read",
    kinds={"python"},
    code_version=VERSION,
    tags={"cost": "free"},
    automation_condition=WHEN_CONTENT_CHANGED,
)
@without_text
def note_links(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """Every link of the vault as Obsidian resolves it, and the notes a text names unlinked.

    Next: nothing, it follows by itself; `kb check` lists the links that lead nowhere.
    """
    return stage_result(run(bench.home))
