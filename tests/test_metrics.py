"""Measures of a question and significance, against values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.metrics import (
    Judgement,
    current_first,
    decision_measures,
    leaks,
    mean,
    measures,
)
from eval_assets.significance import bootstrap_interval, sign_test


def judged(*essential: str, supporting: tuple[str, ...] = ()) -> Judgement:
    return Judgement(
        tuple(frozenset({note}) for note in essential),
        tuple(frozenset({note}) for note in supporting),
    )


def test_recall_counts_what_was_found_by_a_depth():
    found = measures(["x", "a", "y", "z", "w", "b"], judged("a", "b"))

    assert (found["recall@5"], found["recall@10"]) == (0.5, 1.0)
    assert (found["all_gold@8"], found["mrr"]) == (1.0, 0.5)


def test_a_group_is_found_by_any_of_its_notes_and_counts_once():
    either = Judgement((frozenset({"a", "b"}), frozenset({"c"})))

    found = measures(["b", "a"], either)

    assert found["recall@5"] == 0.5
    assert found["ndcg@10"] < 1


def test_ndcg_weighs_essential_above_supporting():
    best = 2 / math.log2(2) + 1 / math.log2(3)
    turned = 1 / math.log2(2) + 2 / math.log2(3)

    found = measures(["s", "a"], judged("a", supporting=("s",)))

    assert found["ndcg@10"] == pytest.approx(turned / best)
    assert measures(["a", "s"], judged("a", supporting=("s",)))["ndcg@10"] == 1.0


def test_nothing_found_is_zero_and_nothing_essential_is_refused():
    assert set(measures([], judged("a")).values()) == {0.0}
    with pytest.raises(ValueError, match="no recall"):
        measures(["a"], Judgement(()))


def test_the_mean_is_over_questions_that_have_the_measure():
    assert mean([{"a": 1.0}, {"a": 0.0, "b": 1.0}]) == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("ranking", "value"),
    [
        (["x", "new", "old"], 1.0),
        (["x", "old", "new"], 0.0),
        (["new"], 1.0),  # the rival is not there: it stands last
        (["old"], 0.0),
        (["x"], 0.0),  # nothing is there, and nothing was found
        ([], 0.0),
        (["newer", "old", "new"], 1.0),  # the first essential note decides
        (["planned", "new", "old"], 0.0),  # and every rival
    ],
)
def test_the_current_note_comes_first_or_not(ranking, value):
    assert current_first(ranking, ["new", "newer"], ["old", "planned"]) == value


def test_without_rivals_nothing_can_come_first():
    assert current_first(["new"], ["new"], []) is None


@pytest.mark.parametrize(
    ("expected", "did", "found"),
    [
        ("refuse", "refuse", {"refused": 1.0}),
        ("refuse", "answer", {"refused": 0.0}),
        ("refuse", "ask_back", {"refused": 0.0}),
        ("answer", "refuse", {"false_refusals": 1.0}),
        ("answer", "answer", {"false_refusals": 0.0}),
        ("ask_back", "ask_back", {"asked_back": 1.0}),
        ("ask_back", "answer", {"asked_back": 0.0}),
        ("refuse", None, {}),
        ("answer", None, {}),
        ("ask_back", None, {}),
    ],
)
def test_a_decision_has_one_measure_and_none_without_a_signal(expected, did, found):
    assert decision_measures(expected, did) == found


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("Private/A.md", 1),
        ("see Private/A.md#plans, and Private/A.md", 1),
        ("Private/A.md Private/B (2).md", 2),
        ("参见Private/A.md。", 1),
        ("Old/Private/A.md", 0),
        ("Not-Private/A.md", 0),
        ("Private/A.mdx", 0),
        ("Private/Axmd", 0),
        ("Private/a.md", 0),
    ],
)
def test_each_forbidden_id_that_an_output_names_leaks_once(output, count):
    assert leaks(["Open/A.md", output], ["Private/A.md", "Private/B (2).md"]) == count


def test_an_id_that_leaks_through_two_outputs_is_one_leak():
    assert leaks(["a1", "a1", "b2"], ["a1", "a1", "c3"]) == 1
    assert leaks(iter("abcdef"), list("fedcba")) == 6


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(15, 5, 0.0414), (1, 12, 0.0034), (1, 5, 0.2188), (0, 0, 1.0)]
)
def test_the_sign_test_gives_the_known_values(wins, losses, p):
    first = [1.0] * wins + [0.0] * losses + [0.5] * 4
    second = [0.0] * wins + [1.0] * losses + [0.5] * 4

    found = sign_test(first, second)

    assert (found.wins, found.losses, found.ties) == (wins, losses, 4)
    assert found.p == pytest.approx(p, abs=5e-5)


def test_the_bootstrap_is_the_same_every_time_and_holds_the_mean():
    values = [0.1, -0.2, 0.3, 0.0, 0.4]

    low, high = bootstrap_interval(values)

    assert (low, high) == bootstrap_interval(values)
    assert low <= sum(values) / len(values) <= high


@given(st.permutations(list("abcdefgh")), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_every_measure_lies_between_zero_and_one(ranking, essential):
    found = measures(ranking, judged(*sorted(essential)))

    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    assert found["recall@5"] <= found["recall@10"] <= found["recall@20"]


@given(st.permutations(list("abcdef")), st.sets(st.sampled_from("abc")), st.integers(0, 6))
def test_dropping_what_has_no_grade_never_changes_which_comes_first(ranking, essential, depth):
    others = set("cde") - essential
    graded = [note for note in ranking[:depth] if note in essential | others]

    assert current_first(ranking[:depth], essential, others) == current_first(
        graded, essential, others
    )
