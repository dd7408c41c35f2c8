"""The way to Claude: which key, which address, which model, and nothing beside them."""

import asyncio
import logging

import pytest

from kb_core.errors import LLMError, LLMMissingError
from kb_core.settings import LLMSettings
from resources import anthropic_door
from resources.llm import (
    DONE,
    Answer,
    PauseError,
)
from resources.open_llm import identity_of, is_local, label_of, open_llm
from tests.asked_claude import CANARY, asked, opened, request
from tests.standins.anthropic_server import (
    KEY,
    MESSAGES,
    MODEL,
    NO_EFFORT,
    AnthropicStandIn,
)

pytest.importorskip("anthropic", reason="the package anthropic is not installed")


def test_what_a_model_takes_is_asked_once_for_all_that_are_in_flight():
    with AnthropicStandIn() as server:
        asked(server.url, [request("A plan.", number) for number in range(40)])
        assert len(server.calls(f"/v1/models/{MODEL}")) == 1
        assert len(server.calls(MESSAGES)) == 40


def test_a_model_without_effort_is_asked_without_it():
    with AnthropicStandIn() as server:
        (answer,) = asked(server.url, [request("A plan.")], model=NO_EFFORT)
    assert isinstance(answer, Answer)
    assert "effort" not in server.calls(MESSAGES)[0].body["output_config"]


@pytest.mark.parametrize("model", ["claude-plain-1", "no-such-model"])
def test_a_model_that_is_unknown_or_cannot_be_told_a_form_gets_no_text(model: str):
    with AnthropicStandIn() as server:
        (problem,) = asked(server.url, [request("A plan.")], model=model)
    assert isinstance(problem, LLMMissingError)
    assert model in str(problem)
    assert "under [llm] in kb.toml" in str(problem)
    assert CANARY not in server.sent_text()


def test_a_failed_look_at_the_model_fails_all_who_wait_and_is_tried_again_later():
    async def twice(url: str) -> tuple[list[Answer | BaseException], Answer]:
        model = opened(url)
        calls = (model.ask(request("A plan.", number)) for number in range(5))
        first = await asyncio.gather(*calls, return_exceptions=True)
        assert CANARY not in server.sent_text()
        second = await model.ask(request("A plan."))
        await model.close()
        return first, second

    with AnthropicStandIn(fail_probe=["overloaded=3"]) as server:
        first, second = asyncio.run(twice(server.url))
        assert [type(problem) for problem in first] == [PauseError] * 5
        assert second.stop == DONE
        assert len(server.calls(f"/v1/models/{MODEL}")) == 2


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        *(("lie-list", LLMMissingError), ("lie-null", LLMMissingError)),
        *(("bad-request", LLMMissingError), ("401", LLMMissingError)),
        *(("broken", PauseError), ("dropped", PauseError), ("silent", PauseError)),
        *(("lie-deep", PauseError), ("html", PauseError), ("503", PauseError)),
    ],
)
def test_a_look_at_the_model_that_fails_blames_no_text_and_counts_as_no_bill(
    trouble: str, kind: type[LLMError]
):
    with AnthropicStandIn(fail_probe=[trouble]) as server:
        (problem,) = asked(server.url, [request("A plan.")])
    assert type(problem) is kind
    assert CANARY not in server.sent_text()


def test_the_environment_changes_neither_address_nor_key_nor_headers(
    monkeypatch: pytest.MonkeyPatch,
):
    dead = "http://127.0.0.1:9"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, dead)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", dead)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "somebody")
    monkeypatch.setenv(
        "ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer evil\nX-Evil: evil-header"
    )
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    with AnthropicStandIn() as server:
        monkeypatch.setattr(anthropic_door, "_ADDRESS", server.url)
        (answer,) = asked("", [request("A plan.")])
        assert isinstance(answer, Answer)
        assert opened("")._door._client._tracer is None
    for word in ("another-token", "evil"):
        assert word not in server.sent_text()


def test_no_text_is_logged_even_where_somebody_asked_for_it(caplog: pytest.LogCaptureFixture):
    for name in ("anthropic", "anthropic._base_client", "httpx2"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.getLogger("anthropic").setLevel(logging.DEBUG)  # as ANTHROPIC_LOG=debug does
    with caplog.at_level(logging.DEBUG), AnthropicStandIn() as server:
        asked(server.url, [request("A plan.")])
        asked(server.url, [request("[stand-in: bad-request]")])
    assert CANARY not in caplog.text
    assert KEY not in caplog.text
    assert "anthropic" not in {record.name.partition(".")[0] for record in caplog.records}


def test_opening_says_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    settings = LLMSettings(engine="anthropic")
    for wrong in ("", "  ", "sk ant", "sk-\u00e4", "sk\n-ant"):
        monkeypatch.setenv("ANTHROPIC_API_KEY", wrong)
        with pytest.raises(LLMMissingError, match="ANTHROPIC_API_KEY") as caught:
            open_llm(settings)
        assert not wrong.strip() or wrong not in str(caught.value)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(LLMMissingError, match="ANTHROPIC_API_KEY is not set"):
        open_llm(settings)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LLMMissingError, match=r"pip install 'vault-knowledge-base\[anthropic\]'"):
        open_llm(settings)


def test_the_key_is_taken_without_the_line_end_that_was_copied_with_it():
    with AnthropicStandIn() as server:
        (answer,) = asked(server.url, [request("A plan.")], key=f" {KEY}\n")
    assert isinstance(answer, Answer)


def test_a_key_that_is_refused_sends_no_text():
    with AnthropicStandIn(key="another") as server:
        (problem,) = asked(server.url, [request("A plan.")])
    assert isinstance(problem, LLMMissingError)
    assert CANARY not in server.sent_text()


def test_what_a_model_is_called_is_known_offline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    here = LLMSettings(engine="anthropic", url="http://127.0.0.1:1")
    assert identity_of(here) == "anthropic/claude-haiku-5-5"
    assert label_of(here) == "claude-haiku-5-5"
    assert not is_local(here)  # it stands for the provider behind it
    assert open_llm(LLMSettings()) is None


def test_an_open_model_says_who_it_is():
    model = opened("http://127.0.0.1:1")
    assert (model.identity, model.label, model.is_local) == (f"anthropic/{MODEL}", MODEL, False)
    assert model.batches is not None
    assert KEY not in repr(model)
    asyncio.run(model.close())
