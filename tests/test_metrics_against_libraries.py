"""The same values as other people's programs: trec_eval's measures and scipy's statistics."""

import random

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from eval_assets.metrics import Judgement, measures
from eval_assets.significance import bootstrap_interval, sign_test

ROUNDS = 1_000
LARGEST_DIFFERENCE = 1e-12

Case = tuple[list[str], dict[str, int]]


def random_cases() -> list[Case]:
    """Return rankings of up to 30 notes, and grades of up to 12 notes of which some are ranked."""
    chance = random.Random(20)
    notes = [f"n{at:02d}" for at in range(40)]
    cases = []
    for _ in range(ROUNDS):
        ranking = chance.sample(notes, chance.randint(1, 30))
        judged = chance.sample(notes, chance.randint(1, 12))
        grades = {note: chance.choice((1, 2)) for note in judged}
        grades[judged[0]] = 2  # a question has something essential
        cases.append((ranking, grades))
    return cases


def our_values(ranking: list[str], grades: dict[str, int]) -> dict[str, float]:
    def of_grade(wanted: int) -> tuple[frozenset[str], ...]:
        return tuple(frozenset({note}) for note, grade in grades.items() if grade == wanted)

    return measures(ranking, Judgement(of_grade(2), of_grade(1)))


def their_values(cases: list[Case]) -> dict[str, dict[str, float]]:
    """Return the values by measure and question; a score per rank, so that no two are equal."""
    library = pytest.importorskip("ir_measures", reason="ir-measures comes with the dev extra")
    qrels = {str(at): grades for at, (_, grades) in enumerate(cases)}
    run = {
        str(at): {note: float(-rank) for rank, note in enumerate(ranking)}
        for at, (ranking, _) in enumerate(cases)
    }
    names = {
        **{f"recall@{depth}": library.R(rel=2) @ depth for depth in (5, 8, 10, 20)},
        "mrr": library.RR(rel=2),
        # Its gain is the grade, its discount log2(rank + 1): trec_eval's ndcg_cut.
        "ndcg@10": library.nDCG @ 10,
    }
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for value in library.iter_calc(list(names.values()), qrels, run):
        name = next(key for key, measure in names.items() if measure == value.measure)
        found[name][value.query_id] = value.value
    return found


def test_a_thousand_rankings_have_the_values_of_trec_eval():
    cases = random_cases()
    theirs = their_values(cases)
    names = ["recall@5", "recall@10", "recall@20", "mrr", "ndcg@10"]
    ours = [our_values(*case) for case in cases]

    assert {name: len(theirs[name]) for name in names} == dict.fromkeys(names, ROUNDS)
    assert [
        (name, at)
        for at, found in enumerate(ours)
        for name in names
        if abs(found[name] - theirs[name][str(at)]) > LARGEST_DIFFERENCE
    ] == []


def test_all_gold_is_a_recall_of_one():
    cases = random_cases()
    theirs = their_values(cases)

    for at, case in enumerate(cases):
        found = our_values(*case)
        assert found["all_gold@8"] == float(theirs["recall@8"][str(at)] == 1)
        assert found["all_gold@20"] == float(theirs["recall@20"][str(at)] == 1)


def test_the_sign_test_is_the_exact_binomial_test():
    for wins in range(41):
        for losses in range(41):
            found = sign_test([1.0] * wins + [0.0] * losses, [0.0] * wins + [1.0] * losses)
            exact = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
            assert found.p == pytest.approx(exact, abs=1e-12), (wins, losses)


@pytest.mark.parametrize("size", [20, 80])
def test_the_bootstrap_interval_is_about_that_of_scipy(size):
    values = np.random.default_rng(size).normal(0.1, 0.3, size)

    theirs = bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval

    # Two thousand samples place the ends of the interval within a tenth of its half-width.
    near = 0.1 * (theirs.high - theirs.low) / 2
    assert bootstrap_interval(values.tolist()) == pytest.approx(tuple(theirs), abs=near)
