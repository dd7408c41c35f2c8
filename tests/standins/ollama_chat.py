"""What the stand-in for Ollama says in a chat: the answer that the text and the schema give."""

import json
from collections.abc import Callable
from typing import Any

from tests.standins import reading

Body = dict[str, Any]


def say(body: Body, obey: bool, answer_with: Callable[[Body], str | None] | None) -> str:
    """Return the answer's text."""
    if answer_with is not None:
        given = answer_with(body)
        if given is not None:
            return given
    text = "\n".join(one["content"] for one in body["messages"] if one["role"] == "user")
    order = reading.order_in(text) if obey else None
    if order is not None:
        return order
    return reading.answer(text, body["format"]) if body.get("format") else "Two words"


def lines_of(body: Body, said: str, is_cut: bool) -> bytes:
    """Return the answer in the server's form: one JSON object, or a line for every few words."""
    text = said[: len(said) // 2] if is_cut else said
    end = {
        "model": body["model"],
        "created_at": "2026-12-01T00:00:00Z",
        "done": True,
        "done_reason": "length" if is_cut else "stop",
        "prompt_eval_count": sum(len(one["content"]) // 4 + 1 for one in body["messages"]),
        "eval_count": len(text) // 4 + 1,
        "total_duration": 1,
    }
    if body.get("stream") is False:
        return json.dumps({**end, "message": {"role": "assistant", "content": text}}).encode()
    parts: list[Body] = [
        {**_part(body["model"], text[at : at + 40]), "done": False}
        for at in range(0, len(text), 40)
    ]
    last = {**end, **_part(body["model"], "")}
    return b"".join(json.dumps(part).encode() + b"\n" for part in [*parts, last])


def _part(model: str, text: str) -> Body:
    return {"model": model, "message": {"role": "assistant", "content": text}}
