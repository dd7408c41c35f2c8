"""Whether a plan may be paid for: worked out each time from the ledger and the decisions.

Decides alone and spends nothing. A plan's id by itself allows nothing: what counts is which
requests an approval covers, and what is left of it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from kb_core.ids import content_id
from kb_core.money import DOLLAR, dollars, nano
from kb_core.settings import LimitSettings
from resources.approvals import APPROVED, DECLINED, Approval
from resources.paid_store import PaidStore

FREE = "free"
AUTO = "auto"
ALLOWED = "approved"
WAITING = "waiting"
REFUSED = "declined"
MONTH = "month"
_SHOWN = 8  # characters of a plan's id: enough to name it
MAY_ASK = (FREE, AUTO, ALLOWED)


class Plan(NamedTuple):
    """What a stage would ask a model about a folder."""

    plan_id: str
    folder: str  # a partition key, or "*" for the whole vault
    stage: str
    label: str  # of the model
    keys: tuple[str, ...]  # of the requests without an answer
    cost_nano: int  # as expected
    is_local: bool


class Permission(NamedTuple):
    """Whether a plan may be paid for, and how much of it."""

    state: str  # FREE, AUTO, ALLOWED, WAITING, REFUSED or MONTH
    approval: str  # the id of the approval it rests on
    ceiling_nano: int  # what may still be spent; checked again at each call
    why: str  # a sentence for people


def plan_id(
    folder: str, stage: str, identity: str, prompt_version: str, keys: Sequence[str]
) -> str:
    """Name a plan by everything that it would ask, in whatever order it is listed."""
    return content_id(folder, stage, identity, prompt_version, *sorted(keys))


def permission_of(
    store: PaidStore,
    plan: Plan,
    limits: LimitSettings,
    now: float,
    *,
    pending_auto_nano: int = 0,
) -> Permission:
    """Say whether a plan may be paid for at an instant.

    `pending_auto_nano` is what other plans took in this round of decisions without an approval.
    """
    if plan.is_local or not plan.cost_nano or not plan.keys:
        return Permission(FREE, "", 0, "Nothing is to be paid.")
    approval, is_declined = _decided(store, plan)
    if is_declined:
        return Permission(REFUSED, "", 0, f"{_named(plan)} was declined; {_how(plan)}.")
    left = nano(limits.monthly_usd) - store.ledger.spent_in_month(now)
    if left < _one(plan):
        why = (
            f"{_named(plan)} waits: limits.monthly_usd = {limits.monthly_usd:g} leaves "
            f"{dollars(max(left, 0))} for this calendar month (UTC). Raise it in kb.toml, or wait."
        )
        return Permission(MONTH, "", 0, why)
    if approval is not None:
        rest = approval.ceiling_nano - store.ledger.spent_under(approval.id)
        why = f"{_named(plan)} was approved; {dollars(rest)} of it is left."
        return Permission(ALLOWED, approval.id, min(rest, left), why)
    return _by_itself(store, plan, limits, now, pending_auto_nano)


def _decided(store: PaidStore, plan: Plan) -> tuple[Approval | None, bool]:
    """Return the newest approval that covers a plan and has money left, and if it was declined.

    What came before a refusal of this very plan does not count for it.
    """
    keys = frozenset(plan.keys)
    for made in reversed(store.made_decisions()):
        if made.kind == DECLINED and made.plan == plan.plan_id:
            return None, True
        is_meant = (made.kind, made.folder, made.stage) == (APPROVED, plan.folder, plan.stage)
        if not is_meant or not keys <= made.keys:
            continue
        if made.ceiling_nano - store.ledger.spent_under(made.id) >= _one(plan):
            return made, False
    return None, False


def _by_itself(
    store: PaidStore, plan: Plan, limits: LimitSettings, now: float, pending: int
) -> Permission:
    allowed = nano(limits.auto_approve_usd)
    spent = store.ledger.spent_in_day(now) + pending
    if spent + plan.cost_nano <= allowed:
        why = (
            f"{_named(plan)} may be paid for without asking: limits.auto_approve_usd = "
            f"{limits.auto_approve_usd:g} in 24 hours."
        )
        return Permission(AUTO, "", allowed - spent, why)
    why = (
        f"{_named(plan)} waits: {dollars(max(allowed - spent, 0))} is left of what may be spent "
        f"in 24 hours without asking (limits.auto_approve_usd = {limits.auto_approve_usd:g}); "
        f"{_how(plan)}."
    )
    return Permission(WAITING, "", 0, why)


def _one(plan: Plan) -> int:
    """Return what one of a plan's requests costs, by and large."""
    return math.ceil(plan.cost_nano / len(plan.keys))


def _named(plan: Plan) -> str:
    return f"{plan.stage} (about {dollars(plan.cost_nano)} by {plan.label})"


def _how(plan: Plan) -> str:
    cents = math.ceil(plan.cost_nano * 100 / DOLLAR)
    return f"allow it with `kb approve {plan.plan_id[:_SHOWN]} --usd {cents / 100:.2f}`"
