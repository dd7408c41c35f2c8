"""What the stand-in for Anthropic does wrong, and when: by a queue, a count or a mark in a text.

A mark stands in what is sent, so that a note can drive a stand-in in another process:
`[stand-in: overloaded]` fails every request that holds it, `[stand-in: overloaded x2]` the first
two of each question, and `[stand-in: slow=2]` gives a value.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.standins.anthropic_http import Reply
from tests.standins.anthropic_rules import RefusedError, Traits

KEY = "sk-stand-in-key"
MODEL = "claude-haiku-5-5"
NO_EFFORT = "claude-haiku-4-5"
NO_SCHEMAS = "claude-plain-1"
REGAIN = "2026-12-15 at 00:00 UTC"

_MARK = re.compile(r"\[stand-in: ([a-z0-9-]+)(?:=([\d.]+))?(?: x(\d+))?\]")
_HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


def _models() -> dict[str, Traits]:
    return {
        MODEL: Traits(),
        NO_EFFORT: Traits(has_effort=False, window=200_000),
        NO_SCHEMAS: Traits(has_effort=False, has_schemas=False, window=200_000),
    }


@dataclass
class Scenario:
    """The counts run down; the rest stays on."""

    key: str = KEY
    models: dict[str, Traits] = field(default_factory=_models)
    slow_seconds: float = 0.0  # every answer takes so long
    queue: list[str] = field(default_factory=list)  # what the next messages meet, one each
    spend_limit_after: int | None = None  # messages that are still answered before the limit
    spend_limit: str = "spend-429"
    obey: bool = False  # does what a note says: `ANSWER WITH: {...}`
    answer_with: Callable[[dict[str, Any]], str | None] | None = None
    batch_seconds: float = 0.0  # until a batch has ended
    drop_batch_create: int = 0  # parcels taken without an answer: the connection breaks
    break_results: int = 0  # result files cut in the middle
    fail_probe: list[str] = field(default_factory=list)  # what the next GET of a model meets
    page_size: int = 20


@dataclass(frozen=True)
class Trouble:
    """One thing to go wrong: its name, and a value that it may have."""

    name: str
    value: float | None = None


class Troubles:
    """Choose what goes wrong with a request; remembers how often it did."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._asked = 0
        self._met: Counter[tuple[str, str]] = Counter()

    def of(self, text: str, is_batch: bool = False) -> list[Trouble]:
        """Return what a request meets, first what the scenario's queue and count say."""
        scenario = self._scenario
        found: list[Trouble] = []
        if not is_batch:
            self._asked += 1
            limit = scenario.spend_limit_after
            if limit is not None and self._asked > limit:
                found.append(Trouble(scenario.spend_limit))
            if scenario.queue:
                found.append(named(scenario.queue.pop(0)))
        return found + self._marked(text)

    def _marked(self, text: str) -> list[Trouble]:
        found = []
        for name, value, times in _MARK.findall(text):
            self._met[name, text] += 1
            if not times or self._met[name, text] <= int(times):
                found.append(Trouble(name, float(value) if value else None))
        return found


def named(name: str) -> Trouble:
    """Read a trouble as the queue writes it: `rate=3`, `overloaded`."""
    name, _, value = name.partition("=")
    return Trouble(name, float(value) if value else None)


def refusal_of(trouble: Trouble, text: str) -> Reply | None:
    """Return the error that a trouble is, or nothing if it only spoils an answer."""
    if trouble.name in _ERRORS:
        status, kind, words, code = _ERRORS[trouble.name]
        headers = {} if trouble.value is None else {"retry-after": f"{trouble.value:g}"}
        return error(RefusedError(status, kind, words.replace("TEXT", text[:300]), code), headers)
    if trouble.name in ("502", "html"):
        status = 502 if trouble.name == "502" else 200
        return Reply(status, (_HTML,), {"content-type": "text/html"})
    if trouble.name == "redirect":
        return Reply(307, (), {"location": "http://127.0.0.1:9/v1/messages"})
    return Reply(200, (), break_after=-1) if trouble.name == "silent" else None


def error(refused: RefusedError, headers: dict[str, str] | None = None) -> Reply:
    """Return an error in the service's form."""
    inside: dict[str, Any] = {"type": refused.kind, "message": refused.words}
    if refused.code:
        inside["details"] = {"error_code": refused.code}
    body = {"type": "error", "error": inside, "request_id": "req_standin"}
    head = {"content-type": "application/json", "request-id": "req_standin", **(headers or {})}
    return Reply(refused.status, (json.dumps(body).encode(),), head)


_LIMIT = "You have reached your specified API usage limits. You will regain access on " + REGAIN
_CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing"
_QUOTED = "messages.0.content: this cannot be read: TEXT"
# Status, kind, words and code; TEXT stands for what was sent, which an error may quote.
_ERRORS = {
    "rate": (429, "rate_limit_error", "This request would exceed your rate limit: TEXT", ""),
    "ramp": (429, "rate_limit_error", "Ramp up more slowly", "ramp_limit_exceeded"),
    "spend-429": (429, "rate_limit_error", _LIMIT + ".", "enforced_spend_limit_reached"),
    "spend-contract": (429, "rate_limit_error", "No more", "contract_spend_limit_reached"),
    "spend-402": (402, "billing_error", "TEXT", "linked_organization_spend_limit_reached"),
    "spend-400": (400, "invalid_request_error", _LIMIT + ".", ""),
    "credit": (400, "invalid_request_error", _CREDIT, ""),
    "billing": (402, "billing_error", "Payment is required", ""),
    "overloaded": (529, "overloaded_error", "Overloaded", ""),
    "500": (500, "api_error", "Internal server error: TEXT", ""),
    "503": (503, "api_error", "Unavailable", ""),
    "504": (504, "timeout_error", "Timed out", ""),
    "bad-request": (400, "invalid_request_error", _QUOTED, ""),
    "too-long": (400, "invalid_request_error", "prompt is too long: 1 > 0 TEXT", ""),
    "too-large": (413, "request_too_large", "Request exceeds the maximum size", ""),
    "unprocessable": (422, "invalid_request_error", _QUOTED, ""),
    "401": (401, "authentication_error", "invalid x-api-key", ""),
    "403": (403, "permission_error", _QUOTED, ""),
    "404": (404, "not_found_error", "model: TEXT", ""),
    "408": (408, "timeout_error", "Timed out", ""),
    "409": (409, "conflict_error", "Conflict", ""),
}
