"""Headings, fences and what hides them: examples first, then an independent parser's opinion."""

import time
from itertools import pairwise

import pyromark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.chunks.blocks import LONGEST_HEADING, read_blocks


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in read_blocks(text) if block.level]


def texts(text: str) -> list[str]:
    return [text[block.start : block.end] for block in read_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A", [(1, "A")]),
        ("###### Six ##", [(6, "Six")]),
        ("   ## A", [(2, "A")]),
        ("text\n# A\ntext", [(1, "A")]),
        ("#", [(1, "")]),
        ("# C#", [(1, "C#")]),
        ("A\n===", [(1, "A")]),
        ("A\n-", [(2, "A")]),
        ("one\ntwo\n---\n", [(2, "one two")]),
        ("# A\r\ntext\r\n\r\nB\r\n===\r\n", [(1, "A"), (1, "B")]),
        ("# A\rtext\r\rB\r===\r", [(1, "A"), (1, "B")]),
    ],
)
def test_headings_of_both_kinds_are_found(text, expected):
    assert headings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "#tag",
        "####### seven",
        "    # indented code",
        "\t# indented code",
        "\\# escaped",
        "> # in a quote",
        "> ```\n> # in a fence in a quote\n> ```",
        "- # in a list",
        "- item\n  # in its second line",
        "1. item\n\n   # in its second paragraph",
        "- item\n---",
        "> quote\n---",
        "| a | b |\n---",
        "---",
        "\n===",
        "***\n---",
        "<!--\n# hidden\n-->",
        "%%\n# hidden\n%%",
        "$$\na\n=\nb\n$$",
        "<pre>\n# shown as is\n\n# too\n</pre>",
        "<div>\n# HTML\n</div>",
        "one\ntwo\nthree\nfour\n---",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert headings(text) == []


@pytest.mark.parametrize(
    "fence",
    [
        "```python\n# A code comment\n```",
        "~~~\n# A code comment\n~~~",
        "````\n```\n# A code comment\n```\n````",
        "~~~~\n# A code comment\n~~~\n# and another\n~~~~~",
        "```\n# A code comment\n~~~\n# and another\n```",
        "```\n\n# after a blank line\n\n```",
        "- ```\n  # in a list\n  ```",
        "1. step\n\n    ```sh\n    # in a list\n    ```",
    ],
)
def test_a_comment_in_a_fence_is_no_heading_and_the_fence_stays_whole(fence):
    text = f"# Example\n\n{fence}\n\n# Next"

    assert headings(text) == [(1, "Example"), (1, "Next")]
    assert fence[fence.index("#") :] in "".join(texts(text))
    assert any(block.is_solid for block in read_blocks(text))


def test_a_fence_that_is_never_closed_reaches_to_the_end():
    assert headings("# A\n```\n# code") == [(1, "A")]


def test_a_fence_in_a_list_ends_with_the_list():
    assert headings("- ```\n  code\n\nText\n\n# A") == [(1, "A")]


def test_a_fence_in_a_list_does_not_end_the_list():
    assert headings("- ```\n  code\n  ```\n  # in the item") == []


def test_a_heading_ends_a_list():
    assert headings("- item\n# A\n  # B") == [(1, "A"), (1, "B")]


def test_a_comment_that_is_never_closed_hides_nothing():
    assert headings("%% a stray sign\n\n# A\n\n<!-- another\n\n# B") == [(1, "A"), (1, "B")]


def test_two_dollar_signs_far_apart_are_no_formula():
    assert headings("$$ spent\n\n# A\n\n$$ again") == [(1, "A")]


def test_underlines_of_restructured_text_are_headings_and_open_no_fence():
    text = "Top\n===\n\nNames to Avoid\n~~~~~~~~~~~~~~\n\nText.\n\nPush\n''''\n\nNext\n---"

    assert headings(text) == [(1, "Top"), (3, "Names to Avoid"), (3, "Push"), (2, "Next")]


def test_a_fence_below_a_longer_line_is_still_a_fence():
    assert headings("As in this example:\n~~~~\n# code\n~~~~\n") == []


def test_a_very_long_heading_keeps_its_place_but_not_its_length():
    ((level, title),) = headings("# " + "word " * 200)

    assert level == 1
    assert len(title) <= LONGEST_HEADING


def test_blocks_are_paragraphs_fences_and_headings():
    text = "# A\nOne.\nTwo.\n\n\nThree.\n```\nx\n\ny\n```\nFour."

    assert texts(text) == ["# A", "One.\nTwo.", "Three.", "```\nx\n\ny\n```", "Four."]


FENCES = ["```", "```py", "~~~", "````"]
TEXTS = ["", "a", "b c", "    code", "    # code", "***"]
HEADINGS = ["# H", "## K ##", "  # in"]
NESTED = ["- i", "  j", "1. n", "> q", "> # q", "| t |", "<div>", "---", "==="]
LINES = st.lists(st.sampled_from([*FENCES, *TEXTS, *HEADINGS, *NESTED]), max_size=14)


def parsed(text: str) -> list[int]:
    """The lines where another parser sees headings that stand in no list or quote."""
    found, depth = [], 0
    for event, span in pyromark.events_with_range(text):
        if not isinstance(event, dict):
            continue
        if "Start" in event:
            if depth == 0 and "Heading" in event["Start"]:
                found.append(text.count("\n", 0, span["start"]))
            depth += 1
        depth -= "End" in event
    return found


@given(LINES.map("\n".join))
def test_every_line_that_is_not_blank_is_in_exactly_one_block(text):
    blocks = read_blocks(text)

    assert all(a.end <= b.start for a, b in pairwise(blocks))
    inside = "\n".join(text[block.start : block.end] for block in blocks)
    assert [line for line in inside.split("\n") if line.strip()] == [
        line for line in text.split("\n") if line.strip()
    ]


UNDERLINED = ["\nT\n===", "> q", "> # q", "- i\n\nend of list"]
SIMPLE = st.lists(st.sampled_from([*FENCES, *TEXTS, "# H", "## K ##", *UNDERLINED]), max_size=14)


@given(SIMPLE.map("\n".join))
def test_another_parser_sees_the_same_headings(text):
    mine = [text.count("\n", 0, block.start) for block in read_blocks(text) if block.level]

    assert mine == parsed(text)


FENCED = ["```\n", "    ```\n", "~~~~\n", "- ```\n", "`"]
UNDER = ["a\n===\n", "- a\n===\n", "  # a\n- b\n", "#"]
HIDING = ["<!-- \n", "$$\n\n", "%% \nx\n", "<div>\n", "<pre>\n"]


@pytest.mark.parametrize("unit", [*FENCED, *UNDER, *HIDING, "- ", "* ", " ", "[[", "a::b "])
def test_hostile_repetition_is_read_in_linear_time(unit):
    text = unit * (500_000 // len(unit))
    before = time.process_time()

    blocks = read_blocks(text)

    assert time.process_time() - before < 8  # 0.5 at most; what is quadratic takes minutes
    assert sum(block.end - block.start for block in blocks) <= len(text)
