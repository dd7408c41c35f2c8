"""Claude as a language model: one question, one request, one answer that nobody has read yet.

Asking costs money. It sends text of notes to Anthropic and nowhere else, once each: no retry, no
tool, no memory between questions. The caller keeps the book; see resources/paid_calls.py.
"""

from kb_core.money import Tokens, model_tokens
from kb_core.settings import LLMSettings
from resources.anthropic_answers import read_answer
from resources.anthropic_batches import AnthropicBatches
from resources.anthropic_door import AnthropicDoor, open_door
from resources.llm import Answer, Batches, Request


class AnthropicLLM:
    """One of Anthropic's models."""

    is_local = False

    def __init__(self, door: AnthropicDoor, identity: str) -> None:
        """Use `open_anthropic`."""
        self.label = door.model
        self.identity = identity
        self.batches: Batches | None = AnthropicBatches(door)
        self._door = door

    async def ask(self, request: Request) -> Answer:
        """Ask once; see `LanguageModel.ask` for the errors."""
        parameters = await self._door.parameters(request)
        message, raw = await self._door.text(
            lambda client: client.messages.with_raw_response.create(**parameters)
        )
        return read_answer(message, raw, _worst(request))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._door.close()


def open_anthropic(settings: LLMSettings, identity: str) -> AnthropicLLM:
    """Make the client; nothing is sent yet. Raises LLMMissingError without package or key."""
    return AnthropicLLM(open_door(settings), identity)


def _worst(request: Request) -> Tokens:
    """Return the most that a question can cost, for an answer that hides its bill."""
    sent = request.system + request.text + str(dict(request.schema))
    return Tokens(model_tokens(sent), request.max_tokens)
