import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_search.fusion import reciprocal_rank_fusion

rankings = st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=4)


def ids(fused):
    return [item for item, _ in fused]


def test_ranks_start_at_one_and_an_absent_id_adds_nothing():
    fused = reciprocal_rank_fusion([["X", "a", "Y"], ["b", "c", "Y"]], k=60)

    assert ids(fused) == ["Y", "X", "b", "a", "c"]
    assert dict(fused)["Y"] == 2 / 63
    assert dict(fused)["X"] == 1 / 61


def test_a_list_that_counts_half_loses_to_a_whole_one():
    assert ids(reciprocal_rank_fusion([["a"], ["b"]], [0.5, 1.0])) == ["b", "a"]


def test_a_weight_is_needed_for_every_list():
    with pytest.raises(ValueError, match="shorter"):
        reciprocal_rank_fusion([["a"], ["b"]], [1.0])


def test_one_list_keeps_its_order():
    assert ids(reciprocal_rank_fusion([["c", "a", "b"]])) == ["c", "a", "b"]


@settings(deadline=None)
@given(rankings, st.randoms())
def test_the_order_of_the_lists_does_not_matter(lists, chance):
    shuffled = chance.sample(lists, len(lists))

    assert reciprocal_rank_fusion(lists) == reciprocal_rank_fusion(shuffled)


@settings(deadline=None)
@given(rankings)
def test_every_id_is_kept_once(lists):
    fused = ids(reciprocal_rank_fusion(lists))

    assert sorted(fused) == sorted({item for ranking in lists for item in ranking})


@settings(deadline=None)
@given(rankings, st.sampled_from("abcdef"))
def test_another_list_that_names_an_id_never_lowers_it(lists, item):
    before = ids(reciprocal_rank_fusion(lists))
    after = ids(reciprocal_rank_fusion([*lists, [item]]))

    if item in before:
        assert after.index(item) <= before.index(item)
