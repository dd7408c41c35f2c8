"""No note makes more than a bounded amount of work, and counts alone decide where it is bounded."""

import datetime as dt
import random
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hostile_sets import OWN_UNITS
from kb_assets.chunks.blocks import read_blocks
from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.notes.note import parse_note
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.tokens import EXACT_CHARACTERS, RegexTokenCounter, for_one_note
from kb_core.workload import MOST_WORK, markdown_end

HEAVY = (
    "# a\n", "a\n===\n", "a:: b\n", "[[a]] ", "![[]()", "A. ", "a\n\n", "|a|b|\n", "<b>", "- a\n",
)  # fmt: skip


class CountingCounter:
    """Counts what it is asked, and words as tokens."""

    name = "words"

    def __init__(self):
        self.characters = 0

    def count(self, text):
        self.characters += len(text)
        return len(text.split())


def calls(action, *arguments):
    """Count the calls an action makes, C functions included: time without a clock."""
    seen = Counter()

    def count(_frame, event, _argument):
        seen[event] += 1

    sys.setprofile(count)
    try:
        action(*arguments)
    finally:
        sys.setprofile(None)
    return seen.total()


def chunks_of(text):
    now = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    row = {
        "note_id": "a.md",
        "observed_at": now,
        "content_hash": "x",
        "file_time": now,
        "is_first_listing": True,
        "content": text.encode(),
    }
    notes = parse_notes(VERSIONS.table([row]), NoteRules()).notes
    return chunk_notes(notes, Limits(), RegexTokenCounter())


def read_all(text):
    parse_note("a.md", text)
    read_blocks(text)


@pytest.mark.parametrize("unit", OWN_UNITS)
def test_twice_the_text_makes_at_most_about_twice_the_work(unit):
    small, large = unit * (4_000 // len(unit)), unit * (8_000 // len(unit))
    for text in (small, large):
        read_all(text)  # patterns are compiled once

    assert calls(read_all, large) <= 3 * calls(read_all, small) + 50


@pytest.mark.parametrize("unit", HEAVY)
def test_work_is_bounded_at_the_start_of_a_line(unit):
    text = unit * (5_000_000 // len(unit))

    end = markdown_end(text)

    assert 16_000 < end < 600_000
    assert text[end - 1] == "\n" or "\n" not in unit
    assert markdown_end(text[:end]) == end


@pytest.mark.parametrize("text", ["", "a", "# Plan\n\nwords\n" * 500, "words of prose " * 60_000])
def test_what_people_write_is_read_to_its_end(text):
    assert markdown_end(text) == len(text)


@given(st.text(alphabet="a#\n[]|: .", max_size=400), st.integers(1, 3_000))
@settings(max_examples=60, deadline=None)
def test_the_bound_lies_in_the_text_and_stays_where_it_is(text, times):
    whole = text * times

    end = markdown_end(whole)

    assert 0 <= end <= len(whole)
    assert markdown_end(whole) == end
    assert end == len(whole) or len(whole) > MOST_WORK / 20


def test_a_heavy_note_is_cut_to_its_end_in_pieces_that_fit():
    text = "# Log\n\n" + "## Entry\n\nwords\n\n" * 60_000 + "the end"

    chunks = chunks_of(text)

    edges = list(zip(chunks["byte_start"].to_pylist(), chunks["byte_end"].to_pylist(), strict=True))
    assert edges == sorted(edges)
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(edges)]
    assert not "".join(gaps).strip()
    assert edges[-1][1] == len(text)
    assert max(chunks["tokens"].to_pylist()) <= Limits().largest_tokens


def test_a_large_card_is_cut_like_a_note():
    chunks = chunks_of("---\nkind: card\n---\n" + "words " * 600_000)

    assert chunks.num_rows > 500
    assert max(map(len, chunks["text"].to_pylist())) < 10_000


# Counting tokens.


def test_a_short_note_is_counted_by_the_counter_itself():
    counter = RegexTokenCounter()

    assert for_one_note(counter, "a" * EXACT_CHARACTERS) is counter


def test_prose_is_counted_exactly_however_long():
    counter = RegexTokenCounter()
    text = "the ferry to the harbour leaves at nine " * 5_000
    patient = for_one_note(counter, text)

    parts = [text[at : at + 4_000] for at in range(0, len(text), 4_000)]

    assert [patient.count(part) for part in parts] == [counter.count(part) for part in parts]


@pytest.mark.parametrize("text", ["[" * 3_000_000, "word " * 600_000, " " * 200_000])
def test_a_patient_counter_stops_asking(text):
    inner = CountingCounter()
    counter = for_one_note(inner, "a" * 100_000)

    for at in range(0, len(text), 1_000):
        assert counter.count(text[at : at + 1_000]) >= 0
    counter.count(text)

    assert inner.characters <= 1_100_000


def test_a_patient_counter_does_not_ask_about_an_endless_word():
    inner = CountingCounter()

    for_one_note(inner, "a" * 100_000).count("[" * 900_000)

    assert inner.characters <= EXACT_CHARACTERS


def test_a_word_too_long_to_be_remembered_is_new_each_time():
    inner = CountingCounter()
    counter = for_one_note(inner, "a" * 100_000)

    for _ in range(500):
        counter.count("[" * 1_000)

    assert inner.characters <= EXACT_CHARACTERS


def test_new_words_are_estimated_by_the_notes_own_rate():
    rng = random.Random(3)
    words = [f"{rng.randrange(16**8):08x}" for _ in range(40_000)]
    counter = RegexTokenCounter()
    patient = for_one_note(counter, " ".join(words))
    parts = [" ".join(words[at : at + 500]) for at in range(0, len(words), 500)]

    exact = [counter.count(part) for part in parts]
    estimated = [patient.count(part) for part in parts]

    assert estimated != exact
    assert sum(estimated) == pytest.approx(sum(exact), rel=0.03)


def test_an_endless_word_is_estimated_before_anything_was_counted():
    counter = RegexTokenCounter()
    text = "abcdefgh" * 100_000

    assert for_one_note(counter, text).count(text) == pytest.approx(counter.count(text), rel=0.02)


def test_equal_notes_are_counted_equally():
    parts = ["[" * 40_000, "word " * 9_000, "\u4e2d" * 70_000, "tail"]
    counts = [[for_one_note(RegexTokenCounter(), "a" * 90_000).count(p) for p in parts]] * 2
    one, two = (for_one_note(RegexTokenCounter(), "a" * 90_000) for _ in range(2))

    assert [one.count(part) for part in parts] == [two.count(part) for part in parts]
    assert counts[0] == counts[1]
