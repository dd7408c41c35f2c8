"""A language model in this process, for tests: it answers by a script and keeps its own bill.

Several processes can share one bill, and one provider's parcels, through a folder. As a program
it pays for some requests through the paid door, so that a test can kill it while it does:

    python -m tests.standins.scripted_llm --store FILE --folder DIR --count 100 --batch
"""

import argparse
import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kb_core.ids import content_id
from kb_core.money import Price, Tokens, price_of
from kb_core.settings import LimitSettings, LLMSettings
from resources.llm import DONE, Answer, BadRequestError, Batches, DroppedError, Request
from resources.paid_calls import PaidCalls
from resources.paid_items import Item, PaidOutcome, Purpose
from resources.paid_store import PaidStore
from resources.spending import AUTO, Permission

MODEL = "claude-haiku-5-5"
PRICE: Price = price_of(MODEL, {})
TOKENS = Tokens(1, 100)  # of an answer, unless the script says otherwise
PURPOSE = Purpose("town", "extractions", "a plan")
FREELY = Permission(AUTO, "", 0, "")


def request(name: str, max_tokens: int = 1_000) -> Request:
    return Request(content_id(name), "Read this.", name, {"type": "object"}, max_tokens)


def item(name: str, max_tokens: int = 1_000, expected: int = 100) -> Item:
    asked = request(name, max_tokens)
    return Item(asked, (asked.key,), expected)


def items(count: int, **sizes: int) -> list[Item]:
    return [item(f"text {number}", **sizes) for number in range(count)]


def answer(text: str = "{}", stop: str = DONE, tokens: Tokens = TOKENS) -> Answer:
    return Answer(text, stop, tokens, json.dumps({"content": text}))


Step = Answer | Exception | Callable[[Request], Answer]


class ScriptedModel:
    """Does for each key what its script says, one step a call, and answers when it has none."""

    label = MODEL

    def __init__(
        self,
        script: Mapping[str, Sequence[Step]] | None = None,
        *,
        seconds: float = 0.0,
        together: int = 0,
        is_local: bool = False,
        folder: Path | None = None,
    ) -> None:
        self.identity = f"anthropic/{MODEL}"
        self.is_local = is_local
        self.batches: Batches | None = None
        self.asked: list[str] = []
        self.answered: list[str] = []
        self.billed_nano = 0
        self.most_in_flight = self.closed = 0
        self._script = {key: list(steps) for key, steps in (script or {}).items()}
        self._seconds, self._together, self._folder = seconds, together, folder
        self._in_flight = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request) -> Answer:
        self._check_loop()
        self.asked.append(request.key)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            if self._seconds:
                await asyncio.sleep(self._seconds)
            while self.most_in_flight < self._together:  # nobody is answered before all are here
                await asyncio.sleep(0.001)
            return self._answer(request)
        finally:
            self._in_flight -= 1

    async def close(self) -> None:
        self._check_loop()
        self._loop = None
        self.closed += 1

    def _check_loop(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        assert loop is self._loop, "asked from another event loop"

    def _answer(self, request: Request) -> Answer:
        steps = self._script.get(request.key)
        step = steps.pop(0) if steps else answer(json.dumps({"said": request.text}))
        if isinstance(step, Exception):
            if isinstance(step, BadRequestError):
                self.bill(request.key, step.tokens)
            raise step
        given = step(request) if callable(step) else step
        self.bill(request.key, given.tokens)
        self.answered.append(request.key)
        return given

    def bill(self, key: str, tokens: Tokens) -> None:
        self.billed_nano += PRICE.cost(tokens)
        if self._folder is not None:
            write_line(self._folder / "billed", key)


class ScriptedBatches:
    """A provider's parcels: kept in a folder, done after so many looks at them."""

    def __init__(self, folder: Path, looks: int = 1, script: Sequence[Exception] = ()) -> None:
        self.sent: list[list[str]] = []
        self.refused_keys: set[str] = set()  # a parcel with one of these is refused as a whole
        self.answers: dict[str, Answer | BadRequestError | None] = {}
        self.breaks: list[int] = []  # after so many answers the next fetch breaks
        self.after_send: Callable[[], None] = lambda: None  # it arrived; its id did not come back
        self.lists = self.fetches = self.billed_nano = 0
        self._folder, self._looks, self._script = folder, looks, list(script)
        folder.mkdir(parents=True, exist_ok=True)

    async def send(self, requests: Sequence[Request]) -> str:
        if self._script:
            raise self._script.pop(0)
        keys = [request.key for request in requests]
        if self.refused_keys & set(keys):
            raise BadRequestError("This parcel was refused.")
        self.sent.append(keys)
        parcel = f"batch_{secrets.token_hex(4)}"
        self._write(parcel, {"at": time.time(), "keys": keys, "looks": self._looks})
        write_line(self._folder / "parcels", " ".join(keys))
        self.after_send()
        return parcel

    async def unknown_since(self, instant: float) -> list[str]:
        self.lists += 1
        found = [(self._read(path.stem)["at"], path.stem) for path in self._folder.glob("*.json")]
        return [name for at, name in sorted(found, reverse=True) if at >= instant - 60]

    async def is_done(self, parcel: str) -> bool:
        state = self._read(parcel)
        state["looks"] -= 1
        self._write(parcel, state)
        return state["looks"] < 0

    async def fetch(self, parcel: str) -> AsyncIterator[tuple[str, Answer | BadRequestError]]:
        self.fetches += 1
        left = self.breaks.pop(0) if self.breaks else -1
        for key in reversed(self._read(parcel)["keys"]):
            if left == 0:
                raise DroppedError("The connection broke.")
            left -= 1
            given = self.answers.get(key, answer())
            if given is not None:
                yield key, given

    def _read(self, parcel: str) -> dict:
        if not self._path(parcel).exists():
            raise BadRequestError("No such parcel.")
        return json.loads(self._path(parcel).read_text())

    def _write(self, parcel: str, state: dict) -> None:
        """Write whole: another process may read it at any moment."""
        new = self._folder / f"{secrets.token_hex(4)}.new"
        new.write_text(json.dumps(state))
        new.replace(self._path(parcel))

    def _path(self, parcel: str) -> Path:
        return self._folder / f"{parcel}.json"


def write_line(path: Path, line: str) -> None:
    """Append a line whole, whoever else does."""
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def pay(store: Path, model: ScriptedModel, asked: Sequence[Item], **how: Any) -> PaidOutcome:
    """Pay for some requests within the usual limits."""
    parallel = how.pop("parallel", 8)
    with (
        PaidStore(store) as opened,
        PaidCalls(
            opened,
            model,
            PRICE,
            LimitSettings(auto_approve_usd=20),
            LLMSettings(max_parallel=parallel),
        ) as calls,
    ):
        return calls.run(asked, PURPOSE, FREELY, **how)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.01)
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--silent", action="store_true", help="die when a parcel has arrived")
    options = parser.parse_args()
    model = ScriptedModel(seconds=options.seconds, folder=options.folder)
    model.batches = batches = ScriptedBatches(options.folder, looks=3)
    if options.silent:
        batches.after_send = lambda: os.kill(os.getpid(), 9)
    done = pay(options.store, model, items(options.count), is_batch=options.batch)
    print(json.dumps({"answered": done.answered, "cached": done.cached, "asked": done.asked}))


if __name__ == "__main__":
    main()
