"""Claude asked one question: what is sent, and what is read of an answer, true or not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.money import Tokens, price_of
from resources.anthropic_answers import json_of, read_answer
from resources.llm import (
    CUT,
    DONE,
    REFUSED,
    Answer,
    BadRequestError,
)
from tests.asked_claude import CANARY, SCHEMA, SYSTEM, asked, met, request
from tests.standins.anthropic_server import (
    MESSAGES,
    MODEL,
    AnthropicStandIn,
)

pytest.importorskip("anthropic", reason="the package anthropic is not installed")


def test_a_question_is_sent_once_and_its_answer_comes_back_whole_with_the_bill():
    with AnthropicStandIn() as server:
        (answer,) = asked(server.url, [request("A plan.")])
    (record,) = server.calls(MESSAGES)
    assert isinstance(answer, Answer)
    assert json.loads(answer.text) == {"keep": True, "reason": "plan"}
    assert answer.stop == DONE
    assert json.loads(answer.raw)["content"][0]["text"] == answer.text
    assert answer.tokens == Tokens(record.input_tokens, record.output_tokens)
    assert price_of(MODEL, {}).cost(answer.tokens) == server.billed_nano > 0


def test_nothing_is_sent_but_model_size_prompt_text_form_and_effort():
    with AnthropicStandIn() as server:
        asked(server.url, [request("A plan.")])
    (record,) = server.calls(MESSAGES)
    assert record.body == {
        "model": MODEL,
        "max_tokens": 500,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": f"A plan. {CANARY}"}],
        "output_config": {
            "format": {"type": "json_schema", "schema": SCHEMA},
            "effort": "low",
        },
    }


@pytest.mark.parametrize(
    ("mark", "stop", "is_billed"),
    [("cut", CUT, True), ("window", CUT, True), ("refusal", REFUSED, False)],
)
def test_an_answer_that_is_cut_or_refused_is_an_answer(mark: str, stop: str, is_billed: bool):
    answer, server = met(mark)
    assert isinstance(answer, Answer)
    assert answer.stop == stop
    assert bool(answer.text) == is_billed
    assert price_of(MODEL, {}).cost(answer.tokens) == server.billed_nano
    assert bool(server.billed_nano) == is_billed


def test_an_answer_that_is_no_json_comes_back_as_it_is_and_is_billed():
    answer, server = met("malformed")
    assert isinstance(answer, Answer)
    assert answer.text.startswith("Sure!")
    assert price_of(MODEL, {}).cost(answer.tokens) == server.billed_nano > 0


def test_only_text_is_read_of_an_answer_and_all_of_it_and_cached_tokens_are_counted():
    answer, _server = met("two-blocks] [stand-in: cached")
    assert isinstance(answer, Answer)
    assert answer.text.endswith('"} and more')
    assert "hm" not in answer.text
    assert (answer.tokens.cache_write, answer.tokens.cache_read) == (30, 7)


def test_half_a_surrogate_pair_is_replaced_both_ways():
    with AnthropicStandIn() as server:
        (answer,) = asked(server.url, [request("\ud83d [stand-in: surrogate]")])
    assert isinstance(answer, Answer)
    assert answer.text == "half a pair: ?"
    assert server.calls(MESSAGES)[0].body["messages"][0]["content"].startswith("? [stand-in")


@pytest.mark.parametrize(
    "mark",
    [
        *("lie-content", "lie-block", "lie-blocks", "lie-no-content", "lie-stop", "lie-no-stop"),
        *("lie-stop-list", "tool-use", "pause-turn"),
    ],
)
def test_an_answer_that_lies_about_its_form_is_refused_and_billed_as_it_says(mark: str):
    problem, server = met(mark)
    assert isinstance(problem, BadRequestError)
    assert price_of(MODEL, {}).cost(problem.tokens) == server.billed_nano > 0


@pytest.mark.parametrize(
    "mark",
    [
        *("lie-usage", "lie-no-usage", "lie-negative", "lie-huge", "lie-strings", "lie-bool"),
        *("lie-float", "lie-list", "lie-null"),
    ],
)
def test_an_answer_that_lies_about_its_bill_counts_as_the_most_it_may_have_cost(mark: str):
    problem, server = met(mark)
    assert isinstance(problem, BadRequestError)
    assert problem.tokens.output == 500
    assert price_of(MODEL, {}).cost(problem.tokens) > server.billed_nano > 0


def test_a_large_answer_may_be_asked_for_without_a_stream():
    with AnthropicStandIn() as server:
        (answer,) = asked(server.url, [request("A plan.", max_tokens=60_000)], timeout_seconds=900)
    assert isinstance(answer, Answer)


# --- properties -----------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
_MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "content": _JSON
        | st.lists(
            st.fixed_dictionaries({"type": st.just("text")}, optional={"text": _JSON | st.text()}),
            max_size=3,
        ),
        "stop_reason": st.sampled_from(["end_turn", "max_tokens", "refusal", "tool_use"]) | _JSON,
        "usage": st.fixed_dictionaries(
            {},
            optional={
                "input_tokens": st.integers(0, 99) | _JSON,
                "output_tokens": st.integers(0, 99) | _JSON,
                "cache_creation_input_tokens": st.integers(0, 99) | _JSON,
            },
        )
        | _JSON,
    },
)


@given(_MESSAGES | _JSON)
def test_whatever_is_answered_is_an_answer_or_an_error_with_a_bill(message: Any):
    worst = Tokens(7, 11)
    try:
        answer = read_answer(message, "{}", worst)
    except BadRequestError as problem:
        tokens = problem.tokens
    else:
        tokens = answer.tokens
        assert answer.stop in (DONE, CUT, REFUSED)
        answer.text.encode("utf-8")
    for count in (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read):
        assert type(count) is int
        assert count >= 0


@given(st.text(max_size=60), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_sound_answer_is_read_as_it_is(text: str, sent: int, said: int):
    message = {
        "content": [{"type": "text", "text": text[:3]}, {"type": "text", "text": text[3:]}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": sent, "output_tokens": said},
    }
    assert read_answer(message, "raw") == Answer(text, DONE, Tokens(sent, said), "raw")


@given(st.binary(max_size=60))
def test_bytes_are_json_or_a_value_error(content: bytes):
    try:
        value = json_of(content)
    except ValueError:
        return
    assert json.loads(content) == value or value != value
