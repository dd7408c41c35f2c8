import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.errors import ContractError, EmbedderError
from kb_search import vectors as search
from kb_search.vectors import ARRAYS, HeldBytes, Vectors, VectorScope, build_vector_arrays, largest

DIMS = 24


def unit(chance, size, dims=DIMS):
    rows = chance.normal(size=(size, dims))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def folder(seed, passages, dims=DIMS, budget=None):
    """A folder's vectors and the best exact product of each doc, by plain numpy."""
    matrix = unit(np.random.default_rng(seed), sum(passages), dims)
    return Vectors(build_vector_arrays(np.array(passages), matrix), budget), matrix


def brute_force(matrix, passages, query):
    products = matrix.astype(np.float64) @ query.astype(np.float64)
    ends = np.cumsum(passages)
    return {
        doc: products[end - size : end].max()
        for doc, (size, end) in enumerate(zip(passages, ends, strict=True))
        if size
    }


passage_counts = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@settings(deadline=None)
@given(passage_counts, st.integers(0, 99))
def test_docs_score_by_their_best_passage(passages, seed):
    vectors, matrix = folder(seed, passages)
    query = unit(np.random.default_rng(seed + 1), 1)[0]

    docs, scores = VectorScope([vectors], [np.ones(len(passages))]).best(query, 20)

    expected = brute_force(matrix, passages, query)
    assert docs.tolist() == sorted(expected)
    assert scores == pytest.approx([expected[doc] for doc in docs.tolist()], abs=1e-8)


def test_who_asks_while_the_codes_are_being_converted_gets_the_same_products(monkeypatch):
    vectors, _ = folder(1, [2, 1, 3], budget=HeldBytes(2**20))
    query = np.rint(unit(np.random.default_rng(2), 1)[0] * 100).astype(np.float32)
    first = vectors.dots(query)
    meanwhile = []

    class Room(np.ndarray):
        def __setitem__(self, *where_and_what):
            meanwhile.append(vectors.dots(query))  # as another thread would
            super().__setitem__(*where_and_what)

    monkeypatch.setattr(search, "_on_whole_pages", lambda shape: np.zeros(shape, "f4").view(Room))
    second = vectors.dots(query)

    assert len(meanwhile) == 1
    assert meanwhile[0].tolist() == second.tolist() == first.tolist()


@settings(deadline=None)
@given(st.lists(passage_counts, min_size=2, max_size=3), st.integers(0, 99))
def test_other_folders_change_not_one_bit(folders, seed):
    made = [folder(seed + at, passages)[0] for at, passages in enumerate(folders)]
    query = unit(np.random.default_rng(seed + 50), 1)[0]
    ones = [np.ones(len(passages)) for passages in folders]

    together = dict(
        zip(*map(np.ndarray.tolist, VectorScope(made, ones).best(query, 99)), strict=True)
    )

    first = 0
    for vectors, scope in zip(made, ones, strict=True):
        docs, scores = VectorScope([vectors], [scope]).best(query, 99)
        for doc, score in zip(docs.tolist(), scores.tolist(), strict=True):
            assert together[first + doc] == score
        first += len(scope)


@pytest.mark.parametrize("dims", [DIMS, 1024, 2100])
def test_held_and_converted_codes_give_the_same_bits_and_are_exact(dims):
    chance = np.random.default_rng(3)
    # All of one sign, so that the sums grow as large as they can.
    arrays = build_vector_arrays(np.ones(50), chance.uniform(0.8, 1, (50, dims)))
    vectors = Vectors(arrays, HeldBytes(10**9))
    query = np.rint(chance.uniform(100, 127, dims))
    codes = arrays["codes"].astype(np.int64)

    first, second, third = (vectors.dots(query.astype(np.float32)) for _ in range(3))

    assert first.tolist() == (codes @ query.astype(np.int64)).tolist()
    assert first.tolist() == second.tolist() == third.tolist()


def test_codes_beyond_the_budget_are_not_kept():
    budget = HeldBytes(4 * DIMS * 3)
    small, _ = folder(1, [1, 1], budget=budget)
    large, _ = folder(2, [1, 1], budget=budget)
    for _ in range(3):
        small.dots(np.ones(DIMS, np.float32))
        large.dots(np.ones(DIMS, np.float32))

    assert budget.left == 4 * DIMS


def test_the_best_are_found_among_many():
    passages = [1, 2, 3] * 500
    vectors, matrix = folder(5, passages, 64)
    query = unit(np.random.default_rng(6), 1, 64)[0]

    docs, _ = VectorScope([vectors], [np.ones(len(passages))]).best(query, 100)

    exact = brute_force(matrix, passages, query)
    assert set(sorted(exact, key=exact.__getitem__)[-50:]) <= set(docs.tolist())
    assert len(docs) == 100


def test_docs_out_of_scope_and_pending_ones_are_never_found():
    vectors, _ = folder(7, [1, 0, 2, 1])
    scope = VectorScope([None, vectors], [np.ones(2), np.array([1, 1, 0, 2])])

    docs, _ = scope.best(unit(np.random.default_rng(8), 1)[0], 10)

    assert docs.tolist() == [2, 5]
    assert scope.size == 2


def test_nothing_with_vectors_finds_nothing():
    docs, scores = VectorScope([None], [np.ones(2)]).best(np.ones(DIMS, np.float32), 10)

    assert (docs.tolist(), scores.tolist()) == ([], [])


def test_a_question_of_another_width_is_refused():
    vectors, _ = folder(9, [1])

    with pytest.raises(EmbedderError, match="3 dimensions"):
        VectorScope([vectors], [np.ones(1)]).best(np.ones(3, np.float32), 5)


def test_vectors_that_do_not_fit_their_docs_are_refused():
    with pytest.raises(ContractError, match="5 passages"):
        build_vector_arrays(np.array([2, 3]), np.ones((4, DIMS), np.float32))


def test_a_folder_without_vectors_and_a_zero_vector_can_be_written():
    empty = build_vector_arrays(np.zeros(3, np.int64), np.empty((0, DIMS), np.float32))
    zero = build_vector_arrays(np.ones(1, np.int64), np.zeros((1, DIMS), np.float32))

    assert set(empty) == set(ARRAYS)
    assert zero["codes"].tolist() == [[0] * DIMS]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 12))
def test_of_equal_scores_the_first_are_taken(scores, limit):
    ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:limit]

    assert largest(np.array(scores, float), limit).tolist() == sorted(ranked)


def test_the_number_of_threads_changes_not_one_bit():
    script = """
import hashlib, numpy as np
from kb_search.vectors import Vectors, VectorScope, build_vector_arrays
chance = np.random.default_rng(0)
rows = chance.normal(size=(6000, 1024)).astype(np.float32)
scope = VectorScope([Vectors(build_vector_arrays(np.ones(6000, int), rows))], [np.ones(6000)])
found = [scope.best(rows[at] + 1, 200) for at in range(3)]
print(hashlib.sha256(b"".join(each.tobytes() for pair in found for each in pair)).hexdigest())
"""
    digests = {
        subprocess.check_output(
            [sys.executable, "-c", script], env={**os.environ, "OPENBLAS_NUM_THREADS": threads}
        )
        for threads in ("1", "2")
    }

    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2
