"""What the stand-in for Anthropic answers to one question, sound or spoiled. Pure but for ids.

An answer is billed by what the stand-in counted, whatever a spoiled answer says about itself.
"""

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.standins import reading
from tests.standins.anthropic_http import Reply
from tests.standins.anthropic_log import bill, input_tokens, strings_in, text_tokens
from tests.standins.anthropic_scenario import Scenario, Trouble

Message = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """An answer before anything spoils its form."""

    text: str
    stop: str
    sent_tokens: int
    said_tokens: int

    def billed(self, model: str, is_batch: bool = False) -> int:
        """Return what it costs: a refusal before the first word costs nothing."""
        return bill(model, self.sent_tokens, self.said_tokens, is_batch)


def say(body: Message, scenario: Scenario, troubles: Sequence[Trouble]) -> Said:
    """Answer a question, then let happen to the text what the troubles say."""
    text = _text_of(body, scenario)
    said = Said(text, "end_turn", input_tokens(body), text_tokens(text))
    said = _cut(said, body["max_tokens"])
    for trouble in troubles:
        if trouble.name in _SPOIL_TEXT:
            said = _SPOIL_TEXT[trouble.name](said)
    return said


def message_of(body: Message, said: Said, troubles: Sequence[Trouble]) -> Any:
    """Return the message in the service's form, or in one that lies."""
    message: Any = {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": said.text}] if said.text else [],
        "stop_reason": said.stop,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None} if said.stop == "refusal" else None,
        "usage": {
            "input_tokens": said.sent_tokens,
            "output_tokens": said.said_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "service_tier": "standard",
        },
    }
    return spoiled(message, troubles)


def spoiled(message: Any, troubles: Sequence[Trouble]) -> Any:
    """Return what an answer becomes by the lies among the troubles."""
    for trouble in troubles:
        if trouble.name in _SPOIL_FORM:
            message = _SPOIL_FORM[trouble.name](message)
    return message


def reply_of(message: Any, troubles: Sequence[Trouble]) -> Reply:
    """Return the answer as HTTP, broken where a trouble breaks it."""
    names = {trouble.name for trouble in troubles}
    payload = json.dumps(message).encode()
    if "lie-deep" in names:
        payload = b"[" * 200_000
    if "broken" in names:
        payload = payload[: len(payload) // 2]
    if "lie-bytes" in names:
        payload = payload[:-1] + b"\xff\xfe}"
    head = {"content-type": "application/json", "request-id": "req_standin", **_RATES}
    if "drip" in names:  # a byte at a time, so that no silence is long
        pieces = tuple(payload[at : at + 1] for at in range(len(payload)))
        return Reply(200, pieces, head, pause_seconds=0.05)
    return Reply(200, (payload,), head, len(payload) // 2 if "dropped" in names else None)


def stream_of(message: Message, troubles: Sequence[Trouble]) -> Reply:
    """Return the answer as server-sent events, a few words in each."""
    start = {**message, "content": [], "stop_reason": None}
    text = message["content"][0]["text"] if message["content"] else ""
    deltas = [text[at : at + 40] for at in range(0, len(text), 40)]
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    end = {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage}
    events = [
        _event("message_start", {"message": start}),
        _event("content_block_start", block),
        _event("ping", {}),
        *(
            _event(
                "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": one}}
            )
            for one in deltas
        ),
        _event("content_block_stop", {"index": 0}),
        _event("message_delta", end),
        _event("message_stop", {}),
    ]
    names = {trouble.name for trouble in troubles}
    if "stream-error" in names:
        words = {"error": {"type": "overloaded_error", "message": "Overloaded"}}
        events[3:] = [_event("error", words)]
    size = sum(map(len, events))
    head = {"content-type": "text/event-stream", "request-id": "req_standin"}
    return Reply(200, tuple(events), head, size // 2 if "dropped" in names else None)


def user_text(body: Message) -> str:
    """Return what the user's messages say."""
    said = [message["content"] for message in body["messages"]]
    return "\n".join(
        one if isinstance(one, str) else "\n".join(str(part.get("text", "")) for part in one)
        for one in said
    )


def _text_of(body: Message, scenario: Scenario) -> str:
    if scenario.answer_with is not None:
        given = scenario.answer_with(body)
        if given is not None:
            return given
    text = user_text(body)
    order = reading.order_in(text) if scenario.obey else None
    if order is not None:
        return order
    form = (body.get("output_config") or {}).get("format")
    return reading.answer(text, form["schema"]) if form else "Read: " + text[:40]


def _cut(said: Said, most: int) -> Said:
    if said.said_tokens <= most:
        return said
    text = said.text.encode()[: most * 7 // 2].decode(errors="ignore")
    return replace(said, text=text, stop="max_tokens", said_tokens=most)


def _half(said: Said, stop: str) -> Said:
    half = said.text[: len(said.text) // 2]
    return replace(said, text=half, stop=stop, said_tokens=text_tokens(half))


def _other(said: Said, text: str) -> Said:
    return replace(said, text=text, said_tokens=text_tokens(text))


def _with(message: Message, **fields: Any) -> Message:
    return {**message, **fields}


def _usage(message: Message, **fields: Any) -> Message:
    return {**message, "usage": {**message["usage"], **fields}}


def _without(message: Message, name: str) -> Message:
    return {field: value for field, value in message.items() if field != name}


def _event(kind: str, data: Message) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


_SPOIL_TEXT: dict[str, Callable[[Said], Said]] = {
    "refusal": lambda said: Said("", "refusal", 0, 0),
    "cut": lambda said: _half(said, "max_tokens"),
    "window": lambda said: _half(said, "model_context_window_exceeded"),
    "malformed": lambda said: _other(said, "Sure! Here is what you want: {"),
    "empty": lambda said: _other(said, ""),
    "surrogate": lambda said: _other(said, "half a pair: \ud83d"),
}
_SPOIL_FORM: dict[str, Callable[[Message], Any]] = {
    "lie-content": lambda message: _with(message, content="a text"),
    "lie-block": lambda message: _with(message, content=[{"type": "text", "text": 5}]),
    "lie-blocks": lambda message: _with(message, content=["a text"]),
    "lie-no-content": lambda message: _without(message, "content"),
    "lie-usage": lambda message: _with(message, usage=None),
    "lie-no-usage": lambda message: _without(message, "usage"),
    "lie-negative": lambda message: _usage(message, input_tokens=-5),
    "lie-huge": lambda message: _usage(message, output_tokens=10**30),
    "lie-strings": lambda message: _usage(message, input_tokens="12"),
    "lie-bool": lambda message: _usage(message, output_tokens=True),
    "lie-float": lambda message: _usage(message, output_tokens=1.5),
    "lie-stop": lambda message: _with(message, stop_reason="dance"),
    "lie-no-stop": lambda message: _with(message, stop_reason=None),
    "lie-stop-list": lambda message: _with(message, stop_reason=["end_turn"]),
    "lie-list": lambda message: [message],
    "lie-null": lambda message: None,
    "tool-use": lambda message: _with(message, stop_reason="tool_use"),
    "pause-turn": lambda message: _with(message, stop_reason="pause_turn"),
    "cached": lambda message: _usage(
        message, cache_creation_input_tokens=30, cache_read_input_tokens=7
    ),
    "two-blocks": lambda message: _with(
        message,
        content=[
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            *({"type": "text", "text": part} for part in strings_in(message["content"])[3:]),
            {"type": "text", "text": " and more"},
        ],
    ),
}
_RATES = {
    f"anthropic-ratelimit-{kind}-{what}": value
    for kind in ("requests", "tokens")
    for what, value in (
        ("limit", "4000"), ("remaining", "3999"), ("reset", "2026-12-01T00:00:00Z"),
    )
}  # fmt: skip
