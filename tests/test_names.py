"""What can be a name, and how a name is folded."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.names import folded, is_nameable, is_one_word, name_key, short_forms


@pytest.mark.parametrize(
    "text",
    [
        "Mira Hale",
        "Kiln",
        "git-log",
        "v2.1",
        "PEP 8",
        "白俊浩",
        "窑炉",
        "The Board",
        "Émile",
        "محمد",
    ],
)
def test_titles_that_stand_out_are_names(text):
    assert is_nameable(text)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "He", "HIS", "his", "The", "kiln", "2024-01-15", "42", "README", "the board",
     "我们", "我", "Wir", "ab", "x" * 121],
)  # fmt: skip
def test_pronouns_plain_words_numbers_and_sentences_are_none(text):
    assert not is_nameable(text)


def test_a_name_is_compared_whatever_its_case_blanks_and_composition():
    assert name_key("  Cafe\u0301\n Noir ") == name_key("café noir") == "café noir"


def test_a_name_without_blanks_in_a_script_without_blanks_is_not_one_word():
    assert is_one_word("kiln")
    assert not is_one_word("窑炉")
    assert not is_one_word("mira hale")


@pytest.mark.parametrize(
    ("title", "forms"),
    [
        ("Ada (ship)", ["Ada"]),
        ("PEP 8 – Style Guide", ["PEP 8", "Style Guide"]),
        ("Kilns: a history (2nd)", ["Kilns: a history", "Kilns", "a history (2nd)"]),
        ("Notes: Monday", ["Notes"]),
        ("Plain title", []),
        ("(all in brackets)", []),
        ("well-known", []),
    ],
)
def test_a_title_is_said_for_short(title, forms):
    assert list(short_forms(title)) == forms


@given(st.text())
def test_folding_keeps_every_place(text):
    assert len(folded(text)) == len(text)


@given(st.text())
def test_folding_a_name_twice_changes_nothing(text):
    once = name_key(text)
    assert name_key(once) == name_key(unicodedata.normalize("NFC", once))
