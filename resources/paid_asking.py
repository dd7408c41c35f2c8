"""Ask many requests at once, one call each: opened before it is sent, kept when it arrives.

A worker takes its next request when its last answer is on the disk. So what a killed process may
pay again is what it had in flight.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from kb_core.errors import KbError, LLMError
from kb_core.money import Price, Tokens
from kb_core.settings import LLMSettings
from resources import paid_door
from resources.llm import Answer, BadRequestError, DroppedError, LanguageModel, PauseError
from resources.paid_door import Door, Opening
from resources.paid_items import Estimate, Item, estimate
from resources.paid_run import CEILING, TIME, Pace, PaidRun
from resources.paid_store import PaidStore
from resources.paid_writer import PaidWriter

# The client gives up by itself; this is for one that a server keeps waiting drop by drop.
_PATIENCE = 2
_LOOK_AGAIN_SECONDS = 0.2  # at what somebody else is paying for
_MOST_DROPS = 2
_DROPPED = "The connection broke twice after this was sent: it may have been billed."


class Asking:
    """The calls of one run."""

    def __init__(
        self,
        run: PaidRun,
        writer: PaidWriter,
        door: Door,
        model: LanguageModel,
        price: Price | None,
        pace: Pace,
        llm: LLMSettings,
    ) -> None:
        self._run, self._writer, self._door = run, writer, door
        self._model, self._price, self._pace = model, price, pace
        self._parallel = llm.max_parallel
        self._seconds = _PATIENCE * llm.timeout_seconds
        self._queue = deque(run.pending.values())
        self._drops: dict[str, int] = {}
        self._settled = asyncio.Event()

    async def ask_all(self) -> None:
        """Ask everything that is pending, until it is answered or the run stops."""
        count = min(self._parallel, len(self._queue))
        workers = [asyncio.create_task(self._work()) for _ in range(count)]
        try:
            if workers:
                await asyncio.wait(workers)
        finally:
            for worker in workers:
                worker.cancel()
            ended = await asyncio.gather(*workers, return_exceptions=True)
        for problem in ended:
            if isinstance(problem, BaseException):
                raise problem

    async def _work(self) -> None:
        left: _Closing | None = None
        try:
            while self._queue and not self._run.is_over():
                left = await self._take(self._queue.popleft(), left)
            if left is not None:
                await self._close(left, await _result(self._writer.do(left.job)))
        except BaseException:
            self._run.is_stopped = True  # the others end what they have in flight
            raise

    async def _take(self, item: Item, left: "_Closing | None") -> "_Closing | None":
        """Open a request and ask it; return what is then to be written.

        What the last one left is written together with the new row, which saves every second
        commit, and is on the disk before the new request goes out.
        """
        cost = estimate(item, self._price)
        closed = self._writer.do(left.job) if left is not None else None
        opened = self._writer.do(partial(self._door.open, item=item, cost=cost))
        if left is not None and closed is not None:
            problem = await _result(closed)
            if isinstance(problem, KbError):
                await _result(opened)  # else the loop would complain of an error nobody saw
            await self._close(left, problem)
        return await self._go_on(item, cost, await opened)

    async def _go_on(self, item: Item, cost: Estimate, opening: Opening) -> "_Closing | None":
        match opening.verdict:
            case paid_door.OPENED:
                return await self._ask(_Call(item, opening.row, cost))
            case paid_door.KNOWN:
                self._run.known(item.request.key)
            case paid_door.GIVEN_UP:
                self._run.failed(item.request.key, opening.why)
            case paid_door.BUSY | paid_door.CROWDED:
                self._queue.append(item)
                await self._something_settled()
            case paid_door.FULL:
                self._run.stop(CEILING, opening.why)
            case paid_door.FORBIDDEN:
                self._run.note(CEILING, opening.why)
            case _:
                self._run.note(TIME, "A parcel of requests is still under way.")
        return None

    async def _something_settled(self) -> None:
        """Wait for one of our own, or a moment for somebody else's."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._settled.wait(), _LOOK_AGAIN_SECONDS)
        self._settled.clear()

    async def _close(self, left: "_Closing", problem: Exception | None) -> None:
        """Count what was written, or that it could not be."""
        if isinstance(problem, KbError):
            raise problem
        if problem is not None:  # an answer that is none; its words may quote a note
            left = self._lost(left.call, type(problem).__name__)
            await self._writer.do(left.job)
        self._run.outcome.asked += left.is_sent
        left.told()
        self._settled.set()

    async def _ask(self, call: "_Call") -> "_Closing":
        while await self._pace.turn(call.cost.tokens):
            mark = self._pace.mark
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await self._model.ask(call.item.request)
                billed = self._price.cost(answer.tokens) if self._price else 0
            except PauseError as problem:
                self._pace.pause(problem, mark)
            except Exception as problem:  # noqa: BLE001 (a defect costs one request, not the run)
                return self._unanswered(call, problem)
            else:
                self._pace.success()
                return self._answered(call, answer, billed)
        return _Closing(call, lambda store: store.ledger.void(call.row), _nothing, is_sent=False)

    def _answered(self, call: "_Call", answer: Answer, billed: int) -> "_Closing":
        key = call.item.request.key
        job = partial(
            kept, key=key, row=call.row, billed=billed, label=self._model.label, answer=answer
        )

        def told() -> None:
            self._bill(call, billed)
            self._run.answered(key)

        return _Closing(call, job, told)

    def _unanswered(self, call: "_Call", problem: Exception) -> "_Closing":
        if isinstance(problem, BadRequestError):
            return self._refused(call, problem)
        if isinstance(problem, DroppedError | TimeoutError):
            return self._dropped(call)
        if isinstance(problem, LLMError):  # the key, the model, the limit or the server
            self._run.stop(type(problem).__name__, str(problem))
            return _Closing(call, lambda store: store.ledger.void(call.row), _nothing)
        return self._lost(call, type(problem).__name__)  # its words may quote a note

    def _refused(self, call: "_Call", problem: BadRequestError) -> "_Closing":
        key = call.item.request.key
        billed = self._price.cost(problem.tokens) if self._price else 0

        def told() -> None:
            self._bill(call, billed)
            self._run.failed(key, str(problem))

        job = partial(refused, key=key, row=call.row, billed=billed, problem=problem)
        return _Closing(call, job, told)

    def _dropped(self, call: "_Call") -> "_Closing":
        key = call.item.request.key
        self._drops[key] = self._drops.get(key, 0) + 1
        if self._drops[key] >= _MOST_DROPS:
            return self._lost(call, _DROPPED)

        def told() -> None:
            self._bill(call, 0)

        self._queue.appendleft(call.item)
        return _Closing(call, lambda store: store.ledger.lose(call.row), told)

    def _lost(self, call: "_Call", reason: str) -> "_Closing":
        key = call.item.request.key

        def told() -> None:
            self._bill(call, 0)
            self._run.failed(key, reason)

        return _Closing(call, partial(lost, key=key, row=call.row, reason=reason), told)

    def _bill(self, call: "_Call", billed: int) -> None:
        self._run.outcome.estimated_nano += call.cost.expected
        self._run.outcome.billed_nano += billed


class _Call(NamedTuple):
    item: Item
    row: int
    cost: Estimate


class _Closing(NamedTuple):
    """What a call leaves to be written, and to be told when that is on the disk."""

    call: _Call
    job: Callable[[PaidStore], object]
    told: Callable[[], None]
    is_sent: bool = True


def _nothing() -> None:
    """Tell nothing."""


async def _result(done: Awaitable[object]) -> Exception | None:
    """Wait for a job; return what it raised."""
    try:
        await done
    except Exception as problem:  # noqa: BLE001 (the caller decides)
        return problem
    return None


def kept(store: PaidStore, *, key: str, row: int, billed: int, label: str, answer: Answer) -> None:
    """Store an answer for its parts and settle its row."""
    parts = store.ledger.parts(row)
    store.paid_answers.keep(bytes.fromhex(key), parts, label, answer)
    store.ledger.settle(row, answer.tokens, billed)


def refused(store: PaidStore, *, key: str, row: int, billed: int, problem: BadRequestError) -> None:
    """Remember that a request got no answer, with what was billed for it all the same."""
    store.paid_answers.fail(bytes.fromhex(key), str(problem))
    if problem.tokens == Tokens(0, 0):
        store.ledger.void(row)
    else:
        store.ledger.settle(row, problem.tokens, billed)


def lost(store: PaidStore, *, key: str, row: int, reason: str) -> None:
    """Remember that a request got no answer, and that nobody knows what was billed."""
    store.paid_answers.fail(bytes.fromhex(key), reason)
    store.ledger.lose(row)
