import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.text import keyword_tokens
from kb_search.keyword import (
    ARRAYS,
    BREADCRUMB_WEIGHT,
    IDF_POWER,
    K1,
    B,
    KeywordScope,
    Postings,
    build_postings,
)
from kb_search.question import question_terms

WORDS = ["ant", "bee", "cat", "internationally", "internationalisation", "international", "水"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=6)


def scope(*folders, counts=None):
    postings = [Postings(build_postings(folder)) for folder in folders]
    given_counts = counts or [np.ones(len(folder), np.int64) for folder in folders]
    return KeywordScope(postings, [np.asarray(each) for each in given_counts])


def brute_force(docs, counts, terms):
    """BM25 from the formula, document by document, a doc standing for `counts` chunks."""
    bags = [keyword_tokens(text) for text in docs]
    size = sum(counts)
    mean = sum(len(bag) * times for bag, times in zip(bags, counts, strict=True)) / max(size, 1)
    scores = []
    for bag, times in zip(bags, counts, strict=True):
        score = 0.0
        for term in terms if times else []:
            holding = sum(n for other, n in zip(bags, counts, strict=True) if term in other)
            idf = math.log(1 + (size - holding + 0.5) / (holding + 0.5))
            repeats = bag.count(term)
            if repeats:
                saturation = repeats + K1 * (1 - B + B * len(bag) / mean)
                score += idf**IDF_POWER * repeats / saturation
        scores.append(score)
    return scores


@st.composite
def counted_texts(draw):
    docs = draw(texts)
    counts = draw(st.lists(st.integers(0, 3), min_size=len(docs), max_size=len(docs)))
    return docs, counts


@settings(deadline=None)
@given(st.lists(counted_texts(), max_size=3), st.lists(st.sampled_from(WORDS), unique=True))
def test_scores_are_those_of_the_formula_over_all_folders(folders, terms):
    terms = sorted(terms)
    docs = [text for folder, _ in folders for text in folder]
    counts = [number for _, numbers in folders for number in numbers]

    made = scope(*(folder for folder, _ in folders), counts=[numbers for _, numbers in folders])

    assert made.scores(terms) == pytest.approx(brute_force(docs, counts, terms), abs=1e-12)


@settings(deadline=None)
@given(texts, texts, st.lists(st.sampled_from(WORDS), unique=True, min_size=1))
def test_a_folder_out_of_scope_changes_not_one_bit(docs, others, terms):
    alone = scope(docs).scores(sorted(terms))
    beside = scope(docs, others, counts=[[1] * len(docs), [0] * len(others)])

    assert beside.scores(sorted(terms)).tolist() == [*alone.tolist(), *[0.0] * len(others)]


@settings(deadline=None)
@given(texts)
def test_equal_texts_give_equal_bytes(docs):
    first, second = build_postings(docs), build_postings(list(docs))

    assert [first[name].tobytes() for name in ARRAYS] == [second[name].tobytes() for name in ARRAYS]


@settings(deadline=None)
@given(texts, st.sampled_from(WORDS))
def test_a_word_finds_exactly_the_texts_that_hold_it(docs, word):
    found = scope(docs).scores([word]) > 0

    assert found.tolist() == [word in keyword_tokens(text) for text in docs]


def test_a_text_in_many_chunks_counts_for_each_of_them():
    once = scope(["ant bee", "cat"]).weights(["ant"])
    thrice = scope(["ant bee", "cat"], counts=[[3, 1]]).weights(["ant"])

    assert thrice["ant"] < once["ant"]


def test_a_word_in_the_breadcrumb_counts_several_times():
    arrays = build_postings(["ant\nbee", "ant bee"])

    assert arrays["freqs"].tolist() == [BREADCRUMB_WEIGHT, 1, 1, 1]
    assert arrays["lengths"].tolist() == [BREADCRUMB_WEIGHT + 1, 2]


def test_words_nobody_uses_weigh_nothing():
    assert scope(["ant"]).weights(["ant", "zebra"]).keys() == {"ant"}
    assert scope([]).weights(["ant"]) == {}


def test_nothing_to_search_and_nothing_asked_find_nothing():
    assert scope().scores(["ant"]).tolist() == []
    assert scope([""]).scores(["ant"]).tolist() == [0.0]
    assert scope(["ant"]).scores([]).tolist() == [0.0]


def test_a_memory_map_gives_the_same_scores(tmp_path):
    docs = ["ant bee", "bee cat", "internationally"]
    arrays = build_postings(docs)
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ARRAYS}

    made = KeywordScope([Postings(mapped)], [np.ones(3, np.int64)])

    assert made.scores(["bee"]).tolist() == scope(docs).scores(["bee"]).tolist()


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Who introduced Marcus?", ["introduced", "marcus"]),
        ("What does the WHO say about IT?", ["it", "say", "who"]),
        ("to be or not to be", ["be", "not", "or", "to"]),
        ("bee bee ant", ["ant", "bee"]),
        ("???", []),
    ],
)
def test_a_question_is_asked_by_the_words_that_say_something(question, terms):
    assert question_terms(question) == terms
