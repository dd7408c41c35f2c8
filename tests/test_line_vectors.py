"""The vectors of lines: found by what a line says, made at question time for narrower views."""

import numpy as np
import pytest

from kb_core.errors import EmbedderDownError
from kb_core.settings import EmbedderSettings
from kb_search.line_vectors import FilledVectors, LineVectors, core_id, line_arrays
from kb_search.meaning import Asking

HELD = {"Pier owned by Mara": [1, 0], "Pier status: built": [0, 1]}
OTHER = "Pier owned by mara lind"


def held(rows=HELD):
    ids = sorted((core_id(core), row) for core, row in rows.items())
    matrix = np.array([row for _, row in ids], np.float32).reshape(len(ids), 2)
    return LineVectors(line_arrays([each for each, _ in ids], matrix), "profile")


class Told:
    """What was embedded, and vectors for it."""

    def __init__(self, answers=True):
        self.texts = []
        self._answers = answers

    def __call__(self, profile, texts):
        self.texts += texts
        return np.full((len(texts), 2), 0.5, np.float32) if self._answers else None


def test_a_line_of_a_narrower_view_gets_a_vector_when_it_is_first_asked_for():
    told = Told()
    lines = FilledVectors(held(), told)

    for _ in range(2):
        found, is_there = lines.of(["Pier status: built", OTHER, OTHER])
        assert found.tolist() == [[0, 1], [0.5, 0.5], [0.5, 0.5]]
        assert is_there.all()
    assert told.texts == [OTHER]


def test_what_the_build_made_is_never_made_again():
    told = Told()

    assert FilledVectors(held(), told).of(list(HELD))[1].all()
    assert told.texts == []


@pytest.mark.parametrize(
    ("rows", "asked"),
    [({}, [OTHER]), (HELD, [f"line {number}" for number in range(257)])],
)
def test_what_a_build_has_not_come_to_yet_is_not_made_up_for(rows, asked):
    told = Told()

    assert not FilledVectors(held(rows), told).of(asked)[1].any()
    assert told.texts == []


def test_without_an_embedder_a_line_stays_without_a_vector():
    found, is_there = FilledVectors(held(), Told(answers=False)).of([OTHER])

    assert (found.tolist(), is_there.tolist()) == ([[0, 0]], [False])


def test_a_long_line_is_cut_as_the_build_cuts_it():
    told = Told()
    FilledVectors(held(), told).of(["word " * 200])

    assert told.texts == [("word " * 200)[:600]]


class Model:
    """An embedder as far as lines go."""

    def __init__(self, *, is_local=True, is_down=False):
        self.is_local = is_local
        self._is_down = is_down
        self.profile = self

    def key(self):
        return "profile"

    def embed_passages(self, texts):
        if self._is_down:
            raise EmbedderDownError("It does not answer. Start it.")
        return np.ones((len(texts), 2), np.float32)


def asking(model):
    made = Asking(EmbedderSettings(), lambda _: model)
    made._embedder = model
    return made


def test_lines_are_embedded_on_this_machine_and_by_their_own_profile_alone():
    assert asking(Model()).embed_lines("profile", ["x"]).shape == (1, 2)
    assert asking(Model(is_local=False)).embed_lines("profile", ["x"]) is None
    assert asking(Model()).embed_lines("another", ["x"]) is None
    assert asking(Model(is_down=True)).embed_lines("profile", ["x"]) is None
    assert Asking(EmbedderSettings()).embed_lines("profile", ["x"]) is None
