"""The one way to Anthropic's service: where requests go, with which key, what errors mean.

What kb.toml says holds, whatever else stands in the environment: no proxy, no redirect, no other
address, header or key, no retry behind the caller's back, no text in a log or a trace.
"""

import asyncio
import importlib.util
import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from kb_core.errors import LLMMissingError
from kb_core.settings import LLMSettings
from resources.anthropic_answers import json_of
from resources.anthropic_errors import sent_error
from resources.extras import install_command
from resources.llm import BadRequestError, DroppedError, PauseError, Request, encodable

if TYPE_CHECKING:
    import anthropic

KEY_NAME = "ANTHROPIC_API_KEY"
_ADDRESS = "https://api.anthropic.com"
_CONNECT_SECONDS = 15.0  # a machine that is there answers sooner

Call = Callable[["anthropic.AsyncAnthropic"], Awaitable[Any]]


class AnthropicDoor:
    """One client for one model. From one event loop only."""

    def __init__(self, client: "anthropic.AsyncAnthropic", settings: LLMSettings) -> None:
        """Use `open_door`, which shuts every other way in and out."""
        self.model = settings.model
        self._client = client
        # Longer than any one silence may be: it ends what drips in byte by byte.
        self._seconds = settings.timeout_seconds + _connect_seconds(settings)
        self._probe: asyncio.Task[bool] | None = None

    async def body(self, call: Call, *, is_long: bool = False, missing: str = "") -> Any:
        """Make one request and return its JSON; see `text`."""
        return (await self.text(call, is_long=is_long, missing=missing))[0]

    async def text(
        self, call: Call, *, is_long: bool = False, missing: str = ""
    ) -> tuple[Any, str]:
        """Make one request and return its JSON, read and as it came.

        `is_long` lifts the limit on the whole, not the one on silence. Raises the errors of
        `LanguageModel.ask`.
        """
        content = await self.content(call, is_long=is_long, missing=missing)
        try:
            return json_of(content), content.decode("utf-8")
        except ValueError:
            # Cut by something on the way, most likely: it was answered, and so it was billed.
            pass
        raise DroppedError("Anthropic gave an answer that is no JSON. It may bill the request.")

    async def content(self, call: Call, *, is_long: bool = False, missing: str = "") -> bytes:
        """Make one request and return the answer's bytes."""
        import anthropic
        import httpx2

        try:
            async with asyncio.timeout(None if is_long else self._seconds):
                response = await call(self._client)
            return bytes(response.http_response.content)
        except (
            anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError,
            TimeoutError,
        ) as problem:  # fmt: skip
            found = sent_error(problem, self.model, missing)
        # Raised out here, so that it holds neither the request nor the provider's words.
        raise found

    async def parameters(self, request: Request) -> dict[str, Any]:
        """Return what a question is sent as; asks once what the model takes."""
        output: dict[str, Any] = {
            "format": {"type": "json_schema", "schema": dict(request.schema)},
        }
        if await self._takes_effort():
            output["effort"] = "low"
        return {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "system": encodable(request.system),
            "messages": [{"role": "user", "content": encodable(request.text)}],
            "output_config": output,
        }

    async def close(self) -> None:
        """Let go of the connections."""
        if self._probe is not None and not self._probe.done():
            self._probe.cancel()
        await self._client.close()

    async def _takes_effort(self) -> bool:
        """Ask once what the model takes, all that are in flight together; it holds no note text."""
        probe = self._probe
        if probe is None:
            probe = self._probe = asyncio.ensure_future(self._probed())
            # Where every asker was cancelled, nobody hears of its error, and nobody needs to.
            probe.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            # One asker that is cancelled must not take the answer from the others.
            return await asyncio.shield(probe)
        except Exception:
            if self._probe is probe:
                self._probe = None
            raise

    async def _probed(self) -> bool:
        # No text was sent yet, so no text is to blame, and nothing can have been billed.
        try:
            info = await self.body(
                lambda client: client.models.with_raw_response.retrieve(self.model)
            )
        except DroppedError:
            raise PauseError("Anthropic did not say what its model takes: ask later.") from None
        except BadRequestError:
            info = None
        if not isinstance(info, dict):
            raise LLMMissingError(
                f"What answers for Anthropic does not say what model {self.model!r} takes. Mend "
                "url or model under [llm] in kb.toml."
            )
        capabilities = info.get("capabilities")
        if _says(capabilities, "structured_outputs", "supported") is False:
            raise LLMMissingError(
                f"Model {self.model!r} cannot be told the form of its answers. Choose another "
                "model under [llm] in kb.toml."
            )
        has_effort = _says(capabilities, "effort", "supported") is True
        return has_effort and _says(capabilities, "effort", "low", "supported") is True


def open_door(settings: LLMSettings) -> AnthropicDoor:
    """Make the client. Raises LLMMissingError if its package or the key is missing."""
    if importlib.util.find_spec("anthropic") is None:
        raise LLMMissingError(
            f"The Anthropic client is not installed. Run: {install_command('anthropic')}"
        )
    key = _key()
    import anthropic  # 1.3 s
    import httpx2

    # ANTHROPIC_LOG=debug would switch on lines that other packages then spread; ours stay quiet.
    for name in ("anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    address = settings.url or _ADDRESS
    timeout = httpx2.Timeout(settings.timeout_seconds, connect=_connect_seconds(settings))
    client = anthropic.AsyncAnthropic(
        api_key=key,
        base_url=address,
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,
        http_client=anthropic.DefaultAsyncHttpxClient(
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
            # Plain http has no certificate to check; loading the system's takes 20 to 60 ms.
            verify=not address.lower().startswith("http://"),
        ),
    )
    # ANTHROPIC_CUSTOM_HEADERS could put another key in, and there is no other way to leave it out.
    client._custom_headers = {}
    return AnthropicDoor(client, settings)


def _key() -> str:
    key = os.environ.get(KEY_NAME, "").strip()
    if not key:
        raise LLMMissingError(
            f"{KEY_NAME} is not set. Put the key into the environment or the home's .env, "
            'or choose engine = "rules" under [llm] in kb.toml.'
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise LLMMissingError(
            f"{KEY_NAME} holds characters that no key has, such as a blank. Copy it anew."
        )
    return key


def _connect_seconds(settings: LLMSettings) -> float:
    return min(settings.timeout_seconds, _CONNECT_SECONDS)


def _says(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
