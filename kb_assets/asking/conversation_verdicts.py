"""Read a language model's verdict about a saved conversation, strictly. Pure."""

from collections.abc import Mapping
from typing import Any

from kb_assets.answer_text import UnusableAnswerError, read_answer

NOTHING = "nothing"
REASONS = ("decision", "figure", "person", "lesson", "plan", NOTHING)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "keep": {"type": "boolean"},
        "reason": {"type": "string", "enum": list(REASONS)},
    },
    "required": ["keep", "reason"],
    "additionalProperties": False,
}


def verdict_of(answer_text: str) -> tuple[bool, str]:
    """Return whether a conversation is kept, and why.

    Raises UnusableAnswerError, also for a verdict that contradicts itself.
    """
    answer = read_answer(answer_text, ("keep", "reason"))
    keep, reason = answer["keep"], answer["reason"]
    if not isinstance(keep, bool) or reason not in REASONS or keep == (reason == NOTHING):
        raise UnusableAnswerError("The model's answer is no verdict. Rules judge in its place.")
    return keep, reason
