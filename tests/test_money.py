"""Money: exact whole nano-dollars, priced request by request, said so that people can read it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.errors import SettingsError
from kb_core.money import DOLLAR, Price, Tokens, dollars, model_tokens, nano, price_of
from kb_core.settings import PriceSettings

HAIKU = price_of("claude-haiku-5-5", {})
COUNTS = st.integers(min_value=0, max_value=1_000_000)


def test_a_million_tokens_cost_what_the_list_says():
    old = price_of("claude-haiku-4-5", {})

    assert old.cost(Tokens(1_000_000, 0)) == 1 * DOLLAR
    assert old.cost(Tokens(0, 1_000_000)) == 5 * DOLLAR
    assert HAIKU.cost(Tokens(1, 0)) == 100
    assert HAIKU.cost(Tokens(0, 1)) == 500
    assert HAIKU.cost(Tokens(0, 0, cache_write=1)) == 125
    assert HAIKU.cost(Tokens(0, 0, cache_read=1)) == 10


def test_a_long_prompt_costs_five_times_as_much_answer_and_all():
    assert HAIKU.cost(Tokens(100_000, 10)) == 100_000 * 100 + 10 * 500
    assert HAIKU.cost(Tokens(100_001, 10)) == 5 * (100_001 * 100 + 10 * 500)
    assert HAIKU.cost(Tokens(1, 0, cache_read=100_000)) == 5 * (100 + 100_000 * 10)


def test_a_batch_costs_half_and_a_broken_nano_dollar_counts_as_whole():
    assert HAIKU.cost(Tokens(100, 10), is_batch=True) == (100 * 100 + 10 * 500) // 2
    assert HAIKU.cost(Tokens(0, 0, cache_write=1), is_batch=True) == 63


def test_what_the_settings_say_goes_before_the_list():
    own = {"claude-haiku-5-5": PriceSettings(input=2, output=3)}
    own["mine"] = PriceSettings(input=0.3, output=0.7)

    assert price_of("claude-haiku-5-5", own).cost(Tokens(1, 1)) == 5_000
    assert price_of("mine", own).cost(Tokens(1, 1)) == 1_000
    assert price_of("mine", own).cost(Tokens(0, 0, 1, 1)) == 600


def test_a_model_without_a_price_is_refused_with_what_to_write():
    with pytest.raises(SettingsError, match=r'nobody knows.*\n\[prices\."no-such-model"\]'):
        price_of("no-such-model", {})


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0, "$0"), (1_234_000, "$0.001234"), (500_000_000, "$0.50"),
     (1_500_000_000, "$1.50"), (1_234_567_891_000, "$1,234.57")],
)  # fmt: skip
def test_amounts_are_said_for_people(amount, said):
    assert dollars(amount) == said


def test_thousands_of_requests_are_added_up_without_a_rounding_error():
    price = Price("x", PriceSettings(input=0.1, output=0.7))

    total = sum(price.cost(Tokens(3, 1)) for _ in range(5_000))

    assert total == 5_000 * (3 * 100 + 700)


def test_words_of_any_script_count_as_tokens():
    assert model_tokens("") == 0
    assert model_tokens("ferry") >= 1
    assert model_tokens("渡轮") > model_tokens("渡")


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.booleans())
def test_costs_are_exact(sent, answered, write, read, is_batch):
    tokens = Tokens(sent, answered, write, read)
    dear = Fraction(100 * sent + 500 * answered + 125 * write + 10 * read)
    factor = (5 if sent + write + read > 100_000 else 1) * (Fraction(1, 2) if is_batch else 1)

    assert HAIKU.cost(tokens, is_batch=is_batch) == math.ceil(dear * factor)


@given(st.integers(min_value=0, max_value=10**9))
def test_dollars_written_with_nine_digits_come_back_whole(amount):
    assert nano(float(f"{amount / DOLLAR:.9f}")) == amount
