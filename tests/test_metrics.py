"""Measures and significance, against values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.metrics import Judgement, mean, measures
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
