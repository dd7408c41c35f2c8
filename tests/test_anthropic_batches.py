"""Parcels of requests to Claude: half the price, any order, and nothing lost."""

import asyncio
import json
import time
from collections.abc import Sequence

import pytest

from kb_core.money import Tokens, price_of
from resources.llm import (
    Answer,
    BadRequestError,
    DroppedError,
    Request,
)
from tests.asked_claude import CANARY, opened, request
from tests.standins.anthropic_server import (
    BATCHES,
    MODEL,
    AnthropicStandIn,
)

pytest.importorskip("anthropic", reason="the package anthropic is not installed")


def sent_and_fetched(url: str, requests: Sequence[Request]) -> dict[str, Answer | BadRequestError]:
    async def run() -> dict[str, Answer | BadRequestError]:
        model = opened(url)
        assert model.batches is not None
        parcel = await model.batches.send(requests)
        assert await model.batches.is_done(parcel)
        found = {key: answer async for key, answer in model.batches.fetch(parcel)}
        await model.close()
        return found

    return asyncio.run(run())


def test_a_batch_brings_every_answer_by_its_key_at_half_the_price():
    requests = [request(f"A plan {number}.", number) for number in range(30)]
    with AnthropicStandIn() as server:
        found = sent_and_fetched(server.url, requests)
        server.url = "http://127.0.0.1:9"
    assert sorted(found) == [one.key for one in requests]
    costs = 0
    for answer in found.values():
        assert isinstance(answer, Answer)
        assert json.loads(answer.text)["reason"] == "plan"
        costs += price_of(MODEL, {}).cost(answer.tokens, is_batch=True)
    assert costs == server.billed_nano > 0
    (sent,) = server.calls(BATCHES)
    assert sent.body["requests"][3]["params"]["output_config"]["effort"] == "low"
    assert set(sent.body["requests"][3]) == {"custom_id", "params"}


def test_results_are_fetched_from_the_address_of_the_settings_and_no_other():
    with AnthropicStandIn() as server:
        url, server.url = server.url, "http://127.0.0.1:9"  # where the service says they are
        found = sent_and_fetched(url, [request("A plan.")])
    assert len(found) == 1


def test_a_request_of_a_batch_may_fail_alone():
    marks = ["errored", "invalid", "expired", "canceled", "cut", "refusal", "lie-usage", "tool-use"]
    requests = [request(f"[stand-in: {mark}]", number) for number, mark in enumerate(marks)]
    with AnthropicStandIn() as server:
        found = sent_and_fetched(server.url, [*requests, request("A plan.", 99)])
    results = [found[one.key] for one in requests]
    assert [type(result) for result in results] == [
        *([BadRequestError] * 4), Answer, Answer, BadRequestError, BadRequestError,
    ]  # fmt: skip
    for result in results[:4]:
        assert isinstance(result, BadRequestError)
        assert result.tokens == Tokens(0, 0)
    for result in results:
        assert CANARY not in str(result) or isinstance(result, Answer)
    unbilled, lied = results[6], results[7]
    assert isinstance(unbilled, BadRequestError)
    assert isinstance(lied, BadRequestError)
    assert unbilled.tokens.output > 0
    assert lied.tokens.input > 0
    assert isinstance(found[f"{99:032x}"], Answer)


def test_a_batch_under_way_is_not_done_and_one_that_is_unknown_is_an_error():
    async def run(url: str) -> None:
        model = opened(url)
        assert model.batches is not None
        parcel = await model.batches.send([request("A plan.")])
        assert not await model.batches.is_done(parcel)
        with pytest.raises(BadRequestError, match="this batch"):
            await model.batches.is_done("msgbatch_unknown")
        for name in ("msgbatch_unknown", "../../models", "x?limit=1"):
            with pytest.raises(BadRequestError, match="this batch"):
                [one async for one in model.batches.fetch(name)]
        with pytest.raises(BadRequestError, match="400"):
            [one async for one in model.batches.fetch(parcel)]
        await model.close()

    with AnthropicStandIn(batch_seconds=600) as server:
        asyncio.run(run(server.url))
        paths = {record.path for record in server.book.records} - {f"/v1/models/{MODEL}", BATCHES}
        assert all(path.startswith(f"{BATCHES}/msgbatch_") for path in paths)


def test_a_batch_whose_answer_was_lost_is_found_again_on_whichever_page():
    async def run(url: str) -> tuple[list[str], list[str]]:
        model = opened(url)
        assert model.batches is not None
        start = time.time()
        with pytest.raises(DroppedError):
            await model.batches.send([request("A plan.")])
        known = [await model.batches.send([request("A plan.", n)]) for n in range(1, 6)]
        found = await model.batches.unknown_since(start)
        assert await model.batches.unknown_since(start + 3600) == []
        await model.close()
        return known, found

    with AnthropicStandIn(drop_batch_create=1, page_size=2) as server:
        known, found = asyncio.run(run(server.url))
    assert len(found) == 6
    assert found[:5] == known[::-1]


def test_results_that_break_off_can_be_fetched_again():
    async def run(url: str) -> None:
        model = opened(url)
        assert model.batches is not None
        parcel = await model.batches.send([request("A plan.", n) for n in range(20)])
        with pytest.raises(DroppedError):
            [one async for one in model.batches.fetch(parcel)]
        again = [one async for one in model.batches.fetch(parcel)]
        assert len(again) == 20
        await model.close()

    with AnthropicStandIn(break_results=1) as server:
        asyncio.run(run(server.url))


def test_two_requests_of_one_key_are_refused_as_a_batch():
    with AnthropicStandIn() as server, pytest.raises(BadRequestError):
        sent_and_fetched(server.url, [request("A plan."), request("Another.")])
