"""What waits to be paid for, what may go on by itself, and who said so. No Dagster.

Reads the stored plans and the ledger. An approval is tied to a plan, its folder, its stage and its
ceiling; the stage that spends works everything out once more.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from kb_assets.paid_work import paid_file
from kb_core.errors import ApprovalError, KbError
from kb_core.folder_names import shown_path
from kb_core.money import dollars, nano
from resources.home import Home
from resources.paid_store import PaidStore
from resources.spending import MAY_ASK, Permission, Plan, permission_of

TABLE = "spending_plan"
_SHORTEST_PLAN = 6  # characters of a plan's id that may stand for it


class Standing(NamedTuple):
    """One folder's stage with something left to ask, and what becomes of that."""

    folder: str  # as shown
    plan: Plan
    items: int
    is_batch: bool
    permission: Permission

    @property
    def is_due(self) -> bool:
        """Tell whether it may be carried out now."""
        return self.permission.state in MAY_ASK

    @property
    def waits(self) -> bool:
        """Tell whether somebody has to decide."""
        return self.permission.state in ("waiting", "month")


def standing(home: Home, folders: Sequence[str] | None = None) -> list[Standing]:
    """Return every stored plan with something left to ask, by folder and stage.

    What goes on by itself is counted from folder to folder: many small plans are one large one.
    """
    rows = _rows(home, folders)
    if not rows:
        return []  # where rules read alone, no account of money is opened
    found, taken = [], 0
    with PaidStore(paid_file(home)) as store:
        for row in rows:
            permission = permission_of(
                store, row.plan, home.settings.limits, time.time(), pending_auto_nano=taken
            )
            taken += row.plan.cost_nano if permission.state == "auto" else 0
            found.append(row._replace(permission=permission))
    return found


def approve(home: Home, plan: str, usd: float, who: str) -> Standing:
    """Let a plan be carried out for so many dollars at most. Raises ApprovalError.

    `plan` is its id, or a beginning of it that no other has.
    """
    found = _find(home, plan)
    ceiling = nano(usd)
    if ceiling <= 0:
        raise ApprovalError(
            f"A ceiling of {dollars(ceiling)} lets nothing be asked. Give a positive --usd; the "
            f"plan is about {dollars(found.plan.cost_nano)}."
        )
    with PaidStore(paid_file(home)) as store:
        store.approve(
            plan=found.plan.plan_id,
            folder=found.plan.folder,
            stage=found.plan.stage,
            ceiling_nano=ceiling,
            keys=found.plan.keys,
            who=who,
        )
    return _find(home, found.plan.plan_id)


def decline(home: Home, plan: str, who: str) -> Standing:
    """Say that a plan is not to be carried out; it can still be approved. Raises ApprovalError."""
    found = _find(home, plan)
    with PaidStore(paid_file(home)) as store:
        store.decline(
            plan=found.plan.plan_id, folder=found.plan.folder, stage=found.plan.stage, who=who
        )
    return _find(home, found.plan.plan_id)


def _find(home: Home, plan: str) -> Standing:
    if len(plan) < _SHORTEST_PLAN:
        raise ApprovalError(
            f"{plan!r} is too short to name a plan: give at least {_SHORTEST_PLAN} characters. "
            "`kb plan` lists what waits."
        )
    found = [each for each in standing(home) if each.plan.plan_id.startswith(plan)]
    if len(found) != 1:
        many = "Several plans begin" if found else "No plan that waits begins"
        raise ApprovalError(
            f"{many} with {plan[:40]!r}. `kb plan` lists them: a plan has another name as soon as "
            "its notes, its model or its prompt are others."
        )
    return found[0]


def _rows(home: Home, folders: Sequence[str] | None) -> list[Standing]:
    names = home.folders()
    keys = sorted(home.store.partitions(TABLE), key=lambda key: (names.get(key, key), key))
    found = []
    for partition in keys:
        if folders is not None and partition not in folders:
            continue
        try:
            rows = home.store.read(TABLE, partition).to_pylist()
        except KbError:  # a damaged plan is made anew by the next build
            rows = []
        shown = shown_path(names.get(partition, partition))
        found += [_standing(partition, shown, row) for row in rows if row["items"]]
    return found


def _standing(partition: str, shown: str, row: dict[str, Any]) -> Standing:
    plan = Plan(
        plan_id=row["plan_id"],
        folder=partition,
        stage=row["stage"],
        label=row["label"],
        keys=tuple(row["keys"]),
        cost_nano=row["cost_nano"],
        is_local=row["is_local"],
    )
    return Standing(shown, plan, row["items"], row["is_batch"], Permission("waiting", "", 0, ""))
