"""What a language model is asked and what it answers, whoever serves it.

A model is asked one request at a time, by whoever holds the money: see resources/paid_calls.py,
the only place that calls `ask`. Text of notes goes into `text` alone, and out of an answer comes
data that nobody trusts before it was checked.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kb_core.errors import LLMError
from kb_core.money import Tokens

# Why a model stopped, in the words that every engine's answers are brought to.
DONE = "done"
CUT = "cut"  # at the most tokens an answer may have, or at the end of the model's window
REFUSED = "refused"  # the model does not want to read this


@dataclass(frozen=True)
class Request:
    """One question to a model. Equal keys are equal questions, and are paid for once."""

    key: str  # 32 hex digits: the model and everything that is sent, but for what only limits it
    system: str  # ours alone: no word of a note
    text: str  # what is to be read, as data
    schema: Mapping[str, Any]  # of the JSON object to be answered
    max_tokens: int  # of the answer


@dataclass(frozen=True)
class Answer:
    """What came back, unread. It may be anything but in form."""

    text: str  # what the model wrote; nothing where it refused
    stop: str  # DONE, CUT or REFUSED
    tokens: Tokens  # as billed
    raw: str  # the provider's whole answer as JSON, for whoever wants to look again


class BadRequestError(LLMError):
    """No answer to this one request: asking for the others goes on.

    `tokens` are what was billed for it all the same.
    """

    def __init__(self, message: str, tokens: Tokens | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens or Tokens(0, 0)


class PauseError(LLMError):
    """The server wants fewer requests: nothing was billed; ask again after so many seconds."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds  # None: it does not say


class DroppedError(LLMError):
    """The connection broke after the request was sent: it may have been billed."""


def encodable(text: str) -> str:
    """Replace half a surrogate pair, which no JSON in UTF-8 can hold and no file can store."""
    return text.encode("utf-8", "replace").decode("utf-8")


class LanguageModel(Protocol):
    """One model behind one door."""

    label: str  # what stands beside everything it said: `claude-haiku-5-5`
    identity: str  # what decides its answers, part of every key: `anthropic/claude-haiku-5-5`
    is_local: bool  # what is sent stays on this machine, and costs nothing
    batches: "Batches | None"

    async def ask(self, request: Request) -> Answer:
        """Ask once. The caller retries and pauses; nothing here does.

        Raises BadRequestError (this text), PauseError (later), DroppedError (perhaps billed, ask
        again once), and what ends the run: LLMMissingError (key, model), SpendLimitError,
        LLMDownError (no connection).
        """

    async def close(self) -> None:
        """Let go of the connections. The model may be asked from one event loop only."""


class Batches(Protocol):
    """Many requests in one parcel, at a share of the price, answered within a day."""

    async def send(self, requests: Sequence[Request]) -> str:
        """Hand a parcel over and return the provider's id of it. Each request goes by its key."""

    async def unknown_since(self, instant: float) -> list[str]:
        """Return the ids of the parcels made since an instant, newest first."""

    async def is_done(self, parcel: str) -> bool:
        """Tell whether a parcel can be fetched. Raises BadRequestError if it is not known."""

    def fetch(self, parcel: str) -> AsyncIterator[tuple[str, Answer | BadRequestError]]:
        """Yield each request's key and its answer, in any order."""
