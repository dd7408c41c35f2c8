"""Read what Anthropic answered, believing nothing of its form. Pure.

An answer that lies about its bill is counted as the worst that it may have cost: money is rather
counted twice than not at all.
"""

import json
from collections.abc import Mapping
from typing import Any

from kb_core.money import Tokens, model_tokens
from resources.llm import CUT, DONE, REFUSED, Answer, BadRequestError, encodable

_STOPS = {
    "end_turn": DONE,
    "stop_sequence": DONE,
    "max_tokens": CUT,
    "model_context_window_exceeded": CUT,
    "refusal": REFUSED,
}
# No request is that large: a number beyond it is none that anybody would pay.
_MOST_TOKENS = 100_000_000
_LIED = "Anthropic gave an answer that is none: its {} cannot be read."


def json_of(content: bytes) -> Any:
    """Read JSON. Raises ValueError for what is none, or is nested without end."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_answer(message: Any, raw: str, worst: Tokens | None = None) -> Answer:
    """Read a message. Raises BadRequestError with what was billed, as far as that can be told.

    `worst` is what the question may cost at most, for a bill that cannot be read.
    """
    tokens = _tokens(message)
    if tokens is None:
        raise BadRequestError(_LIED.format("bill"), worst or Tokens(0, model_tokens(raw)))
    reason = message.get("stop_reason")
    stop = _STOPS.get(reason) if isinstance(reason, str) else None
    if stop is None:
        raise BadRequestError(_LIED.format("reason to stop"), tokens)
    text = _text(message.get("content"))
    if text is None:
        raise BadRequestError(_LIED.format("text"), tokens)
    return Answer(text, stop, tokens, raw)


def _tokens(message: Any) -> Tokens | None:
    usage = message.get("usage") if isinstance(message, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    counts: list[Any] = [
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        # A provider that caches nothing may leave these out.
        usage.get("cache_creation_input_tokens") or 0,
        usage.get("cache_read_input_tokens") or 0,
    ]
    for count in counts:
        if type(count) is not int or not 0 <= count <= _MOST_TOKENS:  # True is an int to Python
            return None
    return Tokens(*counts)


def _text(content: Any) -> str | None:
    """Join the text of an answer's blocks."""
    if not isinstance(content, list):
        return None
    parts = []
    for block in content:
        if not isinstance(block, Mapping):
            return None
        if block.get("type") == "text":
            if not isinstance(block.get("text"), str):
                return None
            parts.append(block["text"])
    return encodable("".join(parts))
