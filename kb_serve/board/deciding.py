"""Approve or decline what a language model may cost: a page to read, and the form it sends back.

Nothing counts but a form that this running page showed for this very plan and ceiling within the
last hour, while the plan still waits. Whatever else comes back records nothing and spends nothing.
The stage that spends works everything out once more.
"""

import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import dagster as dg
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kb_assets.approvals import event_of
from kb_assets.gate import Standing, approve, decline, standing
from kb_core.errors import ApprovalError, KbError
from kb_core.money import DOLLAR
from kb_serve.board.nonces import Nonces
from kb_serve.board.spending import ceiling_of, sent_to, spending_of
from kb_serve.board.templates import HEADERS, templates
from resources.home import Home

WHO = "board"
APPROVE, DECLINE = "approve", "decline"

_FIELDS = ("ceiling", "decision", "seal")
_BACK = "/board#spending"
_STALE = (
    "This plan does not wait any more: somebody decided already, or its notes, its model or its "
    "prompt are others by now and it has another name."
)


class Deciding:
    """The address of each plan, below /board/spend/."""

    def __init__(
        self,
        home: Home,
        record: Callable[[dg.AssetMaterialization], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Decide for a home; `record` puts a decision into Dagster's history."""
        self._home = home
        self._record = record
        self._clock = clock
        self._nonces = Nonces()
        self._alone = threading.Lock()  # one form sent twice at once is one decision

    def routes(self) -> list[Route]:
        """Return what the board's application serves of this."""
        where = "/board/spend/{plan}"
        return [
            Route(where, self._show, methods=["GET"]),
            Route(where, self._decide, methods=["POST"]),
        ]

    def _show(self, request: Request) -> Response:
        try:
            found = _find(self._home, request.path_params["plan"])
            return _page(404, said=_STALE) if found is None else self._offer(found)
        except KbError as problem:
            return _page(500, said=str(problem))

    def _offer(self, found: Standing) -> Response:
        now = self._clock()
        ceilings = {APPROVE: ceiling_of(found.plan.cost_nano), DECLINE: 0}
        seals = {
            decision: self._nonces.seal(found.plan.plan_id, str(ceiling), decision, now)
            for decision, ceiling in ceilings.items()
            if is_open_to(found, decision)
        }
        return _page(
            200,
            each=found,
            ceilings=ceilings,
            seals=seals,
            host=sent_to(self._home.settings.llm),
            spending=spending_of(self._home, now),
        )

    async def _decide(self, request: Request) -> Response:
        fields = _fields(await request.body())
        return await run_in_threadpool(self._answer, request.path_params["plan"], fields)

    def _answer(self, plan: str, fields: dict[str, str]) -> Response:
        decision, ceiling = fields.get("decision", ""), fields.get("ceiling", "")
        why_not = self._nonces.why_not(
            fields.get("seal", ""), plan, ceiling, decision, self._clock()
        )
        if why_not:
            return _page(403, said=f"Nothing was decided. {why_not} Load the page anew.")
        try:
            with self._alone:
                self._carry_out(plan, int(ceiling), decision)
        except ApprovalError as problem:
            return _page(409, said=f"Nothing was decided. {problem}")
        except KbError as problem:
            return _page(500, said=str(problem))
        return RedirectResponse(_BACK, 303, headers=HEADERS)

    def _carry_out(self, plan: str, ceiling: int, decision: str) -> None:
        """Write a decision down, in the ledger and in Dagster's history. Raises ApprovalError."""
        found = _find(self._home, plan)
        if found is None or not is_open_to(found, decision):
            raise ApprovalError(_STALE)
        usd = ceiling / DOLLAR
        if decision == APPROVE:
            approve(self._home, plan, usd, WHO)
        else:
            decline(self._home, plan, WHO)
        self._record(event_of(found, usd, WHO, "approved" if decision == APPROVE else "declined"))


def is_open_to(found: Standing, decision: str) -> bool:
    """Tell whether a plan can be decided so: what waits, and the refusal of what was refused."""
    return found.waits or (decision == APPROVE and found.permission.state == "declined")


def _find(home: Home, plan: str) -> Standing | None:
    """Return the plan of exactly this id."""
    return next((each for each in standing(home) if each.plan.plan_id == plan), None)


def _fields(body: bytes) -> dict[str, str]:
    """Return a form's fields; nothing unless each one is there, once, and no other."""
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return {}
    return dict(pairs) if sorted(name for name, _ in pairs) == list(_FIELDS) else {}


def _page(status: int, **values: Any) -> Response:
    shown = {"each": None, "said": "", **values}
    return HTMLResponse(templates().get_template("spend.html").render(shown), status, HEADERS)
