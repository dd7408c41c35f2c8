"""Embedding through an Ollama server, by default bge-m3: 1,024 dimensions, many languages.

One request is in flight at a time and none waits for ever. What the server says in an error is
never repeated, since it may quote a note; only its kind is. Proxies and redirects are refused:
with them a text meant for this machine could leave it.
"""

import importlib.util
import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from kb_core.errors import EmbedderDownError, EmbedderError, EmbedderMissingError
from kb_core.settings import EmbedderSettings
from resources.embedder import (
    BadBatchError,
    EmbedderProfile,
    RawBatch,
    SilentError,
    Vectors,
    unit_vectors,
)
from resources.extras import install_command

if TYPE_CHECKING:
    import ollama


Answer = TypeVar("Answer")

# Texts between the batch size and the window can kill the server's runner, so both are equal.
_WINDOW_TOKENS = 8192
_LONGEST_PAUSE_SECONDS = 8.0
_BUSY = 503
_MISSING = 404
# The kinds of refusal known, by a part of the server's words in lower case. Old servers say
# "unsupported value: NaN" with 500, new ones "NaN or Inf values" with 400.
_REFUSALS = {
    "nan": "the model gave NaN for a text",
    "context length": "a text is longer than the model's window",
    "input length": "a text is longer than the model's window",
    "eof": "the model's process died",
    "terminated": "the model's process died",
}


@dataclass(frozen=True)
class Patience:
    """How often a request is made while waiting may help, and the first pause in between."""

    tries: int
    pause_seconds: float = 0.5


PATIENT = Patience(tries=5)  # a build: 7.5 s of pauses in all
HURRIED = Patience(tries=2)  # somebody waits for an answer, and words alone can give one


class _TryAgainError(Exception):
    """Inside this module only: the same request may succeed in a moment."""


class _ServerBusyError(_TryAgainError):
    pass


class _UnreachableError(_TryAgainError):
    pass


class _DroppedError(_TryAgainError):
    pass


class OllamaEmbedder:
    """Embed through one model of one Ollama server."""

    is_in_process = False

    def __init__(
        self,
        client: "ollama.Client",
        profile: EmbedderProfile,
        settings: EmbedderSettings,
        patience: Patience = PATIENT,
    ) -> None:
        """Use `open_ollama`, which finds out the profile."""
        self.profile = profile
        self.largest_batch = settings.batch
        self.is_local = is_this_machine(settings.url)
        self._client = client
        self._model = settings.model
        self._url = settings.url
        self._patience = patience

    def embed_batch(self, texts: Sequence[str], *, cpu_only: bool = False) -> RawBatch:
        """Embed passages in one request; see `Embedder.embed_batch` for the errors."""
        passages = [self.profile.passage_prefix + text for text in texts]
        return self._embed(passages, self._patience, cpu_only)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per passage, (n, dims) float32. Raises EmbedderError."""
        if not texts:
            return unit_vectors([], 0, self.profile.dims)
        return unit_vectors(self.embed_batch(texts).vectors, len(texts), self.profile.dims)

    def embed_query(self, text: str) -> Vectors:
        """Return the question's unit vector, (dims,) float32. Raises EmbedderError."""
        raw = self._embed([self.profile.query_prefix + text], HURRIED).vectors
        return unit_vectors(raw, 1, self.profile.dims)[0]

    def _embed(self, texts: Sequence[str], patience: Patience, cpu_only: bool = False) -> RawBatch:
        options: dict[str, Any] = {"num_ctx": _WINDOW_TOKENS, "num_batch": _WINDOW_TOKENS}
        if cpu_only:
            options["num_gpu"] = 0
        answer = _ask(
            lambda: self._client.embed(
                model=self._model,
                input=[_encodable(text) for text in texts],
                truncate=False,  # refuse what is too long rather than embed half of it
                options=options,
            ),
            self._model,
            self._url,
            patience,
        )
        return RawBatch(answer.embeddings, answer.prompt_eval_count)


def open_ollama(settings: EmbedderSettings, patience: Patience = PATIENT) -> OllamaEmbedder:
    """Connect, find the model and say what decides its vectors.

    Raises EmbedderMissingError if the client or the model is missing, EmbedderDownError if the
    server does not answer.
    """
    if importlib.util.find_spec("ollama") is None:
        raise EmbedderMissingError(
            f"The Ollama client is not installed. Run: {install_command('ollama')}"
        )
    if settings.model.endswith(("-cloud", ":cloud")):
        raise EmbedderError(
            f"Model {settings.model!r} runs on somebody else's machine, and every note would be "
            "sent there. Choose a model that runs here, such as bge-m3."
        )
    import ollama  # 0.3 s with httpx

    client = ollama.Client(
        settings.url,
        timeout=settings.timeout_seconds,
        trust_env=False,
        follow_redirects=False,
        # Plain http has no certificate to check; loading the system's takes 20 to 60 ms.
        verify=not settings.url.lower().startswith("http://"),
    )
    return OllamaEmbedder(client, _profile(client, settings), settings, patience)


def is_this_machine(url: str) -> bool:
    """Say whether what is sent to this address stays here.

    >>> is_this_machine("http://127.0.0.1:11434"), is_this_machine("http://ollama.example:11434")
    (True, False)
    """
    host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _profile(client: "ollama.Client", settings: EmbedderSettings) -> EmbedderProfile:
    model, url = settings.model, settings.url
    listed = _ask(client.list, model, url).models
    names = {model, model if ":" in model else f"{model}:latest"}
    digests = [found.digest for found in listed if found.model in names]
    if not digests:
        raise _model_missing(model, url)
    info = _ask(lambda: client.show(model), model, url).modelinfo or {}
    is_bge_m3 = model.split(":")[0] == "bge-m3"
    return EmbedderProfile(
        name=model.removesuffix(":latest"),
        engine="ollama",
        dims=_number(info, ".embedding_length", model),
        window_tokens=min(_WINDOW_TOKENS, _number(info, ".context_length", model)),
        passage_tokens=None,
        query_prefix="",
        passage_prefix="",
        trim_margin=0.15 if is_bge_m3 else None,  # measured for bge-m3 only
        weights_digest=digests[0] or "",
        recipe="1",
    )


def _number(info: Mapping[str, Any], ending: str, model: str) -> int:
    """Read a limit: the server puts the model's family before it, `bert.context_length`."""
    for name in sorted(info):
        if name.endswith(ending):
            return int(info[name])
    raise EmbedderError(
        f"Ollama does not say the {ending[1:]} of {model!r}: it is no embedding model. "
        "Choose one that is, such as bge-m3."
    )


def _ask(
    call: Callable[[], Answer],
    model: str,
    url: str,
    patience: Patience = HURRIED,
) -> Answer:
    """Make a request, again after a pause while waiting may help, and sort what went wrong."""
    retrying = Retrying(
        retry=retry_if_exception_type(_TryAgainError),
        stop=stop_after_attempt(patience.tries),
        wait=wait_exponential(patience.pause_seconds, max=_LONGEST_PAUSE_SECONDS),
        reraise=True,
    )
    try:
        return retrying(_sorted_errors, call, model, url)
    except _DroppedError:
        raise SilentError(
            f"Ollama at {url} dropped the connection {patience.tries} times."
        ) from None
    except _ServerBusyError:
        raise EmbedderDownError(
            f"Ollama at {url} is busy: it refused {patience.tries} times. Try again later."
        ) from None
    except _UnreachableError:
        raise EmbedderDownError(
            f"Ollama does not answer at {url}. Start it with `ollama serve`, or mend url under "
            "[embedder] in kb.toml."
        ) from None


def _sorted_errors(call: Callable[[], Answer], model: str, url: str) -> Answer:
    import httpx
    import ollama

    try:
        return call()
    except ollama.ResponseError as refusal:
        raise _refused(refusal.status_code, str(refusal.error), model, url) from None
    except ConnectionError:
        raise _UnreachableError from None
    except httpx.TimeoutException:
        raise SilentError(f"Ollama at {url} gave no answer in time.") from None
    except httpx.TransportError:
        raise _DroppedError from None
    except ValueError:  # not JSON, or not the JSON that was promised
        raise BadBatchError(f"Ollama at {url} gave an answer that cannot be read.") from None


def _refused(status: int, words: str, model: str, url: str) -> Exception:
    if status == _BUSY:
        return _ServerBusyError()
    if status == _MISSING:
        return _model_missing(model, url)
    lower = words.lower()
    kind = next((kind for part, kind in _REFUSALS.items() if part in lower), "no known reason")
    return BadBatchError(f"Ollama refused a request with status {status}: {kind}.")


def _model_missing(model: str, url: str) -> EmbedderMissingError:
    return EmbedderMissingError(f"Ollama at {url} has no model {model!r}. Run: ollama pull {model}")


def _encodable(text: str) -> str:
    """Replace half a surrogate pair, which no JSON in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
