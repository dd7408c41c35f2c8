"""What is to be asked, what for, what it will cost, and what came of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from kb_core.ids import canonical_json
from kb_core.money import Price, Tokens, model_tokens
from resources.llm import Request


@dataclass(frozen=True)
class Item:
    """One request, and what it answers."""

    request: Request
    parts: tuple[str, ...]  # keys of what it answers, in order; of one part: the request's own
    expected_output: int  # tokens, for the estimate; the worst case is request.max_tokens


@dataclass(frozen=True)
class Purpose:
    """What money is spent for."""

    folder: str  # a partition key, or "*" for the whole vault
    stage: str
    plan: str  # the plan's id


@dataclass
class PaidOutcome:
    """What came of a run. Equal requests count once."""

    answered: int = 0
    cached: int = 0  # known before, or paid for by another run meanwhile
    waiting: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # why, by request key
    asked: int = 0  # requests sent in this run
    estimated_nano: int = 0  # of those that were sent or fetched in this run
    billed_nano: int = 0
    stopped_by: str = ""  # one sentence; nothing when all went well
    stop_kind: str = ""  # an error's class name, "ceiling", "time", or nothing


class Estimate(NamedTuple):
    """What a request is thought to take, in tokens and nano-dollars."""

    tokens: int
    expected: int
    worst: int


def estimate(item: Item, price: Price | None, *, is_batch: bool = False) -> Estimate:
    """Estimate what an item costs, without sending anything; without a price it costs nothing."""
    request = item.request
    sent = model_tokens(request.text) + _frame_tokens(
        request.system, canonical_json(request.schema)
    )
    output = min(item.expected_output, request.max_tokens)
    if price is None:
        return Estimate(sent + output, 0, 0)
    expected = price.cost(Tokens(sent, output), is_batch=is_batch)
    worst = price.cost(Tokens(sent, request.max_tokens), is_batch=is_batch)
    return Estimate(sent + output, expected, worst)


def expected_nano(items: Sequence[Item], price: Price | None, *, is_batch: bool = False) -> int:
    """Return what items are expected to cost together: what a plan says."""
    return sum(estimate(item, price, is_batch=is_batch).expected for item in items)


def packed(item: Item) -> bytes:
    """Return an item's parts as the store keeps them: 16 bytes each."""
    return b"".join(bytes.fromhex(part) for part in item.parts)


@lru_cache(maxsize=64)
def _frame_tokens(system: str, schema: str) -> int:
    """Count what is the same for every note of a stage, once."""
    return model_tokens(system) + model_tokens(schema)
