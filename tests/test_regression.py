"""When a build's scores keep it back: not for noise or edited questions, but for a fall."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.build.regression import GATED, score_problems, shared_questions

LIMITS = {"margin": 0.05, "latency_ratio": 2.0}


def evaluation(values: dict[str, float], variant="hybrid", ms=1000.0, keys=None, **more):
    questions = {
        name: {"key": (keys or {}).get(name, name), **dict.fromkeys(GATED, value)}
        for name, value in values.items()
    }
    return {
        "variant": variant,
        "questions": questions,
        "figures": {"latency_ms_p50": ms},
        **more,
    }


def of(*values: float, **more):
    return evaluation({f"q{at}": value for at, value in enumerate(values)}, **more)


def problems(new, old, **limits):
    return score_problems(new, old, **{**LIMITS, **limits})


def test_two_lost_of_ten_are_told_for_each_measure_with_its_figures():
    found = problems(of(*[0.0] * 2, *[1.0] * 8), of(*[1.0] * 10))

    assert len(found) == len(GATED)
    assert found[0] == (
        "recall@10 of hybrid fell from 1.00 to 0.80 over 10 questions "
        "(2 lost, 0 won; at most -0.05, `publish.score_margin`)"
    )


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ([0.0, 1.0], [1.0, 1.0]),  # one lost is news, no reason
        ([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.5]),  # as many won as lost
        ([0.9, 0.9, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),  # within the margin
        ([1.0], []),
        ([], [1.0]),
        ([], []),
    ],
)
def test_what_is_no_reason(new, old):
    assert problems(of(*new), of(*old)) == []


@pytest.mark.parametrize(
    ("lost", "kept", "all_", "margin"), [(2, 6, 20, 0.10), (2, 6, 40, 0.05), (3, 9, 30, 0.10)]
)
def test_a_fall_by_the_margin_itself_is_allowed_whatever_the_rounding(lost, kept, all_, margin):
    old = of(*[1.0] * (lost + kept), *[0.0] * (all_ - lost - kept))
    new = of(*[0.0] * lost, *[1.0] * kept, *[0.0] * (all_ - lost - kept))

    assert lost / all_ == pytest.approx(margin)
    assert problems(new, old, margin=margin) == []
    assert problems(new, old, margin=margin - 0.001) != []


def test_questions_in_other_words_are_not_compared():
    old = of(1.0, 1.0, 1.0)
    new = of(0.0, 0.0, 1.0, keys={"q0": "in other words", "q1": "too"})

    assert problems(new, old) == []
    assert shared_questions(new, old) == ["q2"]


def test_a_measure_that_only_one_of_them_has_is_not_compared():
    old, new = of(1.0, 1.0, 1.0), of(0.0, 0.0, 0.0)
    for row in old["questions"].values():
        for measure in GATED[1:]:
            del row[measure]

    assert [problem.split(" ")[0] for problem in problems(new, old)] == [GATED[0]]


@pytest.mark.parametrize(
    ("ratio", "ms", "is_told"),
    [(2.0, 1000, False), (2.1, 1000, True), (50.0, 3.0, False), (2.1, 50.0, True)],
)
def test_slow_answers_are_told_where_anybody_would_notice(ratio, ms, is_told):
    found = problems(of(1.0, ms=ms, latency_ratio=ratio), of(1.0))

    assert bool(found) == is_told
    if is_told:
        assert found == [
            "answers take 2.1 times as long as the last build's (at most 2.0, "
            "`publish.latency_ratio`)"
        ]


def test_times_that_could_not_be_compared_keep_nothing_back():
    assert problems(of(1.0), of(1.0)) == []


shares = st.floats(0, 1).map(lambda value: round(value, 6))
runs = st.dictionaries(st.sampled_from([f"q{n}" for n in range(30)]), shares)
margins = st.sampled_from([0.0, 0.01, 0.05, 0.1, 1.0])


@given(values=runs, margin=margins)
def test_equal_evaluations_are_never_a_problem(values, margin):
    assert problems(evaluation(values), evaluation(values), margin=margin) == []


@given(values=runs, risen=st.data(), margin=margins)
def test_there_is_never_a_problem_where_nothing_fell(values, risen, margin):
    better = {
        name: max(value, risen.draw(shares)) if risen.draw(st.booleans()) else value
        for name, value in values.items()
    }

    assert problems(evaluation(better), evaluation(values), margin=margin) == []


@given(new=runs, old=runs, margin=margins)
def test_whatever_is_told_fell_by_more_than_the_margin(new, old, margin):
    found = problems(evaluation(new), evaluation(old), margin=margin)

    shared = sorted(set(new) & set(old))
    fall = sum(old[name] - new[name] for name in shared) / len(shared) if shared else 0.0
    lost = sum(new[name] < old[name] - 1e-9 for name in shared)
    won = sum(new[name] > old[name] + 1e-9 for name in shared)
    if math.isclose(fall, margin, abs_tol=1e-8):
        return
    assert bool(found) == (fall > margin and lost - won >= 2)


@given(new=runs, old=runs, extra=runs)
def test_questions_that_only_one_build_was_asked_change_nothing(new, old, extra):
    strangers = {f"other {name}": value for name, value in extra.items()}

    plain = problems(evaluation(new), evaluation(old))

    assert problems(evaluation({**new, **strangers}), evaluation(old)) == plain
    assert problems(evaluation(new), evaluation({**old, **strangers})) == plain


@given(new=runs, old=runs)
def test_a_wider_margin_never_tells_more(new, old):
    told = [problems(evaluation(new), evaluation(old), margin=each) for each in (0.0, 0.1, 0.5)]

    assert len(told[0]) >= len(told[1]) >= len(told[2])
