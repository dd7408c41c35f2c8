"""What is looked at, in one transaction, before a request is sent: answered, paid for, affordable.

Only a verdict of OPENED allows a call, and then its ledger row is written. The ceilings are worked
out anew for each request, so that what is spent can pass one by less than one answer.
"""

from collections.abc import Callable
from typing import NamedTuple

from kb_core.money import dollars, nano
from kb_core.settings import LimitSettings
from resources.approvals import Approval
from resources.ledger import NewRow
from resources.paid_items import Estimate, Item, Purpose, packed
from resources.paid_owners import OWNED_SECONDS, is_alive
from resources.paid_store import PaidStore
from resources.spending import ALLOWED, FREE, MAY_ASK, Permission

OPENED = "opened"  # its row is written: ask
KNOWN = "known"  # it has an answer
GIVEN_UP = "given up"  # it failed in too many runs
BUSY = "busy"  # somebody else is paying for it
UNDER_WAY = "under way"  # it lies in a parcel
CROWDED = "crowded"  # it fits once what is in flight is settled
FULL = "full"  # it passes a ceiling
FORBIDDEN = "forbidden"  # nobody allowed it


class Opening(NamedTuple):
    """What was found about a request, and the row that was opened for it."""

    verdict: str
    row: int = 0
    why: str = ""


class Door:
    """The way to a model for one run: one purpose, one permission, one owner."""

    def __init__(
        self,
        purpose: Purpose,
        permission: Permission,
        limits: LimitSettings,
        label: str,
        owner: str,
        clock: Callable[[], float],
    ) -> None:
        self.owner = owner
        self.label = label
        self._purpose, self._permission, self._limits = purpose, permission, limits
        self.now = clock
        self._under = permission.approval if permission.state == ALLOWED else ""
        self._approval: Approval | None = None

    def open(self, store: PaidStore, item: Item, cost: Estimate, parcel: int = 0) -> Opening:
        """Look at one request and, if it may be asked, write its row down."""
        key = bytes.fromhex(item.request.key)
        if known := self._known(store, item, key):
            return known
        if rival := self._rival(store, key):
            return rival
        if not self._is_allowed(store, item, cost):
            return Opening(FORBIDDEN, why=self._forbidden())
        if cost.worst and (closed := self._closed(store, cost)):
            return closed
        row = NewRow(
            folder=self._purpose.folder,
            stage=self._purpose.stage,
            plan=self._purpose.plan,
            label=self.label,
            key=key,
            parts=packed(item),
            approval=self._under,
            estimated=cost.expected,
            reserved=cost.worst,
        )
        now = self.now()
        return Opening(OPENED, store.ledger.open(row, self.owner, now + OWNED_SECONDS, now, parcel))

    def _known(self, store: PaidStore, item: Item, key: bytes) -> Opening | None:
        if store.paid_answers.has(key):
            # Said again, in case what it answers was damaged or asked for otherwise.
            store.paid_answers.link(key, packed(item))
            return Opening(KNOWN)
        if reason := store.paid_answers.failures([item.request.key]).get(item.request.key):
            return Opening(GIVEN_UP, why=reason)
        return None

    def _rival(self, store: PaidStore, key: bytes) -> Opening | None:
        """Look for somebody who is paying for it; a dead one's row is lost."""
        row = store.ledger.opened(key)
        if row is None:
            return None
        if row.parcel:
            return Opening(UNDER_WAY)
        if is_alive(row.owner, row.until, self.now()):
            return Opening(BUSY)
        store.ledger.lose(row.id)
        return None

    def _is_allowed(self, store: PaidStore, item: Item, cost: Estimate) -> bool:
        """Tell whether the permission is for this request, whoever handed it in."""
        permission = self._permission
        if permission.state not in MAY_ASK:
            return False
        if permission.state != ALLOWED:
            return permission.state != FREE or not cost.worst
        if self._approval is None:
            found = store.approvals.all(self._under)
            self._approval = found[0] if found else None
        made, purpose = self._approval, self._purpose
        if made is None or (made.folder, made.stage) != (purpose.folder, purpose.stage):
            return False
        keys = made.keys  # of a refusal: none
        return item.request.key in keys or (bool(item.parts) and keys.issuperset(item.parts))

    def _forbidden(self) -> str:
        if self._permission.state in MAY_ASK:
            return "Some requests are not part of what was approved; `kb plan` lists what waits."
        return self._permission.why

    def _closed(self, store: PaidStore, cost: Estimate) -> Opening | None:
        """Compare with what is left; None if the request fits.

        The most it can cost must fit. When nothing is in flight any more, the expected cost will
        do: else a plan whose estimate fits would be left with its last requests for ever.
        """
        left, why = min(self._month(store), self._allowance(store))
        if cost.worst <= left:
            return None
        now = self.now()
        rows = [row for row in store.ledger.in_flight(self.owner) if row.approval == self._under]
        if any(is_alive(row.owner, row.until, now) for row in rows):
            return Opening(CROWDED)
        return None if cost.expected <= left else Opening(FULL, why=why)

    def _month(self, store: PaidStore) -> tuple[int, str]:
        limit = nano(self._limits.monthly_usd)
        why = (
            f"The next answer would pass limits.monthly_usd = {self._limits.monthly_usd:g}. "
            "Raise it in kb.toml, or wait for the next calendar month (UTC)."
        )
        return limit - store.ledger.spent_in_month(self.now()), why

    def _allowance(self, store: PaidStore) -> tuple[int, str]:
        if self._approval is not None:
            ceiling = self._approval.ceiling_nano
            why = (
                f"The next answer would pass the {dollars(ceiling)} that were approved. "
                "Approve more: `kb plan` lists what waits."
            )
            return ceiling - store.ledger.spent_under(self._approval.id), why
        limit = self._limits.auto_approve_usd
        why = (
            f"The next answer would pass limits.auto_approve_usd = {limit:g} in 24 hours. "
            "Approve the rest: `kb plan` lists what waits."
        )
        return nano(limit) - store.ledger.spent_in_day(self.now()), why
