"""When two values say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_knowledge.names import entity_key
from kb_knowledge.values import value_key


@pytest.mark.parametrize(
    "same",
    [
        ("£52,800", "52.8k GBP", "GBP 52 800", "£52,800.00", "52'800 pounds"),
        ("€1.234,50", "1234,5 EUR", "1,234.50 euros"),
        ("$3m", "3 million dollars", "USD 3,000,000"),
        ("100+", "over 100", "at least 100", "100 or more", "more than 100", "100 +"),
        ("1.5 h", "90 min", "90 minutes", "5400 s"),
        ("5kg", "5 kg", "5000 g", "5 kilograms"),
        ("7 days", "1 week"),
        ("5%", "5 percent", "5 %"),
        ("14 March 2024", "2024-03-14", "14.03.2024"),
        ("Final", "final", " final. ", "“Final”"),
        ("[[People/Ada Moor|Ada]]", "Ada Moor", "[[Ada Moor#Work]]"),
        ("-5 °C", "−5°C"),
        ("yes", "true", "True"),
        ("4 万", "40,000"),
    ],
)  # fmt: skip
def test_values_that_say_the_same_are_one(same: tuple[str, ...]) -> None:
    assert len({value_key(each) for each in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.10", "3.1"),  # versions
        ("1,234,5", "1234.5"),
        ("1.2.3", "1.23"),
        ("100", "100+"),
        ("£100", "€100"),
        ("100 people", "100 kilns"),
        ("1,234", "1.234"),
        ("about 30", "30"),
        ("5 m", "5 million"),
        ("2024-03", "2024-03-14"),
        ("Q3 2024", "2024"),
        ("230 V / 16 A", "230 V"),
        ("C++", "C"),
        ("-5", "5"),
    ],
)
def test_values_that_say_different_things_stay_apart(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


@pytest.mark.parametrize("text", ["", "...", "“”", "[[#Heading]]"])
def test_a_value_of_marks_alone_is_compared_as_it_stands(text: str) -> None:
    assert value_key(text) == text.lower()


@pytest.mark.parametrize(
    ("written", "key"), [("...", "..."), ("Casa  S.A.", "casa s.a."), ("“Acme Ltd.”", "acme ltd")]
)
def test_marks_around_a_name_do_not_count(written: str, key: str) -> None:
    assert entity_key(written) == key


@given(st.text(max_size=200))
def test_any_text_can_be_a_value_and_a_name(text: str) -> None:
    assert value_key(text) == value_key(f" {text} ")
    assert entity_key(text) == entity_key(f" {text} ")


@given(st.integers(0, 10**9), st.sampled_from(["", " kg", " GBP", "%", " people"]))
def test_thousands_may_be_grouped(number: int, unit: str) -> None:
    assert value_key(f"{number:,}{unit}") == value_key(f"{number}{unit}")


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_two_amounts_are_one_value_only_when_they_are_equal(one: int, other: int) -> None:
    assert (value_key(f"£{one:,}") == value_key(f"{other} GBP")) == (one == other)
