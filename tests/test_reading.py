"""What an answerer reads within a budget, and what that holds, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.questions import Fact
from eval_assets.reading import (
    BUDGET_TOKENS,
    Passage,
    fact_recall,
    note_recall,
    precision,
    read_within,
    reading_measures,
)
from kb_core.tokens import RegexTokenCounter


def count_words(text: str) -> int:
    return len(text.split())


def passage(note: str, text: str) -> Passage:
    return Passage(note, text, count_words(text))


def groups(*notes: str) -> list[frozenset[str]]:
    return [frozenset({note}) for note in notes]


def fact(note: str, quote: str) -> Fact:
    return Fact(fact="what it says", note=note, quote=quote)


def test_the_budget_is_eight_thousand_tokens():
    assert BUDGET_TOKENS == 8_000


def test_whole_passages_are_read_in_order_and_the_one_that_crosses_is_cut():
    given_ = [passage("a", "one two three"), passage("b", "four five six"), passage("c", "seven")]

    read = read_within(given_, 5, count_words)

    assert [(each.note, each.text.strip(), each.tokens) for each in read] == [
        ("a", "one two three", 3),
        ("b", "four five", 2),
    ]


def test_nothing_is_read_behind_a_cut_even_if_it_would_fit():
    read = read_within([passage("a", "one two three"), passage("b", "four")], 2, count_words)

    assert [each.note for each in read] == ["a"]


def test_a_passage_that_ends_at_the_budget_is_whole_and_the_next_leaves_nothing():
    read = read_within([passage("a", "one two"), passage("b", "three")], 2, count_words)

    assert read == [passage("a", "one two")]


@pytest.mark.parametrize("budget", [0, -1])
def test_without_room_nothing_is_read(budget):
    assert read_within([passage("a", "one")], budget, count_words) == []


def test_a_passage_without_tokens_takes_no_room():
    read = read_within([passage("a", ""), passage("b", "one")], 1, count_words)

    assert [each.note for each in read] == ["a", "b"]


def test_a_cut_keeps_as_many_characters_as_fit():
    text = "abcdefg" * 3  # seven letters a token

    [cut] = read_within([Passage("a", text, 3)], 2, RegexTokenCounter().count)

    assert (cut.text, cut.tokens) == (text[:14], 2)


def test_a_passage_said_to_be_longer_than_it_is_takes_the_room_it_needs():
    read = read_within([Passage("a", "one two", 9)], 5, count_words)

    assert read == [Passage("a", "one two", 2)]


def test_a_fact_counts_with_its_blanks_folded():
    read = [passage("a", "It  costs\n £4,\u00a0all in.")]

    assert fact_recall(read, [fact("a", "costs £4, all  in")]) == 1.0


def test_a_fact_counts_only_in_its_own_note():
    read = [passage("b", "it costs four pounds")]

    assert fact_recall(read, [fact("a", "four pounds"), fact("b", "four pounds")]) == 0.5


def test_a_quote_across_two_passages_of_a_note_does_not_count():
    read = [passage("a", "it costs four"), passage("a", "pounds a piece")]

    assert fact_recall(read, [fact("a", "four pounds")]) == 0.0
    assert fact_recall(read, [fact("a", "pounds a piece")]) == 1.0


def test_a_quote_must_be_exact():
    assert fact_recall([passage("a", "Four pounds")], [fact("a", "four pounds")]) == 0.0


def test_a_blank_quote_proves_nothing():
    assert fact_recall([passage("a", "four pounds")], [fact("a", " ")]) == 0.0


def test_a_group_is_read_with_any_of_its_notes_and_in_part():
    read = [passage("b", "one"), passage("x", "two")]

    assert note_recall(read, [frozenset({"a", "b"}), frozenset({"c"})]) == 0.5


def test_precision_is_the_share_of_tokens_and_not_of_passages():
    read = [passage("a", "one two three"), passage("x", "four"), passage("y", "five six")]

    assert precision(read, groups("a", "missing")) == 0.5


def test_nothing_read_is_zero():
    assert precision([], groups("a")) == 0.0
    assert note_recall([], groups("a")) == 0.0
    assert fact_recall([], [fact("a", "one")]) == 0.0


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="without facts"):
        fact_recall([], [])
    with pytest.raises(ValueError, match="no recall"):
        note_recall([], [])


def test_a_question_is_measured_by_what_fits_and_names_say_the_budget():
    given_ = [passage("x", "one two"), passage("a", "three four five six")]
    facts = [fact("a", "three four"), fact("a", "four five")]

    assert reading_measures(given_, groups("a", "b"), facts, count_words, budget=4) == {
        "note_recall@4": 0.5,
        "precision@4": 0.5,
        "fact_recall@4": 0.5,
    }
    assert list(reading_measures(given_, groups("a"), [], count_words)) == [
        "note_recall@8k",
        "precision@8k",
    ]


texts = st.lists(st.text("ab 語1.\n", max_size=30), max_size=6)


@given(texts, st.integers(0, 60))
def test_what_is_read_never_exceeds_the_budget_and_begins_what_was_given(parts, budget):
    count = RegexTokenCounter().count
    given_ = [Passage(str(at), text, count(text)) for at, text in enumerate(parts)]

    read = read_within(given_, budget, count)

    assert sum(each.tokens for each in read) <= budget
    assert sum(count(each.text) for each in read) == sum(each.tokens for each in read)
    assert "".join(parts).startswith("".join(each.text for each in read))
    assert read == read_within(given_, budget, count)


@given(texts, st.integers(0, 60))
def test_the_budget_is_used_up_where_there_is_enough_to_read(parts, budget):
    count = RegexTokenCounter().count
    given_ = [Passage(str(at), text, count(text)) for at, text in enumerate(parts)]

    read = read_within(given_, budget, count)

    whole = sum(each.tokens for each in given_)
    assert sum(each.tokens for each in read) == min(budget, whole)
