"""Requests in parcels, at a share of the price: written down, sent, fetched whenever they are done.

A parcel is known before it is sent and its id as soon as there is one, so that a killed process
pays nothing twice: the next run fetches the parcel, or finds it among the provider's.
"""

from collections.abc import Collection, Sequence
from functools import partial

from kb_core.money import Price
from resources import paid_door
from resources.llm import BadRequestError, Batches, DroppedError, LanguageModel
from resources.paid_asking import refused
from resources.paid_door import Door, Opening
from resources.paid_fetching import Fetching
from resources.paid_items import Estimate, Item, estimate
from resources.paid_owners import OWNED_SECONDS
from resources.paid_run import CEILING, Pace, PaidRun
from resources.paid_store import PaidStore
from resources.paid_writer import PaidWriter

MOST_IN_PARCEL = 10_000
_MOST_DROPS = 2
_DROPPED = "The connection broke twice while a parcel was sent; the next run looks for it."
_LOOK_AGAIN_SECONDS = 0.2  # at what somebody else is paying for


class PaidBatches:
    """The parcels one run sends."""

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
        self._run, self._writer, self._door = run, writer, door
        self._identity, self._batches, self._price = model.identity, batches, price
        self._most = MOST_IN_PARCEL
        self._drops = 0
        self._fetching = Fetching(run, writer, door, model, batches, price, pace)

    async def send_all(self) -> None:
        """Send what is pending, parcel by parcel, and fetch the answers."""
        while True:
            await self._fetching.take_up()
            if not self._run.pending or self._run.is_over():
                return
            costs = {key: self._cost(item) for key, item in self._run.pending.items()}
            parcel, openings = await self._writer.do(partial(self._fill, costs=costs))
            opened = self._sort(openings)
            if opened:
                await self._send(parcel, opened)
            elif not await self._is_worth_waiting(openings.values()):
                return

    def _cost(self, item: Item) -> Estimate:
        return estimate(item, self._price, is_batch=True)

    def _fill(self, store: PaidStore, costs: dict[str, Estimate]) -> tuple[int, dict[str, Opening]]:
        """Write a parcel down with as many requests as it may hold, before anything is sent."""
        now = self._door.now()
        parcel = store.parcels.open(self._identity, self._door.owner, now + OWNED_SECONDS, now)
        openings: dict[str, Opening] = {}
        room = self._most
        for key, item in self._run.pending.items():
            opening = openings[key] = self._door.open(store, item, costs[key], parcel)
            room -= opening.verdict == paid_door.OPENED
            if not room or opening.verdict in (paid_door.FULL, paid_door.CROWDED):
                break
        if room == self._most:
            store.parcels.end(parcel)
        return parcel, openings

    def _sort(self, openings: dict[str, Opening]) -> dict[int, Item]:
        """Count what needs no asking; return what was opened, by row."""
        opened: dict[int, Item] = {}
        for key, opening in openings.items():
            match opening.verdict:
                case paid_door.OPENED:
                    opened[opening.row] = self._run.pending[key]
                case paid_door.KNOWN:
                    self._run.known(key)
                case paid_door.GIVEN_UP:
                    self._run.failed(key, opening.why)
                case paid_door.FORBIDDEN:
                    self._run.note(CEILING, opening.why)
        return opened

    async def _is_worth_waiting(self, openings: Collection[Opening]) -> bool:
        """Wait a moment for what somebody else is paying for; tell whether there is such."""
        for opening in openings:
            if opening.verdict == paid_door.FULL:
                self._run.stop(CEILING, opening.why)
        waited_for = (paid_door.BUSY, paid_door.UNDER_WAY, paid_door.CROWDED)
        if not any(opening.verdict in waited_for for opening in openings):
            return False
        return await self._run.sleep(_LOOK_AGAIN_SECONDS)

    async def _send(self, parcel: int, opened: dict[int, Item]) -> None:
        requests = [item.request for item in opened.values()]
        try:
            provider = await self._fetching.patiently(lambda: self._batches.send(requests))
        except BadRequestError as problem:
            await self._refused(parcel, opened, problem)
            return
        except DroppedError:  # perhaps it arrived: it is looked for as if this process had died
            self._drops += 1
            if self._drops == _MOST_DROPS:
                self._run.stop("DroppedError", _DROPPED)
            return
        if provider is None:
            await self._writer.do(partial(_give_back, parcel=parcel, rows=list(opened)))
            return
        await self._writer.do(lambda store: store.parcels.sent(parcel, provider))
        self._run.outcome.asked += len(opened)
        self._most = min(2 * self._most, MOST_IN_PARCEL)

    async def _refused(
        self, parcel: int, opened: dict[int, Item], problem: BadRequestError
    ) -> None:
        """Try a smaller parcel: one request that is refused must not keep back the others."""
        await self._writer.do(partial(_give_back, parcel=parcel, rows=list(opened)))
        self._most = max(1, len(opened) // 2)
        if len(opened) == 1:
            ((row, item),) = opened.items()
            key = item.request.key
            await self._writer.do(partial(refused, key=key, row=row, billed=0, problem=problem))
            self._run.failed(key, str(problem))


def _give_back(store: PaidStore, *, parcel: int, rows: Sequence[int]) -> None:
    """Close a parcel that was not taken: nothing of it is billed."""
    for row in rows:
        store.ledger.void(row)
    store.parcels.end(parcel)
