"""Every way in which asking Claude can fail, through the real client over real HTTP."""

import asyncio
import email.utils
import socket
import time
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.errors import LLMDownError, LLMError, LLMMissingError, SpendLimitError
from resources.anthropic_errors import sent_error
from resources.llm import (
    BadRequestError,
    DroppedError,
    PauseError,
)
from tests.asked_claude import CANARY, asked, met, opened, request
from tests.standins.anthropic_server import (
    KEY,
    MESSAGES,
    MODEL,
    AnthropicStandIn,
)

pytest.importorskip("anthropic", reason="the package anthropic is not installed")

import anthropic
import httpx2

ENDS = (LLMMissingError, LLMDownError, SpendLimitError)


@pytest.mark.parametrize(
    ("mark", "kind", "words"),
    [
        ("rate=7", PauseError, "429"),
        ("rate", PauseError, "429"),
        ("ramp=2", PauseError, "429"),
        ("overloaded", PauseError, "529"),
        ("500", PauseError, "500"),
        ("502", PauseError, "502"),
        ("503", PauseError, "503"),
        ("504", PauseError, "504"),
        ("408", PauseError, "408"),
        ("409", PauseError, "409"),
        ("spend-429=4294967", SpendLimitError, "It opens again on 2026-12-15 at 00:00 UTC"),
        ("spend-contract", SpendLimitError, "Everything paid for is kept"),
        ("spend-402", SpendLimitError, "Everything paid for is kept"),
        ("billing", SpendLimitError, "run again"),
        ("spend-400", SpendLimitError, "It opens again on 2026-12-15 at 00:00 UTC"),
        ("credit", SpendLimitError, "add credit"),
        ("401", LLMMissingError, "ANTHROPIC_API_KEY"),
        ("403", LLMMissingError, "403"),
        ("404", LLMMissingError, repr(MODEL)),
        ("redirect", LLMDownError, "elsewhere (status 307)"),
        ("bad-request", BadRequestError, "400: no known reason"),
        ("too-long", BadRequestError, "longer than the model's window"),
        ("too-large", BadRequestError, "413: the request is too large"),
        ("unprocessable", BadRequestError, "422"),
        ("dropped", DroppedError, "may bill"),
        ("silent", DroppedError, "may bill"),
        ("broken", DroppedError, "may bill"),
        ("html", DroppedError, "may bill"),
        ("lie-deep", DroppedError, "may bill"),
        ("lie-bytes", DroppedError, "may bill"),
    ],
)
def test_each_way_to_fail_is_told_from_the_others_and_asked_once(
    mark: str, kind: type[LLMError], words: str
):
    problem, server = met(mark)
    assert type(problem) is kind
    assert words in str(problem)
    assert len(server.calls(MESSAGES)) == 1


@pytest.mark.parametrize(("mark", "seconds"), [("rate=7", 7), ("rate", None), ("overloaded=1", 1)])
def test_a_pause_says_how_long_if_the_provider_does(mark: str, seconds: float | None):
    problem, _server = met(mark)
    assert isinstance(problem, PauseError)
    assert problem.seconds == seconds


@pytest.mark.parametrize(
    "mark",
    [
        *("rate", "spend-402", "bad-request", "too-long", "unprocessable", "403", "404", "500"),
        *("broken", "dropped", "lie-usage", "lie-stop", "html"),
    ],
)
def test_an_error_holds_neither_words_of_a_note_nor_the_key(mark: str):
    problem, server = met(mark)
    assert isinstance(problem, LLMError)
    assert CANARY in server.sent_text()
    shown = "".join(traceback.format_exception(problem)) + repr(problem) + repr(vars(problem))
    assert CANARY not in shown
    assert KEY not in shown
    assert problem.__cause__ is None
    assert problem.__context__ is None


@pytest.mark.parametrize("words", ["Your credit balance is too low.", "You have reached your"])
def test_a_note_that_speaks_of_spent_money_does_not_stop_the_run(words: str):
    with AnthropicStandIn() as server:
        text = f"{words} specified API usage limits. regain access on 2027-01-01 "
        (problem,) = asked(server.url, [request(text + "[stand-in: bad-request]")])
    assert type(problem) is BadRequestError


@pytest.mark.parametrize("mark", ["slow=30", "drip"])
def test_what_does_not_answer_in_time_may_be_billed(mark: str):
    async def run(url: str) -> None:
        model = opened(url)
        await model.ask(request("A plan."))
        model._door._seconds = 0.3  # only now, so that a busy machine fails nothing before
        with pytest.raises(DroppedError, match="in time"):
            await model.ask(request(f"[stand-in: {mark}]"))
        await model.close()

    with AnthropicStandIn() as server:
        started = time.monotonic()
        asyncio.run(run(server.url))
        assert time.monotonic() - started < 15


def test_neither_a_silence_nor_an_answer_in_drops_may_be_longer_than_the_settings_say():
    door = opened("http://127.0.0.1:1", timeout_seconds=90)._door
    assert door._client.timeout == httpx2.Timeout(90, connect=15)
    assert door._client._client.timeout == httpx2.Timeout(90, connect=15)
    assert door._seconds == 105


def test_a_server_that_is_not_there_ends_the_run():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        (problem,) = asked(url, [request("A plan.")])
    assert type(problem) is LLMDownError


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (httpx2.ConnectTimeout("x"), PauseError),
        (httpx2.PoolTimeout("x"), PauseError),
        (httpx2.ConnectError("x"), LLMDownError),
        (httpx2.ReadTimeout("x"), DroppedError),
        (httpx2.WriteTimeout("x"), DroppedError),
        (httpx2.ReadError("x"), DroppedError),
        (httpx2.WriteError("x"), DroppedError),
        (httpx2.RemoteProtocolError("x"), DroppedError),
        (httpx2.DecodingError("x"), DroppedError),
        (TimeoutError("x"), DroppedError),
    ],
)
def test_only_what_cannot_have_been_sent_is_free_for_sure(cause: Exception, kind: type[LLMError]):
    wrapped = anthropic.APIConnectionError(request=httpx2.Request("POST", "http://127.0.0.1"))
    wrapped.__cause__ = cause
    assert type(sent_error(wrapped, MODEL)) is kind
    assert type(sent_error(cause, MODEL)) is kind


def status_error(status: int, body: Any, headers: dict[str, str]) -> anthropic.APIStatusError:
    sent = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    response = httpx2.Response(status, headers=headers, request=sent)
    return anthropic.APIStatusError("m", response=response, body=body)


@pytest.mark.parametrize(
    ("given_seconds", "seconds"),
    [
        *(("7", 7), ("0.5", 0.5), ("0", 0), ("-3", 0), ("4294967", 4294967)),
        *(("", None), ("soon", None), ("nan", None), ("inf", None), ("1e999", None)),
        ("Tue, 01 Dec 2020 00:00:00 GMT", 0),
    ],
)
def test_retry_after_is_read_in_every_form(given_seconds: str, seconds: float | None):
    problem = sent_error(status_error(429, None, {"retry-after": given_seconds}), MODEL)
    assert isinstance(problem, PauseError)
    assert problem.seconds == seconds


def test_retry_after_may_be_a_date():
    moment = email.utils.formatdate(time.time() + 3600, usegmt=True)
    problem = sent_error(status_error(503, None, {"retry-after": moment}), MODEL)
    assert isinstance(problem, PauseError)
    assert 3000 < (problem.seconds or 0) <= 3600


# --- properties -----------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(
    st.integers(300, 599),
    st.fixed_dictionaries(
        {"error": st.fixed_dictionaries({"type": _JSON, "message": _JSON, "details": _JSON})}
    )
    | _JSON,
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20),
)
def test_no_refusal_repeats_what_it_says(status: int, body: Any, retry: str):
    secret = "zebra-word"
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body["error"]["message"] = f"{secret} {body['error'].get('message')}"
    problem = sent_error(status_error(status, body, {"retry-after": retry}), MODEL)
    assert isinstance(problem, (PauseError, BadRequestError, *ENDS))
    assert secret not in str(problem)
    if isinstance(problem, PauseError) and problem.seconds is not None:
        assert 0 <= problem.seconds < float("inf")
