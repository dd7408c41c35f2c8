"""What Anthropic's refusals and a broken connection mean for whoever asked. Pure.

A provider's error may quote what it was sent, so no word of one is repeated: only its status, and
kinds and dates that match a closed list. Errors carry no cause, for a cause would hold the request.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from kb_core.errors import LLMDownError, LLMError, LLMMissingError, SpendLimitError
from resources.llm import BadRequestError, DroppedError, PauseError

if TYPE_CHECKING:
    import anthropic

_SPENT_CODES = {
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "linked_organization_spend_limit_reached",
}
# Anchored: an error that quotes a note must not stop a run by what the note says.
_SPENT_WORDS = re.compile(
    r"(?:your )?credit balance is too low|you have reached your specified (?:api )?usage limits",
    re.IGNORECASE,
)
_REGAIN = re.compile(r"regain access on (\d{4}-\d{2}-\d{2}(?: at \d{2}:\d{2} UTC)?)")
_LATER = {408, 409, 425, 429}  # these and every 5xx: the same request may succeed in a while
# Kinds of refusal, by a part of the provider's words in lower case.
_REFUSALS = {
    "prompt is too long": "the text is longer than the model's window",
    "grammar": "the form of the answer is too much for the provider",
    "schema": "the form of the answer was refused",
    "effort": "the model takes no effort",
    "max_tokens": "the size of the answer was refused",
    "extra inputs": "a parameter is not known to it",
}


def sent_error(problem: Exception, model: str, missing: str = "") -> LLMError:
    """Sort what the client raised. `missing` says what is unknown on 404 if not the model."""
    import anthropic
    import httpx2

    if isinstance(problem, anthropic.APIStatusError):
        return _status_error(problem, model, missing)
    cause = problem.__cause__ if isinstance(problem, anthropic.APIConnectionError) else problem
    if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return PauseError("Anthropic took no connection in time: nothing was sent.")
    if isinstance(cause, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return LLMDownError(
            "Anthropic cannot be reached: no connection was made. Look at the network, and at url "
            "under [llm] in kb.toml."
        )
    if isinstance(cause, httpx2.TimeoutException | TimeoutError):
        return DroppedError("Anthropic gave no answer in time. It may bill the request.")
    return DroppedError("The connection to Anthropic broke. It may bill the request.")


def _status_error(problem: "anthropic.APIStatusError", model: str, missing: str) -> LLMError:
    status = problem.status_code
    if _is_spent(problem):
        return SpendLimitError(_spent_words(problem))
    if status in _LATER or status >= 500:
        return PauseError(
            f"Anthropic wants requests later (status {status}).", _seconds(problem.response.headers)
        )
    if status in (401, 403, 404):
        return _missing_error(status, model, missing)
    if status < 400:
        return LLMDownError(
            f"What answers for Anthropic sends requests elsewhere (status {status}), which is "
            "refused. Mend url under [llm] in kb.toml."
        )
    return BadRequestError(f"Anthropic refused a request with status {status}: {_kind(problem)}.")


def _is_spent(problem: "anthropic.APIStatusError") -> bool:
    if problem.status_code == 402 or problem.error_code in _SPENT_CODES:
        return True
    return problem.status_code == 400 and bool(_SPENT_WORDS.match(_words(problem)))


def _spent_words(problem: "anthropic.APIStatusError") -> str:
    found = _REGAIN.search(_words(problem)) if _SPENT_WORDS.match(_words(problem)) else None
    until = f" It opens again on {found[1]}." if found else ""
    return (
        f"Anthropic's own limit on spending is reached.{until} Everything paid for is kept. Raise "
        "the limit or add credit in Anthropic's console, or wait, then run again: it goes on "
        "where it stopped."
    )


def _missing_error(status: int, model: str, missing: str) -> LLMError:
    if status == 401:
        return LLMMissingError(
            "Anthropic refused the key (status 401). Put a valid one into ANTHROPIC_API_KEY."
        )
    if status == 403:
        return LLMMissingError(
            f"Anthropic refuses this key the model {model!r} (status 403). Look at the key's "
            "workspace in Anthropic's console, or choose another model under [llm] in kb.toml."
        )
    if missing:
        return BadRequestError(f"Anthropic does not know {missing} (status 404).")
    return LLMMissingError(
        f"Anthropic knows no model {model!r} (status 404). Mend model, or url, under [llm] in "
        "kb.toml."
    )


def _kind(problem: "anthropic.APIStatusError") -> str:
    if problem.status_code == 413:
        return "the request is too large"
    words = _words(problem).lower()
    return next((kind for part, kind in _REFUSALS.items() if part in words), "no known reason")


def _words(problem: "anthropic.APIStatusError") -> str:
    words: object = problem.api_message
    return words if isinstance(words, str) else ""


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Read `retry-after`: seconds, or a date. None where it says nothing of use."""
    given = headers.get("retry-after", "")
    try:
        seconds = float(given)
    except ValueError:
        seconds = _seconds_until(given)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(moment: str) -> float:
    try:
        at = parsedate_to_datetime(moment)
    except ValueError:
        return math.nan
    return (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
