"""Claude as the tests ask it: one client, the stand-in's key, and a text with a canary in it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kb_core.settings import LLMSettings
from resources.anthropic_llm import AnthropicLLM
from resources.llm import Answer, Request
from resources.open_llm import open_llm
from tests.standins.anthropic_server import KEY, AnthropicStandIn

CANARY = "the canary sings at 4711"
SYSTEM = "You read notes."
SCHEMA = {
    "type": "object",
    "properties": {"keep": {"type": "boolean"}, "reason": {"enum": ["plan", "nothing"]}},
    "required": ["keep", "reason"],
    "additionalProperties": False,
}


def request(text: str, number: int = 0, max_tokens: int = 500) -> Request:
    return Request(f"{number:032x}", SYSTEM, f"{text} {CANARY}", SCHEMA, max_tokens)


def opened(url: str, key: str = KEY, **chosen: Any) -> AnthropicLLM:
    settings = LLMSettings(engine="anthropic", url=url, **{"timeout_seconds": 5, **chosen})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_API_KEY", key)
        model = open_llm(settings)
    assert isinstance(model, AnthropicLLM)
    return model


def asked(url: str, requests: Sequence[Request], **chosen: Any) -> list[Answer | BaseException]:
    """Ask all at once through one client."""

    async def ask_all() -> list[Answer | BaseException]:
        model = opened(url, **chosen)
        try:
            calls = (model.ask(one) for one in requests)
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(ask_all())


def met(mark: str, **chosen: Any) -> tuple[Answer | BaseException, AnthropicStandIn]:
    """Ask once and let the answer go wrong by a mark in the text."""
    with AnthropicStandIn() as server:
        return asked(server.url, [request(f"[stand-in: {mark}]")], **chosen)[0], server
