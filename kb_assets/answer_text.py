"""Read what a language model answered as strict JSON, or say that it cannot be used. Pure, linear.

Nothing is mended and nothing is guessed: no fence is cut off, no second object passed over. What
comes out is small, shallow, finite and names every field once; its texts are not yet trusted.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from kb_core.errors import KbError

LONGEST_ANSWER = 300_000  # characters; the most tokens an answer may have make far less
_DEEPEST = 8
_NO_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\[\]{}"]++', re.DOTALL)


class UnusableAnswerError(KbError):
    """An answer as a whole is not what was asked for. The message holds no word of it."""


def read_answer(text: str, fields: Iterable[str]) -> dict[str, Any]:
    """Return the JSON object that an answer is; it has exactly these fields.

    Raises UnusableAnswerError.
    """
    if len(text) > LONGEST_ANSWER:
        raise _unusable("is too long")
    if _depth(text) > _DEEPEST:
        raise _unusable("is nested too deeply")
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object
        )
    except (ValueError, RecursionError):
        raise _unusable("is no JSON") from None
    if not isinstance(value, dict) or value.keys() != set(fields):
        raise _unusable("is no object with the fields asked for")
    return value


def list_in(answer: dict[str, Any], field: str) -> list[Any]:
    """Return a field that has to be a list. Raises UnusableAnswerError."""
    found = answer[field]
    if not isinstance(found, list):
        raise _unusable(f"has no list of {field}")
    return found


def is_text(value: object) -> bool:
    """Tell whether a value is a text that can be written down: a lone surrogate cannot."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _unusable(why: str) -> UnusableAnswerError:
    return UnusableAnswerError(
        f"The model's answer {why}. Rules are read in its place; the answer itself is kept."
    )


def _depth(text: str) -> int:
    """Return how deep brackets stand in each other, as far as they stand outside of texts."""
    depth = deepest = 0
    for bracket in _NO_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found
