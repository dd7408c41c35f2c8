import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_search.obsidian import obsidian_link
from kb_search.quote import best_quote

FILLER = "Nothing of interest stands in this sentence. "


def folded(text):
    return " ".join(text.split())


def test_a_short_text_is_quoted_whole():
    assert best_quote("One  line.\n\n- and another", {"another": 1.0}) == "One line. - and another"


def test_the_quote_is_the_sentence_that_answers():
    text = FILLER * 30 + "Marcus decided to keep DuckDB. " + FILLER * 30

    quote = best_quote(text, {"marcus": 3.0, "duckdb": 5.0})

    assert quote.startswith("Marcus decided to keep DuckDB.")
    assert quote.endswith(".")


def test_one_rare_word_beats_a_frequent_one_many_times():
    text = "the the the the. " * 40 + "Snowflake is here. " + "the the the. " * 40

    assert "Snowflake" in best_quote(text, {"the": 0.1, "snowflake": 4.0})


def test_of_equal_stretches_the_first_is_quoted():
    text = FILLER * 9 + "The first cat. " + FILLER * 9 + "The second cat. " + FILLER * 9

    assert "first" in best_quote(text, {"cat": 1.0})


def test_words_far_apart_do_not_add_up():
    text = "Gamma, delta. " + FILLER * 9 + "Alpha. " + FILLER * 9 + "Beta. " + FILLER * 9

    quote = best_quote(text, {"alpha": 5.0, "beta": 5.0, "gamma": 4.0, "delta": 4.0})

    assert quote.startswith("Gamma, delta.")


def test_accents_and_case_do_not_hide_a_word():
    assert "Ångström" in best_quote(FILLER * 20 + "By Ångström. " + FILLER * 20, {"angstrom": 1.0})


def test_a_text_without_spaces_is_quoted_around_the_words():
    text = "没有关系的句子。" * 80 + "武田信玄是故事的中心。" + "后面还有别的内容，" * 80

    quote = best_quote(text, {"武田": 1.0, "信玄": 1.0})

    assert quote.startswith("武田信玄")
    assert 120 <= len(quote) <= 240


def test_a_word_inside_another_is_not_the_word():
    text = "Concatenation. " * 40 + "A cat sat. " + "Concatenation. " * 40

    assert "A cat sat." in best_quote(text, {"cat": 1.0})


def test_one_endless_word_is_cut():
    assert len(best_quote("x" * 5_000, {})) == 240


@settings(deadline=None)
@given(st.text(), st.dictionaries(st.sampled_from(["a", "b c", "数", "0"]), st.floats(0.1, 9)))
def test_a_quote_is_a_stretch_of_the_text(text, weights):
    quote = best_quote(text * 9, weights, width=30)

    assert quote in folded(text * 9)
    assert len(quote) <= 30
    assert quote or not text.split()


@pytest.mark.parametrize(
    ("note", "heading", "target"),
    [
        ("Plan.md", None, "Plan"),
        ("Work/Plan.md", "Q3: goals", "Work%2FPlan%23Q3%20goals"),
        ("計画.md", "a #b | c^d [[e]]", "%E8%A8%88%E7%94%BB%23a%20b%20c%20d%20e"),
    ],
)
def test_a_link_opens_the_note_at_its_heading(note, heading, target):
    assert obsidian_link("My notes", note, heading) == (
        f"obsidian://open?vault=My%20notes&file={target}"
    )
