"""The job by which somebody lets money be spent: tied to a plan, its folder, its stage, a ceiling.

A plan's id is a hash of what would be sent: nobody guesses it, and it is another one as soon as
anything changed. An approval whose folder or stage is not the plan's, or whose plan does not wait,
fails and spends nothing. The stage that spends works everything out once more.
"""

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.gate import Standing, approve, standing
from kb_assets.workbench import Workbench
from kb_core.errors import ApprovalError
from kb_core.money import DOLLAR, dollars

ASSET = "spend_approvals"
JOB = "approve_spend"


class Approval(dg.Config):
    """What is approved; `kb plan` and the board say what to put here."""

    plan: str
    folder: str
    stage: str
    usd: float
    who: str = "somebody at the Dagster page"


@dg.op
@without_text
def approve_plan(
    context: dg.OpExecutionContext, config: Approval, bench: dg.ResourceParam[Workbench]
) -> None:
    """Record the approval, here and in the home's ledger."""
    found = [each for each in standing(bench.home) if each.plan.plan_id == config.plan]
    if not found or config.folder not in (found[0].folder, found[0].plan.folder):
        raise _refused(config, "folder")
    if found[0].plan.stage != config.stage:
        raise _refused(config, "stage")
    approved = approve(bench.home, config.plan, config.usd, config.who)
    context.log_event(event_of(approved, config.usd, config.who, "approved"))


@dg.job(name=JOB, description="Let a plan that waits be carried out, for so many dollars at most.")
def approve_spend() -> None:
    """Approve one plan."""
    approve_plan()


def event_of(
    decided: Standing, ceiling_usd: float, who: str, decision: str
) -> dg.AssetMaterialization:
    """Return what stands in the page's history of a decision: ids, counts and dollars alone."""
    return dg.AssetMaterialization(
        ASSET,
        description=f"{decision}: at most {dollars(round(ceiling_usd * DOLLAR))}",
        metadata={
            "plan": decided.plan.plan_id,
            "folder": decided.plan.folder,
            "stage": decided.plan.stage,
            "requests": decided.items,
            "estimated_usd": decided.plan.cost_nano / DOLLAR,
            "ceiling_usd": ceiling_usd,
            "who": who,
            "decision": decision,
        },
    )


def _refused(config: Approval, what: str) -> ApprovalError:
    return ApprovalError(
        f"No plan {config.plan[:12]!r} waits for this {what}. `kb plan` and the board list what "
        "waits; a plan has another name as soon as its notes, its model or its prompt are others. "
        "Nothing is spent."
    )
