"""A language model served by Ollama: one question, one request, one answer nobody has read yet.

It costs nothing. What the server says in an error is never repeated, since it may quote a note;
only its kind is. Proxies and redirects are refused: with them a text meant for this machine could
leave it.
"""

import asyncio
import importlib.util
import json
from typing import TYPE_CHECKING, Any

from kb_core.errors import LLMDownError, LLMError, LLMMissingError
from kb_core.money import Tokens, model_tokens
from kb_core.settings import LLMSettings
from resources.extras import install_command
from resources.llm import (
    CUT,
    DONE,
    Answer,
    BadRequestError,
    Batches,
    DroppedError,
    PauseError,
    Request,
    encodable,
)

if TYPE_CHECKING:
    import ollama

# More wait in the server's own queue, where the time limit of one answer would run out for them.
_AT_ONCE = 4
_SMALLEST_WINDOW = 8192
_CONNECT_SECONDS = 15.0
_BUSY = {429, 502, 503, 504}
_STOPS = {"stop": DONE, "length": CUT, None: DONE}  # servers of old say no reason
# The kinds of refusal known, by a part of the server's words in lower case.
_REFUSALS = {
    "context length": "the text is longer than the model's window",
    "input length": "the text is longer than the model's window",
    "schema": "the form of the answer was refused",
    "grammar": "the form of the answer was refused",
    "memory": "the model needs more memory than there is",
    "eof": "the model's process died",
    "terminated": "the model's process died",
}


class OllamaLLM:
    """One model of one Ollama server."""

    def __init__(
        self,
        client: "ollama.AsyncClient",
        settings: LLMSettings,
        url: str,
        identity: str,
        is_local: bool,
    ) -> None:
        """Use `open_ollama_llm`."""
        self.label = identity.partition("/")[2]
        self.identity = identity
        self.is_local = is_local
        self.batches: Batches | None = None
        self._client = client
        self._model = settings.model
        self._url = url
        # Longer than any one silence may be: it ends what drips in byte by byte.
        self._seconds = settings.timeout_seconds + _connect_seconds(settings)
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(self, request: Request) -> Answer:
        """Ask once; see `LanguageModel.ask` for the errors."""
        async with self._turns:
            return _read(await self._sent(request))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def _sent(self, request: Request) -> "ollama.ChatResponse":
        import httpx
        import ollama

        try:
            async with asyncio.timeout(self._seconds):
                return await self._client.chat(
                    model=self._model,
                    messages=[
                        {"role": "system", "content": encodable(request.system)},
                        {"role": "user", "content": encodable(request.text)},
                    ],
                    format=dict(request.schema),
                    stream=False,
                    think=False,  # thoughts are no answer, and take most of the time
                    options={
                        "temperature": 0,
                        "num_predict": request.max_tokens,
                        "num_ctx": _window(request),
                    },
                )
        except ollama.ResponseError as refusal:
            found = self._refused(refusal.status_code, str(refusal.error))
        except ConnectionError:
            found = LLMDownError(
                f"Ollama does not answer at {self._url}. Start it with `ollama serve`, or mend "
                "url under [llm] in kb.toml."
            )
        except (httpx.ConnectTimeout, httpx.PoolTimeout):
            found = PauseError(f"Ollama at {self._url} took no connection in time.")
        except (httpx.TimeoutException, TimeoutError):
            found = DroppedError(f"Ollama at {self._url} gave no answer in time.")
        except httpx.TransportError:
            found = DroppedError(f"Ollama at {self._url} dropped the connection.")
        except (ValueError, TypeError, RecursionError, httpx.DecodingError):
            found = BadRequestError(f"Ollama at {self._url} gave an answer that cannot be read.")
        # Raised out here, so that it holds neither the request nor the server's words.
        raise found

    def _refused(self, status: int, words: str) -> LLMError:
        if status in _BUSY:
            return PauseError(f"Ollama at {self._url} is busy (status {status}).")
        if status == 404:
            return LLMMissingError(
                f"Ollama at {self._url} has no model {self._model!r}. Run: ollama pull "
                f"{self._model}, or choose another under [llm] in kb.toml."
            )
        if 300 <= status < 400:
            return LLMDownError(
                f"What answers at {self._url} sends requests elsewhere (status {status}), which "
                "is refused. Mend url under [llm] in kb.toml."
            )
        lower = words.lower()
        kind = next((kind for part, kind in _REFUSALS.items() if part in lower), "no known reason")
        return BadRequestError(f"Ollama refused a request with status {status}: {kind}.")


def open_ollama_llm(settings: LLMSettings, url: str, identity: str, is_local: bool) -> OllamaLLM:
    """Make the client; nothing is sent yet. Raises LLMMissingError without the package."""
    if importlib.util.find_spec("ollama") is None:
        raise LLMMissingError(
            f"The Ollama client is not installed. Run: {install_command('ollama')}"
        )
    import httpx
    import ollama  # 0.3 s with httpx

    client = ollama.AsyncClient(
        url,
        timeout=httpx.Timeout(settings.timeout_seconds, connect=_connect_seconds(settings)),
        trust_env=False,
        follow_redirects=False,
        # Plain http has no certificate to check; loading the system's takes 20 to 60 ms.
        verify=not url.lower().startswith("http://"),
    )
    return OllamaLLM(client, settings, url, identity, is_local)


def _connect_seconds(settings: LLMSettings) -> float:
    return min(settings.timeout_seconds, _CONNECT_SECONDS)


def _read(answer: "ollama.ChatResponse") -> Answer:
    tokens = Tokens(_count(answer.prompt_eval_count), _count(answer.eval_count))
    stop = _STOPS.get(answer.done_reason) if answer.done else None
    if stop is None:
        raise BadRequestError("Ollama gave an answer without its end.", tokens)
    # Not by pydantic's own JSON, which half a surrogate pair in an answer would break.
    raw = json.dumps(answer.model_dump(exclude_none=True), default=str)
    return Answer(encodable(answer.message.content or ""), stop, tokens, raw)


def _count(tokens: Any) -> int:
    return max(0, tokens or 0)


def _window(request: Request) -> int:
    """Return room for question and answer, in few steps: each other size loads the model anew."""
    needed = model_tokens(request.system + request.text) + request.max_tokens
    window = _SMALLEST_WINDOW
    while window < needed:
        window *= 2
    return window
