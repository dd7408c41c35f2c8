"""Say what language models would cost and what waits: for `kb plan`, `kb build` and the summary."""

from collections.abc import Iterable, Sequence
from typing import Any

from kb_assets.gate import Standing
from kb_core.money import DOLLAR, dollars
from kb_serve.output import counted

COLUMNS = ("folder", "stage", "model", "requests", "about", "plan", "what becomes of it")
_STATES = {
    "free": "costs nothing",
    "auto": "goes on by itself",
    "approved": "approved",
    "declined": "declined",
    "month": "waits: the month's limit is reached",
}


def plan_rows(plans: Iterable[Standing]) -> list[dict[str, Any]]:
    """Return the plans as JSON values."""
    return [
        {
            "folder": each.folder,
            "stage": each.plan.stage,
            "model": each.plan.label,
            "requests": each.items,
            "estimated_nano": each.plan.cost_nano,
            "estimated_usd": each.plan.cost_nano / DOLLAR,
            "batch": each.is_batch,
            "plan": each.plan.plan_id,
            "state": each.permission.state,
            "due": each.is_due,
            "why": each.permission.why,
        }
        for each in plans
    ]


def plan_cells(plans: Iterable[Standing]) -> list[list[str]]:
    """Return the plans as a table's cells."""
    return [
        [
            each.folder,
            each.plan.stage,
            each.plan.label + (" (batch)" if each.is_batch else ""),
            f"{each.items:,}",
            dollars(each.plan.cost_nano),
            each.plan.plan_id[:8],
            _becomes(each),
        ]
        for each in plans
    ]


def plan_lines(plans: Sequence[Standing]) -> list[str]:
    """Say the plans a line each, as a build does before anything is sent."""
    return [
        f"  plan: {each.folder}: {each.plan.stage}, {counted(each.items, 'request')} to "
        f"{each.plan.label}, about {dollars(each.plan.cost_nano)}: " + _becomes(each)
        for each in plans
    ]


def _becomes(each: Standing) -> str:
    """Say what becomes of a plan, and how to change that where somebody has to."""
    if each.permission.state in _STATES:
        return _STATES[each.permission.state]
    cents = -(-each.plan.cost_nano * 100 // DOLLAR)
    return f"waits: kb approve {each.plan.plan_id[:8]} --usd {cents / 100:.2f}"


def waiting_line(plans: Sequence[Standing]) -> str:
    """Say in one sentence what waits for somebody's word; empty if nothing does."""
    waiting = [each for each in plans if each.waits]
    if not waiting:
        return ""
    folders = len({each.plan.folder for each in waiting})
    total = dollars(sum(each.plan.cost_nano for each in waiting))
    return (
        f"{counted(folders, 'folder')} {'waits' if folders == 1 else 'wait'} for your word on what "
        f"the language model may cost, about {total} together: `kb plan` lists them, "
        "`kb approve PLAN --usd X` lets one go on."
    )
