"""The stand-in's own book: everything that was sent to it, and what it bills, in whole numbers.

It counts and prices by rules of its own, so that a ledger which agrees with it was not made by the
same code. A file takes the same lines, so that a bill outlives the client that it is for.
"""

import hashlib
import json
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.standins.anthropic_http import Call

# Nano-dollars a token: input, output, and what a prompt of more tokens than that costs.
_PRICES = {"claude-haiku-5-5": (100, 500, 100_000, 5), "claude-haiku-4-5": (1000, 5000, None, 1)}


@dataclass(frozen=True)
class Record:
    """One request, as it came and as it is billed."""

    method: str
    path: str
    body: Any
    troubles: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    billed_nano: int = 0
    questions: tuple[str, ...] = ()  # digests of what was asked and billed


class Book:
    """Every request in order. Safe to read while the server answers."""

    def __init__(self, path: Path | None = None) -> None:
        self.records: list[Record] = []
        self._heads: list[str] = []
        self._file = path.open("a", encoding="utf-8") if path else None
        self._lock = threading.Lock()

    @property
    def billed_nano(self) -> int:
        """Return the whole bill."""
        return sum(record.billed_nano for record in list(self.records))

    def write(self, call: Call, record: Record) -> None:
        """Note a request down, before it is answered."""
        with self._lock:
            self.records.append(record)
            self._heads.append(f"{call.path} {call.query} {call.headers}")
            if self._file:
                self._file.write(json.dumps(asdict(record), ensure_ascii=True) + "\n")
                self._file.flush()

    def calls(self, path: str) -> list[Record]:
        """Return the requests to a path, as in `/v1/messages`."""
        return [record for record in list(self.records) if record.path == path]

    def repeats(self) -> int:
        """Return how many answers were billed that had been billed before."""
        return repeats(self.records)

    def sent_text(self) -> str:
        """Return everything ever received, to look for what should never have been sent."""
        bodies = [json.dumps(record.body, ensure_ascii=False) for record in list(self.records)]
        strings = [text for record in list(self.records) for text in strings_in(record.body)]
        return "\n".join([*self._heads, *bodies, *strings])

    def close(self) -> None:
        """Let go of the file."""
        if self._file:
            self._file.close()


def read_book(path: Path) -> list[Record]:
    """Read what a stand-in wrote into its file; a last line that is cut counts as not written."""
    lines = path.read_text("utf-8").split("\n")[:-1]
    return [Record(**json.loads(line)) for line in lines]


def repeats(records: list[Record]) -> int:
    """Return how many answers were billed that had been billed before."""
    asked = Counter(question for record in list(records) for question in record.questions)
    return sum(times - 1 for times in asked.values())


def input_tokens(body: dict[str, Any]) -> int:
    """Count what a question is billed for, by a rule of the stand-in's own."""
    schema = (body.get("output_config") or {}).get("format") or {}
    sent = [body.get("system", ""), body["messages"], schema.get("schema", {})]
    return text_tokens("".join(text for part in sent for text in strings_in(part)))


def text_tokens(text: str) -> int:
    """Count a token for every three and a half bytes."""
    return -(-2 * len(text.encode("utf-8", "replace")) // 7)


def bill(model: str, sent: int, said: int, is_batch: bool = False) -> int:
    """Return what a question costs in nano-dollars. A batch costs half."""
    price_in, price_out, limit, factor = _PRICES.get(model, (0, 0, None, 1))
    total = sent * price_in + said * price_out
    if limit is not None and sent > limit:
        total *= factor
    return total // 2 if is_batch else total


def question_of(body: dict[str, Any]) -> str:
    """Name what is asked, whoever asks it and however."""
    asked = {name: body.get(name) for name in ("model", "system", "messages", "output_config")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def strings_in(value: Any) -> list[str]:
    """Return every string of a JSON value, names of fields too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, part in value.items() for text in (name, *strings_in(part))]
    return [text for part in value for text in strings_in(part)] if isinstance(value, list) else []
