"""The only door to a paid model: every answer is paid for once, kept, and within its ceiling.

Safe to repeat and to kill: a run takes up what earlier ones left. What was paid is on the disk
before anybody reads it; after a kill at most the requests in flight are paid for again, and none
that went in a parcel. Two runs at once over the same requests share the work.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from kb_core.errors import SettingsError
from kb_core.money import Price
from kb_core.settings import LimitSettings, LLMSettings
from resources.llm import LanguageModel
from resources.paid_asking import Asking
from resources.paid_batches import PaidBatches
from resources.paid_door import Door
from resources.paid_fetching import Fetching
from resources.paid_items import Item, PaidOutcome, Purpose
from resources.paid_owners import is_alive, living
from resources.paid_run import Pace, PaidRun
from resources.paid_store import PaidStore
from resources.paid_writer import PaidWriter
from resources.spending import Permission


class PaidCalls:
    """One model behind one store. Close it, or use `with`: it lets go of the model too."""

    def __init__(
        self,
        store: PaidStore,
        model: LanguageModel,
        price: Price | None,
        limits: LimitSettings,
        llm: LLMSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take a model and its price; only one on this machine may have none."""
        if price is None and not model.is_local:
            raise SettingsError(
                f"{model.label} is not on this machine and has no price. Add it to kb.toml under "
                f'[prices."{model.label}"].'
            )
        self._store, self._model, self._price = store, model, price
        self._limits, self._llm, self._clock = limits, llm, clock
        self._runner: asyncio.Runner | None = None

    def __enter__(self) -> Self:
        """Use the calls in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the model."""
        self.close()

    def close(self) -> None:
        """Let go of the model's connections; harmless when done twice."""
        runner, self._runner = self._runner, None
        if runner is not None:
            try:
                runner.run(self._model.close())
            finally:
                runner.close()

    def run(
        self,
        items: Sequence[Item],
        purpose: Purpose,
        permission: Permission,
        *,
        is_batch: bool = False,
        deadline: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> PaidOutcome:
        """Ask for what has no answer yet, as far as the permission goes.

        Stops for a deadline, a ceiling, and what the model says ends it; `PaidOutcome` tells.
        Raises StoreError or BusyError when answers cannot be kept.
        """
        run = PaidRun(items, deadline, progress)
        if not run.pending:
            return run.end()
        if self._runner is None:
            # One event loop for all runs: a model's connections belong to the loop that made them.
            self._runner = asyncio.Runner()
        work = self._run(run, purpose, permission, is_batch)
        try:
            self._runner.run(work)
        except BaseException:
            # An interrupt may leave requests in the loop; they must not go on in the next run.
            runner, self._runner = self._runner, None
            runner.close()
            work.close()
            raise
        return run.end()

    async def _run(
        self, run: PaidRun, purpose: Purpose, permission: Permission, is_batch: bool
    ) -> None:
        with living() as owner, PaidWriter(self._store.path, owner, self._clock) as writer:
            await writer.do(partial(recover, now=self._clock()))
            door = Door(purpose, permission, self._limits, self._model.label, owner, self._clock)
            pace = Pace(run, self._llm.tokens_per_minute, self._clock)
            if batches := self._model.batches:
                parcels = (run, writer, door, self._model, batches, self._price, pace)
                if is_batch:
                    await PaidBatches(*parcels).send_all()
                    return
                await Fetching(*parcels).take_up()
            asking = Asking(run, writer, door, self._model, self._price, pace, self._llm)
            await asking.ask_all()


def recover(store: PaidStore, *, now: float) -> None:
    """Count what dead processes had in flight as lost: nobody knows what was billed."""
    for row in store.ledger.in_flight(""):
        if not is_alive(row.owner, row.until, now):
            store.ledger.lose(row.id)
