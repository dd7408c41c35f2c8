"""The counter without a tokenizer: its rule, and that notes may be counted part by part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.tokens import RegexTokenCounter

COUNTER = RegexTokenCounter()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("kiln", 1),
        ("elements", 2),
        ("a" * 21, 3),
        ("a" * 22, 4),
        ("265", 3),
        ("snake_case", 3),
        ("£19, net.", 6),
        ("佛山蓝屿", 4),
        ("カタカナ", 4),
        ("한국어", 3),
        ("Wren的价格", 4),
    ],
)
def test_words_count_by_seven_letters_and_everything_else_by_the_character(text, tokens):
    assert COUNTER.count(text) == tokens


@given(st.lists(st.text(max_size=30), max_size=8))
def test_cutting_at_white_space_does_not_change_the_sum(parts):
    assert COUNTER.count(" ".join(parts)) == sum(COUNTER.count(part) for part in parts)


@given(st.text(max_size=200))
def test_no_text_has_more_tokens_than_characters(text):
    assert COUNTER.count(text) <= len(text)
