"""Cutting texts into passages: examples, then what holds for every text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.embeddings.passages import split_passages

TOKENS = 12


def words(text: str) -> int:
    return len(text.split())


def characters(text: str) -> int:
    return sum(not char.isspace() for char in text)


def split(text: str) -> list[str]:
    return split_passages(text, words, TOKENS)


def sentence(name: str) -> str:
    return f"{name} is a sentence of seven words."


def test_a_text_that_fits_stays_whole():
    assert split(" Plan > Price\nTen seats.\n") == ["Plan > Price\nTen seats."]


def test_a_profile_without_passages_keeps_any_text_whole():
    text = "\n".join(sentence(name) for name in "ABCDEF")

    assert split_passages(text, words, None) == [text]


def test_a_blank_text_has_no_passage():
    assert split(" \n ") == []
    assert split_passages(" \n ", words, None) == []


def test_passages_end_at_sentences_and_later_ones_begin_with_the_breadcrumb():
    text = "Plan > Price\n" + " ".join(sentence(name) for name in "ABC")

    assert split(text) == [
        f"Plan > Price\n{sentence('A')}",
        f"Plan > Price\n{sentence('B')}",
        f"Plan > Price\n{sentence('C')}",
    ]


def test_a_short_tail_joins_the_passage_before():
    ten = " ".join("abcdefghij") + "."
    text = f"Log\n{ten} {ten} The end."

    assert split(text) == [f"Log\n{ten}", f"Log\n{ten} The end."]


def test_a_breadcrumb_that_is_too_long_is_led_by_its_last_heading_or_left_out():
    long_trail = "A very long title of a note > Price\n" + " ".join(map(sentence, "ABC"))
    long_line = "One long line without any trail\n" + " ".join(map(sentence, "ABC"))

    assert split(long_trail)[-1] == f"Price\n{sentence('C')}"
    assert split(long_line)[-1] == sentence("C")


def test_chinese_is_cut_at_its_own_full_stops():
    text = "合同在三月签署。价格是每月十八美元。董事会选择较小方案。"

    assert split_passages(text, characters, 12) == [
        "合同在三月签署。",
        "价格是每月十八美元。",
        "董事会选择较小方案。",
    ]


def test_a_wrapped_sentence_is_not_cut_at_its_line_break():
    text = "Log\nThis was\nwrapped by hand. Next comes one more\nsentence that was wrapped by hand."

    assert split(text) == [
        "Log\nThis was\nwrapped by hand.",
        "Log\nNext comes one more\nsentence that was wrapped by hand.",
    ]


def test_a_run_without_any_space_is_cut_too():
    passages = split_passages("x" * 100, characters, 12)

    assert "".join(passages) == "x" * 100
    assert max(map(len, passages)) <= 12


def test_two_megabytes_of_anything_are_cut_in_time():
    for text in ("." * 400_000, "\n" * 200_000 + "a", "a. " * 100_000, "*" * 400_000 + " x"):
        split_passages(text, characters, 200)


pieces = st.sampled_from(
    ["alpha", "beta.", "。", "?!", " ", "\n", "\n\n", "# H", "gamma delta", "合"]
)
texts = st.lists(pieces, max_size=60).map("".join)


@settings(deadline=None)
@given(texts)
def test_nothing_is_lost_and_nothing_is_doubled_but_the_breadcrumb(text):
    lead = text.strip().partition("\n")[0].strip()
    bodies = split(text)[:1] + [
        passage.removeprefix(f"{lead}\n") if words(lead) <= TOKENS // 4 else passage
        for passage in split(text)[1:]
    ]

    assert "".join("".join(bodies).split()) == "".join(text.split())


@settings(deadline=None)
@given(texts, st.sampled_from([4, 12, 40]))
def test_no_passage_is_larger_than_asked_but_the_last_by_its_tail(text, tokens):
    *passages, last = split_passages(text, characters, tokens) or [""]

    assert all(characters(passage) <= tokens for passage in passages)
    assert characters(last) <= tokens + tokens // 4


@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_absurdly_small_passages_still_end(tokens):
    assert split_passages("alpha beta\ngamma", words, tokens)
