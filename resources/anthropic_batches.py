"""Parcels of requests to Anthropic, at half the price, answered within a day.

A parcel that was sent is paid for even if nobody heard its id: `unknown_since` finds it again.
"""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from kb_core.money import Tokens, model_tokens
from resources.anthropic_answers import json_of, read_answer
from resources.anthropic_door import AnthropicDoor
from resources.llm import Answer, BadRequestError, DroppedError, Request

_PAGE = 100
_CLOCKS_APART_SECONDS = 300.0  # the provider's clock and ours
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_UNKNOWN = "this batch"
# Why a request of a batch has no answer, in words of ours: the provider's may quote the text.
_RESULTS = {
    "errored": "Anthropic refused a request of a batch",
    "canceled": "a batch was cancelled before this request was answered",
    "expired": "a batch expired before this request was answered",
}


class AnthropicBatches:
    """The batches of one model behind one door."""

    def __init__(self, door: AnthropicDoor) -> None:
        self._door = door

    async def send(self, requests: Sequence[Request]) -> str:
        """Hand a parcel over and return its id. Raises what `LanguageModel.ask` raises."""
        items: list[Any] = [
            {"custom_id": request.key, "params": await self._door.parameters(request)}
            for request in requests
        ]
        made = await self._door.body(
            lambda client: client.messages.batches.with_raw_response.create(requests=items),
            is_long=True,
        )
        name = _id_of(made)
        if name is None:
            raise DroppedError("Anthropic took a batch and did not say its id. It may bill it.")
        return name

    async def unknown_since(self, instant: float) -> list[str]:
        """Return the ids of the parcels made since an instant, newest first."""
        found: dict[str, float] = {}
        after = ""
        while True:
            page = await self._page(after)
            rows = page.get("data")
            fresh = {
                name: _made_at(row)
                for row in (rows if isinstance(rows, list) else [])
                if (name := _id_of(row)) is not None and name not in found
            }
            found.update(fresh)
            after = str(page.get("last_id") or "")
            # A page that brings nothing new is the last, whatever it says of itself.
            if page.get("has_more") is not True or not fresh or not after:
                break
        since = [name for name, at in found.items() if at >= instant - _CLOCKS_APART_SECONDS]
        return sorted(since, key=lambda name: (-found[name], name))

    async def is_done(self, parcel: str) -> bool:
        """Tell whether a parcel can be fetched. Raises BadRequestError if it is not known."""
        shown = await self._door.body(
            lambda client: client.messages.batches.with_raw_response.retrieve(parcel),
            missing=_UNKNOWN,
        )
        if _id_of(shown) is None:
            raise BadRequestError("Anthropic gave an answer about a batch that is none.")
        return bool(shown.get("processing_status") == "ended")

    async def fetch(self, parcel: str) -> AsyncIterator[tuple[str, Answer | BadRequestError]]:
        """Yield each request's key and its answer, in any order.

        Raises DroppedError where not all could be read: what came before it holds.
        """
        content = await self._results(parcel)
        unread = 0
        for line in content.splitlines():
            result = _result(line)
            if result is None:
                unread += 1
            else:
                yield result
        if unread:
            raise DroppedError(f"{unread} results of a batch cannot be read. Fetch them again.")

    async def _page(self, after: str) -> dict[str, Any]:
        given: dict[str, Any] = {"after_id": after} if after else {}
        page = await self._door.body(
            lambda client: client.messages.batches.with_raw_response.list(limit=_PAGE, **given)
        )
        if not isinstance(page, dict):
            raise BadRequestError("Anthropic gave a list of batches that is none.")
        return page

    async def _results(self, parcel: str) -> bytes:
        # By the path that is documented and not by the address that the service names, which
        # would be given our key.
        import httpx2

        if not _ID.fullmatch(parcel):
            raise BadRequestError(f"Anthropic does not know {_UNKNOWN}: it has no such id.")
        path = f"/v1/messages/batches/{parcel}/results"
        return await self._door.content(
            lambda client: _raw(client.get(path, cast_to=httpx2.Response)),
            is_long=True,
            missing=_UNKNOWN,
        )


class _Raw:
    """A response in the form in which the client's other calls give theirs."""

    def __init__(self, response: Any) -> None:
        self.http_response = response


async def _raw(call: Any) -> _Raw:
    return _Raw(await call)


def _result(line: bytes) -> tuple[str, Answer | BadRequestError] | None:
    """Read one line of the results; None if it cannot be told whose it is."""
    try:
        row = json_of(line)
    except ValueError:
        return None
    key = row.get("custom_id") if isinstance(row, dict) else None
    result = row.get("result") if isinstance(row, dict) else None
    if not isinstance(key, str) or not isinstance(result, dict):
        return None
    return key, _answer(result, line.decode("utf-8"))


def _answer(result: dict[str, Any], raw: str) -> Answer | BadRequestError:
    kind = str(result.get("type"))
    if kind in _RESULTS:
        return BadRequestError(f"No answer: {_RESULTS[kind]}.")
    if kind != "succeeded":
        worst = Tokens(0, model_tokens(raw))
        return BadRequestError("No answer: a batch gave a result of an unknown kind.", worst)
    try:
        return read_answer(result.get("message"), raw)
    except BadRequestError as problem:
        return BadRequestError(str(problem), problem.tokens)


def _id_of(row: Any) -> str | None:
    name = row.get("id") if isinstance(row, dict) else None
    return name if isinstance(name, str) and _ID.fullmatch(name) else None


def _made_at(row: dict[str, Any]) -> float:
    """Return when a parcel was made; one that does not say it may be ours, so it counts as new."""
    try:
        at = datetime.fromisoformat(str(row.get("created_at")))
    except ValueError:
        return datetime.now(UTC).timestamp()
    return at.replace(tzinfo=at.tzinfo or UTC).timestamp()
