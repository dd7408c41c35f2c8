"""Anthropic's service for tests: the real protocol over real HTTP, without a model.

It answers by simple rules (`reading.py`), refuses what the real service refuses, goes wrong as a
`Scenario` or a mark in a text says, and keeps a book of what it was sent and bills. As a process:
`python -m tests.standins.anthropic_server --port 0 --log FILE --slow-seconds 1`.
"""

import argparse
import asyncio
import json
import signal
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.standins import anthropic_scenario
from tests.standins.anthropic_answers import (
    message_of,
    reply_of,
    say,
    spoiled,
    stream_of,
    user_text,
)
from tests.standins.anthropic_http import Call, LoopServer, Reply
from tests.standins.anthropic_log import Book, Record, input_tokens, question_of
from tests.standins.anthropic_parcels import Item, Parcel, Parcels
from tests.standins.anthropic_rules import (
    RefusedError,
    Traits,
    check_batch,
    check_key,
    check_message,
)
from tests.standins.anthropic_scenario import (
    Scenario,
    Trouble,
    Troubles,
    error,
    named,
    refusal_of,
)

KEY, MODEL, NO_EFFORT = anthropic_scenario.KEY, anthropic_scenario.MODEL, "claude-haiku-4-5"
MESSAGES = "/v1/messages"
BATCHES = "/v1/messages/batches"


class AnthropicStandIn:
    """Run the service on a port of this machine for the length of a `with` block."""

    def __init__(self, *, port: int = 0, log: Path | None = None, **scenario: Any) -> None:
        self.scenario = Scenario(**scenario)
        self.book = Book(log)
        self.url = ""
        self._troubles = Troubles(self.scenario)
        self._parcels = Parcels()
        self._server = LoopServer(self._answer, port)
        # For the book's readers, who hold the stand-in and not its parts.
        self.calls, self.sent_text, self.repeats = (
            self.book.calls,
            self.book.sent_text,
            self.book.repeats,
        )

    @property
    def billed_nano(self) -> int:
        """Return the whole bill in nano-dollars."""
        return self.book.billed_nano

    @property
    def most_in_flight(self) -> int:
        """Return how many requests were under way at once, at most."""
        return self._server.most_in_flight

    @property
    def sockets(self) -> int:
        """Return how many connections were ever made."""
        return self._server.sockets

    def __enter__(self) -> Self:
        self.url = self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.stop()
        self.book.close()

    async def _answer(self, call: Call) -> Reply:
        body: Any = None
        try:
            body = json.loads(call.body) if call.body else None
            check_key(call.headers, self.scenario.key)
            return await self._route(call)(call, body)
        except RefusedError as refused:
            self._note(call, body, (str(refused.status),))
            return error(refused)
        except ValueError:
            self._note(call, call.body.decode("utf-8", "replace"), ("no JSON",))
            return error(RefusedError(400, "invalid_request_error", "the body is no JSON"))

    def _route(self, call: Call) -> Callable[[Call, Any], Awaitable[Reply]]:
        routes: dict[tuple[str, str], Callable[[Call, Any], Awaitable[Reply]]] = {
            ("POST", MESSAGES): self._message,
            ("POST", f"{MESSAGES}/count_tokens"): self._count,
            ("POST", BATCHES): self._send,
            ("GET", BATCHES): self._list,
        }
        if (call.method, call.path) in routes:
            return routes[call.method, call.path]
        if call.method == "GET" and call.path.startswith(BATCHES + "/"):
            return self._results if call.path.endswith("/results") else self._parcel
        if call.method == "GET" and call.path.startswith("/v1/models"):
            return self._models
        raise RefusedError(404, "not_found_error", "Not found")

    async def _message(self, call: Call, body: Any) -> Reply:
        check_message(body, self.scenario.models)
        text = user_text(body)
        troubles = self._troubles.of(text)
        names = tuple(trouble.name for trouble in troubles)
        for trouble in troubles:
            refusal = refusal_of(trouble, text)
            if refusal is not None:
                self._note(call, body, names)
                return refusal
        if input_tokens(body) > self.scenario.models[body["model"]].window:
            raise RefusedError(400, "invalid_request_error", "prompt is too long: " + text[:200])
        said = say(body, self.scenario, troubles)
        # Billed before the wait: a client that is killed meanwhile pays all the same.
        record = Record(
            call.method, call.path, body, names, said.sent_tokens, said.said_tokens,
            said.billed(body["model"]), (question_of(body),),
        )  # fmt: skip
        self.book.write(call, record)
        await asyncio.sleep(_wait(troubles, self.scenario.slow_seconds))
        message = message_of(body, said, troubles)
        return stream_of(message, troubles) if body.get("stream") else reply_of(message, troubles)

    async def _count(self, call: Call, body: Any) -> Reply:
        check_message({"max_tokens": 1, **body}, self.scenario.models)
        self._note(call, body)
        return _json({"input_tokens": input_tokens(body)})

    async def _models(self, call: Call, body: Any) -> Reply:
        self._note(call, body)
        if self.scenario.fail_probe:
            trouble = named(self.scenario.fail_probe.pop(0))
            refusal = refusal_of(trouble, call.path)
            shown = spoiled(_model(MODEL, Traits()), [trouble])
            return refusal or reply_of(shown, [trouble])
        name = call.path.removeprefix("/v1/models").strip("/")
        if name and name not in self.scenario.models:
            raise RefusedError(404, "not_found_error", f"model: {name}")
        if name:
            return _json(_model(name, self.scenario.models[name]))
        rows = [_model(name, traits) for name, traits in self.scenario.models.items()]
        first, last = rows[0]["id"], rows[-1]["id"]
        return _json({"data": rows, "has_more": False, "first_id": first, "last_id": last})

    async def _send(self, call: Call, body: Any) -> Reply:
        check_batch(body, self.scenario.models)
        items = [self._item(one["custom_id"], one["params"]) for one in body["requests"]]
        parcel = Parcel(items, self.scenario.batch_seconds)
        self._parcels.add(parcel)
        billed = [item for item in items if item.is_billed]
        record = Record(
            call.method,
            call.path,
            body,
            tuple(trouble.name for item in items for trouble in item.troubles),
            sum(item.said.sent_tokens for item in billed),
            sum(item.said.said_tokens for item in billed),
            sum(item.said.billed(item.params["model"], is_batch=True) for item in billed),
            tuple(question_of(item.params) for item in billed),
        )
        self.book.write(call, record)
        if self.scenario.drop_batch_create:
            self.scenario.drop_batch_create -= 1
            return Reply(200, (), break_after=-1)
        return _json(parcel.shown(self.url))

    def _item(self, custom_id: str, params: dict[str, Any]) -> Item:
        troubles = self._troubles.of(user_text(params), is_batch=True)
        return Item(custom_id, params, say(params, self.scenario, troubles), troubles)

    async def _list(self, call: Call, body: Any) -> Reply:
        self._note(call, body)
        size = min(int(call.query.get("limit", 20)), self.scenario.page_size)
        return _json(self._parcels.page(call.query.get("after_id"), size, self.url))

    async def _parcel(self, call: Call, body: Any) -> Reply:
        self._note(call, body)
        return _json(self._parcels.get(call.path.removeprefix(BATCHES + "/")).shown(self.url))

    async def _results(self, call: Call, body: Any) -> Reply:
        self._note(call, body)
        name = call.path.removeprefix(BATCHES + "/").removesuffix("/results")
        parcel = self._parcels.get(name)
        if not parcel.is_ended:
            raise RefusedError(400, "invalid_request_error", "the batch has not ended")
        lines = parcel.results()
        broken = None
        if self.scenario.break_results:
            self.scenario.break_results -= 1
            broken = len(lines) * 2 // 3
        return Reply(200, (lines,), {"content-type": "application/x-jsonl"}, broken)

    def _note(self, call: Call, body: Any, troubles: tuple[str, ...] = ()) -> None:
        self.book.write(call, Record(call.method, call.path, body, troubles))


def main(arguments: list[str] | None = None) -> None:
    """Serve until the process is told to end; the first line printed is the address."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--slow-seconds", type=float, default=0.0)
    parser.add_argument("--batch-seconds", type=float, default=0.0)
    parser.add_argument("--spend-limit-after", type=int)
    parser.add_argument("--key", default=KEY)
    parser.add_argument("--obey", action="store_true")
    chosen = vars(parser.parse_args(arguments))
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_given: ended.set())
    with AnthropicStandIn(**chosen) as server:
        print(server.url, flush=True)
        ended.wait()


def _wait(troubles: list[Trouble], always: float) -> float:
    named_waits = [trouble.value or 0.0 for trouble in troubles if trouble.name == "slow"]
    return max([always, *named_waits])


def _json(value: Any) -> Reply:
    head = {"content-type": "application/json", "request-id": "req_standin"}
    return Reply(200, (json.dumps(value).encode(),), head)


def _model(name: str, traits: Traits) -> dict[str, Any]:
    yes, no = {"supported": True}, {"supported": False}
    effort = dict.fromkeys(("low", "medium", "high", "max"), yes if traits.has_effort else no)
    named_ones = ("batch", "citations", "code_execution", "image_input", "pdf_input")
    capabilities: dict[str, Any] = {
        **dict.fromkeys(named_ones, yes),
        "structured_outputs": yes if traits.has_schemas else no,
        "effort": {"supported": traits.has_effort, **effort},
        "context_management": no,
        "server_tools": no,
        "thinking": no,
    }
    return {
        "id": name,
        "type": "model",
        "display_name": name.title(),
        "created_at": "2026-06-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": traits.window,
        "max_tokens": traits.most_output,
        "capabilities": capabilities,
    }


if __name__ == "__main__":
    main()
