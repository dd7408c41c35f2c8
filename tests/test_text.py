import time
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.text import LONGEST_WORD, fold, keyword_counts, keyword_tokens

words = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
names = st.builds(
    lambda join, parts: join.join(parts),
    st.sampled_from(["_", "-", ".", "/", "::", "\\", "@", ":"]),
    st.lists(words, min_size=2, max_size=5),
)
han = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x4FFF), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("parse_config", ["parse", "config", "parseconfig"]),
        ("parseConfig", ["parse", "config", "parseconfig"]),
        ("src/kb/main.py", ["src", "kb", "main", "py", "srckbmainpy"]),
        ("pep-0590", ["pep", "0590", "pep0590"]),
        ("v2.3.1", ["v2", "3", "1", "v2.3.1"]),
        ("C++ and C#.", ["c", "c++", "and", "c", "c#"]),
        ("D-12", ["d", "12", "d12"]),
        ("12.3", ["12", "3", "12.3"]),
        ("1,234,567 of 2019,100", ["1234567", "of", "2019", "100"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("PEPs", ["pep", "peps"]),
        ("Lothair's", ["lothair"]),
        ("McDonald’s", ["mc", "donald", "mcdonald"]),
        ("U.S.", ["u", "s", "us"]),
        ("a+b # c", ["a", "b", "c"]),
        ("-".join(["abcdefgh"] * 9), ["abcdefgh"] * 9),
    ],
)
def test_a_name_is_found_by_its_parts_and_whole(text, tokens):
    assert keyword_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("中文合約", ["中", "中文", "文", "文合", "合", "合約", "約"]),
        ("水", ["水"]),
        ("한국어", ["한", "한국", "국", "국어", "어"]),
        ("ｶﾞ", ["ガ"]),
        ("ไทย", ["ไท", "ทย"]),
        ("用parse_config函数", ["用", "parse", "config", "parseconfig", "函", "函数", "数"]),
        ("हिन्दी", ["हिन्दी"]),
        ("мой ещё", ["мой", "еще"]),
        ("Straße Ødegård İzmir", ["strasse", "odegard", "izmir"]),
        ("Σίσυφος ΣΊΣΥΦΟΣ", ["σισυφοσ", "σισυφοσ"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("ｆｕｌｌ ①", ["full", "1"]),
    ],
)
def test_every_script_gives_keywords(text, tokens):
    assert keyword_tokens(text) == tokens


@pytest.mark.parametrize("text", ["/b testing", "root causes/solutions.", "a AND (b OR", '"x'])
def test_signs_never_are_a_query_language(text):
    assert set(keyword_tokens(text)) <= set(keyword_tokens(f"{text} more"))
    assert keyword_tokens(text)


def test_signs_alone_give_nothing():
    assert keyword_tokens("?! -- \n\t #") == []


def test_kana_voicing_is_another_letter_and_an_accent_is_not():
    assert fold("ガ") != fold("カ")
    assert fold("é") == fold("e")


@pytest.mark.parametrize(
    "line", ["a-", "aB", "a", "-", "中", "é-", "e\u0301", "\u0306", "1,000", "a+", "\ufdfa", "_:"]
)
def test_a_hostile_line_takes_linear_time(line):
    start = time.process_time()
    tokens = keyword_tokens(line * 100_000)

    assert time.process_time() - start < 2
    assert max(map(len, tokens), default=0) <= LONGEST_WORD


@settings(deadline=None)
@given(st.text())
def test_counts_are_those_of_the_tokens(text):
    assert keyword_counts(text) == Counter(keyword_tokens(text))


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=126)))
def test_one_foreign_letter_changes_nothing_for_the_rest(text):
    assert keyword_tokens(f"{text} é") == [*keyword_tokens(text), "e"]


@settings(deadline=None)
@given(st.text())
def test_fold_is_settled_after_one_time(text):
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(st.text())
def test_a_text_and_its_decomposed_form_have_the_same_keywords(text):
    assert keyword_tokens(unicodedata.normalize("NFD", text)) == keyword_tokens(
        unicodedata.normalize("NFC", text)
    )


@settings(deadline=None)
@given(names)
def test_every_part_of_a_name_finds_it(name):
    parts = [part for part in name.replace("\\", "/").replace("::", "/").split("/") if part]

    for part in parts:
        assert set(keyword_tokens(part)) <= set(keyword_tokens(f"see {name}, please"))


@settings(deadline=None)
@given(han, st.data())
def test_any_stretch_of_a_text_without_spaces_finds_it(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    assert set(keyword_tokens(text[start:end])) <= set(keyword_tokens(text))


@settings(deadline=None)
@given(st.lists(words, min_size=1))
def test_case_does_not_matter_to_words(parts):
    text = " ".join(parts)

    assert keyword_tokens(text.upper()) == keyword_tokens(text)
