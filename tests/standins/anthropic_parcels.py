"""The batches that the stand-in for Anthropic holds: answered at once, given out when they end.

Results come in the reverse order of the requests, since the real ones come in any.
"""

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.standins.anthropic_answers import Said, message_of
from tests.standins.anthropic_rules import RefusedError
from tests.standins.anthropic_scenario import Trouble

_UNBILLED = {"errored", "expired", "canceled", "invalid"}


@dataclass(frozen=True)
class Item:
    """One request of a batch and what came of it."""

    custom_id: str
    params: dict[str, Any]
    said: Said
    troubles: Sequence[Trouble]

    @property
    def is_billed(self) -> bool:
        """Only what was answered costs something."""
        return not any(trouble.name in _UNBILLED for trouble in self.troubles)

    def line(self) -> bytes:
        """Return its line of the results."""
        names = {trouble.name for trouble in self.troubles}
        result: dict[str, Any] = {"type": "succeeded"}
        if "errored" in names or "invalid" in names:
            kind = "invalid_request_error" if "invalid" in names else "api_error"
            inside = {"type": kind, "message": json.dumps(self.params)[:200]}
            result = {"type": "errored", "error": {"type": "error", "error": inside}}
        elif names & _UNBILLED:
            result = {"type": (names & _UNBILLED).pop()}
        else:
            result["message"] = message_of(self.params, self.said, self.troubles)
        return json.dumps({"custom_id": self.custom_id, "result": result}).encode() + b"\n"


@dataclass(frozen=True)
class Parcel:
    """A batch."""

    items: list[Item]
    seconds: float
    id: str = field(default_factory=lambda: f"msgbatch_{secrets.token_hex(12)}")
    born: float = field(default_factory=time.monotonic)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def is_ended(self) -> bool:
        """Tell whether the results may be fetched."""
        return time.monotonic() - self.born >= self.seconds

    def results(self) -> bytes:
        """Return the results as lines of JSON, last request first."""
        return b"".join(item.line() for item in reversed(self.items))

    def shown(self, url: str) -> dict[str, Any]:
        """Return the batch in the service's form; the counts stay zero until it has ended."""
        ended = self.is_ended
        billed = sum(item.is_billed for item in self.items) if ended else 0
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else len(self.items),
                "succeeded": billed,
                "errored": len(self.items) - billed if ended else 0,
                "canceled": 0,
                "expired": 0,
            },
            "created_at": _stamp(self.created),
            "expires_at": _stamp(self.created + timedelta(hours=24)),
            "ended_at": _stamp(datetime.now(UTC)) if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{url}/v1/messages/batches/{self.id}/results" if ended else None,
        }


class Parcels:
    """All batches, newest first."""

    def __init__(self) -> None:
        self._parcels: list[Parcel] = []

    def add(self, parcel: Parcel) -> None:
        """Keep a batch."""
        self._parcels.insert(0, parcel)

    def get(self, name: str) -> Parcel:
        """Return a batch. Raises RefusedError if there is none of that id."""
        for parcel in self._parcels:
            if parcel.id == name:
                return parcel
        raise RefusedError(404, "not_found_error", f"Message Batch {name} not found")

    def page(self, after: str | None, size: int, url: str) -> dict[str, Any]:
        """Return a page of the list."""
        ids = [parcel.id for parcel in self._parcels]
        start = ids.index(after) + 1 if after else 0
        shown = [parcel.shown(url) for parcel in self._parcels[start : start + size]]
        return {
            "data": shown,
            "has_more": start + size < len(ids),
            "first_id": shown[0]["id"] if shown else None,
            "last_id": shown[-1]["id"] if shown else None,
        }


def _stamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
