"""The Dagster side of the stage: names and versions. No logic lives here."""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.lines.run import VERSION, run
from kb_assets.results import stage_result
from kb_assets.workbench import Workbench


@dg.asset(
    deps=["knowledge"],
    group_name="4_vault_knowledge",
    kinds={"numpy"},
    code_version=VERSION,
    tags={"cost": "local-time"},
)
@without_text
def line_vectors(bench: dg.ResourceParam[Workbench]) -> dg.MaterializeResult:
    """A vector for what each link and claim says, so that an answer keeps those that fit.

    Next: while lines are pending, materialize it again: it goes on where it stopped.
    """
    outcome, note = run(bench)
    return stage_result(outcome, note=note or "none")
