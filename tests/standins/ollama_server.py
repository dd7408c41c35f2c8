"""An Ollama server for tests: the real protocol over real HTTP, without a model.

Vectors come from the words of a text, so that a search finds what it should, and a chat is answered
by simple rules over its text. Every way the real server has been seen to fail can be switched on:
marks inside a text, or a field of `Scenario`.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.standins import ollama_chat
from tests.standins.hash_embedder import text_vector

DIMS = 1024
WINDOW = 8192

# Marks inside a text, and what they do to a request that holds them.
NAN = "[nan]"  # never gets a vector
GPU_NAN = "[gpu-nan]"  # gets one on the processor only
FOLD_NAN = "[fold-nan]"  # gets one when its white space is folded
TOO_LONG = "[too long]"
ZERO = "[zero]"
SLOW = "[slow]"  # takes `SLOW_SECONDS`
SLOW_SECONDS = 0.3
SPREAD = "  "  # two spaces: what folding takes away


@dataclass
class Scenario:
    """What the server does wrong. The counters run down; the rest stays on."""

    models: tuple[str, ...] = ("bge-m3:latest",)
    version: str = "0.34.2"
    is_old: bool = False  # NaN is 500 and a JSON error, as it was once
    width: int = DIMS
    cut_at_tokens: int | None = None  # reads no more of each text, and does not say so
    is_shuffled: bool = False  # the first two vectors change places
    drops_last: bool = False
    is_broken: bool = False  # well-formed vectors that have nothing to do with the texts
    is_garbled: bool = False  # half of a JSON answer, sent as a whole one
    slow_seconds: float = 0.0
    redirect_to: str = ""  # sends every embedding request elsewhere
    busy: int = 0  # requests still to be refused with 503
    dropped: int = 0  # requests still to be cut off inside the answer
    is_gone: bool = False  # open connections are closed without an answer
    is_cut: bool = False  # a chat's answer ends where it may be no longer
    is_failing: bool = False  # every chat is refused with 500, in words that quote it
    obey: bool = False  # does what a text says: `ANSWER WITH: {...}`
    answer_with: Callable[[dict[str, Any]], str | None] | None = None
    changed: dict[str, Any] = field(default_factory=dict)  # fields of a chat's answer, as they lie
    seen: list[tuple[str, Any]] = field(default_factory=list)  # path and body of each request

    def batches(self) -> list[list[str]]:
        """Return the texts of each embedding request, in order."""
        return [body["input"] for path, body in self.seen if path == "/api/embed"]

    def chats(self) -> list[dict[str, Any]]:
        """Return the body of each chat, in order."""
        return [body for path, body in self.seen if path == "/api/chat"]


class OllamaStandIn:
    """Run the server on a free port of this machine for the length of a `with` block."""

    def __init__(self, **scenario: Any) -> None:
        self.scenario = Scenario(**scenario)
        handler = type("Handler", (_Handler,), {"scenario": self.scenario})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # The default looks for the end only twice a second, which every test would wait for.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.scenario.is_gone = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _RefusedError(Exception):
    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words


class _Handler(BaseHTTPRequestHandler):
    scenario: Scenario  # set per server, on a class of its own
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet, or each answer waits 40 ms

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        if len(body) < size:  # the client was killed while it wrote
            self.close_connection = True
            return
        self._answer(json.loads(body))

    def _answer(self, body: Any) -> None:
        if self.scenario.is_gone:
            self.close_connection = True
            return
        self.scenario.seen.append((self.path, body))
        if self.scenario.redirect_to and self.path in _WORK:
            self.send_response(307)
            self.send_header("Location", self.scenario.redirect_to + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        try:
            made = _ROUTES[self.path](self.scenario, body)
            answer = made if isinstance(made, bytes) else json.dumps(made).encode()
        except _RefusedError as refusal:
            words = json.dumps({"error": refusal.words}).encode()
            self._send(refusal.status, words)
            return
        self._send(200, answer[: len(answer) // 2] if self.scenario.is_garbled else answer)

    def _send(self, status: int, answer: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.path in _WORK and self.scenario.dropped:
            self.scenario.dropped -= 1
            answer = answer[: len(answer) // 2]
            self.close_connection = True
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def _tags(scenario: Scenario, body: Any) -> Any:
    return {"models": [{"model": name, "digest": _digest(name)} for name in scenario.models]}


def _show(scenario: Scenario, body: Any) -> Any:
    _refuse_unknown(scenario, body["model"])
    info = {
        "general.architecture": "bert",
        "bert.context_length": WINDOW,
        "bert.embedding_length": DIMS,
    }
    return {"model_info": info, "capabilities": ["embedding"]}


def _version(scenario: Scenario, body: Any) -> Any:
    return {"version": scenario.version}


def _embed(scenario: Scenario, body: Any) -> Any:
    _refuse_unknown(scenario, body["model"])
    _refuse_while_busy(scenario)
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    time.sleep(SLOW_SECONDS if any(SLOW in text for text in texts) else scenario.slow_seconds)
    _refuse_bad_texts(scenario, texts, body.get("options") or {})
    said = [text[::-1].replace(" ", "") if scenario.is_broken else text for text in texts]
    vectors = [_vector(text, scenario.width) for text in said]
    if scenario.is_shuffled and len(vectors) > 1:
        vectors[:2] = vectors[1::-1]
    if scenario.drops_last:
        vectors = vectors[:-1]
    # A token per character is more than any vocabulary makes: only a cut can look like one.
    read = sum(min(len(text) + 2, scenario.cut_at_tokens or WINDOW) for text in texts)
    return {"model": body["model"], "embeddings": vectors, "prompt_eval_count": read}


def _chat(scenario: Scenario, body: Any) -> bytes:
    _refuse_unknown(scenario, body["model"])
    _refuse_while_busy(scenario)
    if scenario.is_failing:
        raise _RefusedError(500, "llama runner process has terminated: " + str(body["messages"]))
    time.sleep(scenario.slow_seconds)
    said = ollama_chat.say(body, scenario.obey, scenario.answer_with)
    lines = ollama_chat.lines_of(body, said, scenario.is_cut)
    if scenario.changed:
        return json.dumps({**json.loads(lines), **scenario.changed}).encode()
    return lines


_ROUTES: dict[str, Callable[[Scenario, Any], Any]] = {
    "/api/tags": _tags,
    "/api/show": _show,
    "/api/version": _version,
    "/api/embed": _embed,
    "/api/chat": _chat,
}
_WORK = ("/api/embed", "/api/chat")


def _refuse_unknown(scenario: Scenario, model: str) -> None:
    if model not in scenario.models and f"{model}:latest" not in scenario.models:
        raise _RefusedError(404, f'model "{model}" not found, try pulling it first')


def _refuse_while_busy(scenario: Scenario) -> None:
    if scenario.busy:
        scenario.busy -= 1
        words = "server busy, please try again.  maximum pending requests exceeded"
        raise _RefusedError(503, words)


def _refuse_bad_texts(scenario: Scenario, texts: list[str], options: dict[str, Any]) -> None:
    on_gpu = options.get("num_gpu") != 0
    for text in texts:
        if TOO_LONG in text:
            raise _RefusedError(400, "the input length exceeds the context length")
        is_nan = (
            NAN in text or (GPU_NAN in text and on_gpu) or (FOLD_NAN in text and SPREAD in text)
        )
        if is_nan and scenario.is_old:
            raise _RefusedError(500, "json: unsupported value: NaN")
        if is_nan:
            raise _RefusedError(400, "embedding contains NaN or Inf values")


def _vector(text: str, width: int) -> list[float]:
    if ZERO in text:
        return [0.0] * width
    return text_vector(text, width).tolist()


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
