"""Fetch the parcels that are under way: wait until they are done, keep and settle each answer.

Repeatable at any point: what is stored is passed over when a parcel is fetched again. A parcel
whose process died while it was sent has no id; it is looked for among the provider's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from kb_core.errors import KbError, LLMError
from kb_core.money import Price
from resources.ledger import OpenRow
from resources.llm import (
    Answer,
    BadRequestError,
    Batches,
    DroppedError,
    LanguageModel,
    PauseError,
)
from resources.paid_asking import kept, lost, refused
from resources.paid_door import Door
from resources.paid_owners import is_alive
from resources.paid_parcels import Parcel
from resources.paid_run import TIME, Pace, PaidRun
from resources.paid_store import PaidStore
from resources.paid_writer import PaidWriter

T = TypeVar("T")
_FIRST_LOOK_SECONDS = 0.2
_LONGEST_LOOK_SECONDS = 30.0
_LATE_SECONDS = 10.0  # in which a parcel may turn up that was on its way when its process died
_AT_ONCE = 100  # answers that are kept together
_PERHAPS = "What became of it is not known."
_UNDER_WAY = "A parcel of requests is under way; the next run fetches its answers."
_UNKNOWN = "The provider does not know the parcel any more: it may have been billed."


class Fetching:
    """The parcels of one model, for one run."""

    def __init__(
        self,
        run: PaidRun,
        writer: PaidWriter,
        door: Door,
        model: LanguageModel,
        batches: Batches,
        price: Price | None,
        pace: Pace,
    ) -> None:
        self._run, self._writer, self._door, self._pace = run, writer, door, pace
        self._identity, self._batches, self._price = model.identity, batches, price

    async def take_up(self) -> None:
        """Fetch what is done, and wait for what this run needs."""
        for parcel in await self._writer.do(lambda store: store.parcels.under_way(self._identity)):
            rows = await self._rows(parcel)
            is_ours = any(row.key.hex() in self._run.pending for row in rows)
            try:
                await self._take_up(parcel, rows, is_ours)
            except (BadRequestError, DroppedError) as problem:
                self._run.stop(type(problem).__name__, str(problem))
            if self._run.outcome.stop_kind == TIME and is_ours:
                self._run.outcome.stopped_by = _UNDER_WAY

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the provider until it answers; None when the run is over before.

        Raises BadRequestError, and DroppedError when it is not known what was done.
        """
        while await self._pace.turn(0):
            mark = self._pace.mark
            try:
                found = await call()
            except PauseError as problem:
                self._pace.pause(problem, mark)
            except (BadRequestError, DroppedError):
                raise
            except LLMError as problem:
                self._run.stop(type(problem).__name__, str(problem))
            except KbError:
                raise
            except Exception as problem:  # noqa: BLE001 (a defect ends this run, not the build)
                name = type(problem).__name__  # its words may quote a note
                self._run.stop("DefectError", f"A parcel of requests met a {name} in this program.")
                raise DroppedError(_PERHAPS) from None
            else:
                self._pace.success()
                return found
        return None

    async def _read(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Ask for what costs nothing: after a break it is simply asked for again."""

        async def again() -> T:
            try:
                return await call()
            except DroppedError as problem:
                raise PauseError(str(problem)) from None

        return await self.patiently(again)

    async def _take_up(self, parcel: Parcel, rows: list[OpenRow], is_ours: bool) -> None:
        if self._run.is_over():
            return
        provider = parcel.provider or await self._find(parcel, rows, is_ours)
        try:
            if provider and await self._is_done(provider, is_patient=is_ours):
                await self._collect(parcel, provider)
        except BadRequestError:  # the provider keeps answers for some weeks only
            await self._close(parcel, partial(_lost_all, parcel=parcel.id))

    async def _rows(self, parcel: Parcel) -> list[OpenRow]:
        return await self._writer.do(lambda store: store.ledger.in_parcel(parcel.id))

    async def _is_done(self, provider: str, *, is_patient: bool) -> bool:
        seconds = _FIRST_LOOK_SECONDS
        while True:
            is_done = await self._read(lambda: self._batches.is_done(provider))
            if is_done or not is_patient or not await self._run.sleep(seconds):
                return bool(is_done)
            seconds = min(1.5 * seconds, _LONGEST_LOOK_SECONDS)

    async def _collect(self, parcel: Parcel, provider: str) -> None:
        if await self._read(lambda: self._fetch(parcel, provider)):
            await self._close(parcel, partial(_void_all, parcel=parcel.id))

    async def _fetch(self, parcel: Parcel, provider: str) -> bool:
        rows = {row.key.hex(): row for row in await self._rows(parcel)}
        keeping: list[Awaitable[None]] = []
        try:
            async for key, answer in self._batches.fetch(provider):
                row = rows.pop(key, None)
                if row is not None:
                    keeping.append(self._keep(key, row, answer))
                if len(keeping) >= _AT_ONCE:
                    some, keeping = keeping, []
                    await asyncio.gather(*some)
        finally:  # what came before a break is kept too
            await asyncio.gather(*keeping)
        return True

    async def _keep(self, key: str, row: OpenRow, answer: Answer | BadRequestError) -> None:
        billed = self._price.cost(answer.tokens, is_batch=True) if self._price else 0
        job = partial(take, key=key, row=row.id, billed=billed, label=self._door.label)
        if not await self._writer.do(partial(job, answer=answer)):
            return
        self._run.outcome.estimated_nano += row.estimated
        self._run.outcome.billed_nano += billed
        if key not in self._run.pending:
            return
        if isinstance(answer, BadRequestError):
            self._run.failed(key, str(answer))
        else:
            self._run.answered(key)

    async def _close(self, parcel: Parcel, job: Callable[[PaidStore], dict[str, str]]) -> None:
        for key, reason in (await self._writer.do(job)).items():
            if key in self._run.pending:
                self._run.failed(key, reason)

    async def _find(self, parcel: Parcel, rows: list[OpenRow], is_ours: bool) -> str:
        """Return the id of a parcel that its sender never wrote down, or nothing if there is none.

        One that never was is closed: its requests are free to be asked again.
        """
        is_someone_elses = parcel.owner != self._door.owner
        if is_someone_elses and is_alive(parcel.owner, parcel.until, self._door.now()):
            return ""
        keys = {row.key.hex() for row in rows}
        for seconds in (0.0, _LATE_SECONDS):
            if not await self._run.sleep(seconds):
                return ""
            provider = await self._seek(parcel, keys, is_ours)
            if provider is None or provider:
                return provider or ""
        await self._writer.do(partial(_never_sent, parcel=parcel.id))
        return ""

    async def _seek(self, parcel: Parcel, keys: set[str], is_ours: bool) -> str | None:
        """Look through the provider's parcels: an id, nothing, or None if it cannot be told yet."""
        known = await self._writer.do(lambda store: store.parcels.known())
        listed = await self._read(lambda: self._batches.unknown_since(parcel.at))
        if listed is None:
            return None
        for provider in listed:
            if provider in known:
                continue
            if not await self._is_done(provider, is_patient=is_ours):
                return None
            if await self._read(partial(self._holds, provider, keys)):
                await self._writer.do(partial(_adopt, parcel=parcel.id, provider=provider))
                return provider
        return None if self._run.is_over() else ""

    async def _holds(self, provider: str, keys: set[str]) -> bool:
        async for key, _ in self._batches.fetch(provider):
            if key in keys:
                return True
        return False


def take(
    store: PaidStore,
    *,
    key: str,
    row: int,
    billed: int,
    label: str,
    answer: Answer | BadRequestError,
) -> bool:
    """Keep an answer out of a parcel, unless somebody else has fetched it meanwhile."""
    if not store.ledger.is_open(row):
        return False
    if isinstance(answer, BadRequestError):
        refused(store, key=key, row=row, billed=billed, problem=answer)
    else:
        kept(store, key=key, row=row, billed=billed, label=label, answer=answer)
    return True


def _lost_all(store: PaidStore, *, parcel: int) -> dict[str, str]:
    """Close a parcel that nobody can fetch any more."""
    rows = store.ledger.in_parcel(parcel)
    for row in rows:
        lost(store, key=row.key.hex(), row=row.id, reason=_UNKNOWN)
    store.parcels.end(parcel)
    return {row.key.hex(): _UNKNOWN for row in rows}


def _void_all(store: PaidStore, *, parcel: int) -> dict[str, str]:
    """Close a parcel that was read to its end: what it held no answer for was not asked."""
    problem = BadRequestError("The parcel came back without an answer to this request.")
    rows = store.ledger.in_parcel(parcel)
    for row in rows:
        refused(store, key=row.key.hex(), row=row.id, billed=0, problem=problem)
    store.parcels.end(parcel)
    return {row.key.hex(): str(problem) for row in rows}


def _adopt(store: PaidStore, *, parcel: int, provider: str) -> None:
    store.parcels.sent(parcel, provider)


def _never_sent(store: PaidStore, *, parcel: int) -> None:
    for row in store.ledger.in_parcel(parcel):
        store.ledger.void(row.id)
    store.parcels.end(parcel)
