"""One folder's scores: asked within it and in the whole vault, and only when something moved."""

import json

import pytest

from eval_assets.evaluation import evaluate, is_fresh
from eval_assets.folder_scores import folders_to_score, score_folder
from kb_core.ids import partition_key
from resources.evaluations import Evaluations
from tests.built_home import build, open_home
from tests.eval_vault import make_eval_vault, question_row, write_questions
from tests.scored_homes import NO_VECTORS, by_ollama, copy_home, make_homes
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

HARBOUR, TOWN = partition_key("Harbour"), partition_key("Town")


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn(models=("bge-m3:latest", "nomic-embed-text:latest")) as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return make_homes(tmp_path_factory.mktemp("built"), words=NO_VECTORS)


@pytest.fixture
def words(built, tmp_path):
    return copy_home(built, "words", tmp_path, NO_VECTORS)


def history(home):
    return Evaluations(home.data / "history").rows()


def test_a_folder_that_may_never_have_vectors_is_scored_by_words_once(
    tmp_path, ollama, monkeypatch
):
    monkeypatch.setattr("resources.ollama_embedder.is_this_machine", lambda _url: False)
    vault = make_eval_vault(tmp_path / "vault")
    settings = f'{by_ollama(ollama)}[egress]\nallow = ["Town"]\n'
    home = open_home(tmp_path / "home", vault, settings)
    write_questions(home.root)
    build(home)

    done = score_folder(home, HARBOUR), score_folder(home, TOWN)

    assert [each.variant for each in done] == ["keyword", "hybrid"]
    assert folders_to_score(home) == []
    assert evaluate(home).variant == "hybrid"
    assert is_fresh(home)


def test_a_folder_is_scored_inside_and_in_the_whole_vault_and_then_left_alone(words):
    assert folders_to_score(words) == [HARBOUR, TOWN]
    done = score_folder(words, HARBOUR)

    assert (done.variant, done.figures["questions"]) == ("keyword", 6)
    assert {"mrr_inside", "mrr_whole"} <= set(done.figures)
    assert score_folder(words, HARBOUR).is_cached
    assert folders_to_score(words) == [TOWN]
    assert [(row["folder"], row["variant"]) for row in history(words)] == [(HARBOUR, "keyword")]


def test_other_folders_stand_in_the_way_of_the_whole_vault_alone(words, tmp_path):
    rival = "# Pier\n\nWhat does the pier cost a year? The cost of the pier a year.\n"
    put(tmp_path / "vault", "Town/Pier.md", rival)
    build(words)

    figures = score_folder(words, HARBOUR).figures

    assert figures["mrr_inside"] == 1.0
    assert figures["mrr_whole"] == round((5 + 1 / 2) / 6, 4)


def test_a_folder_is_asked_the_first_variant_that_knows_folders(words, tmp_path):
    settings = f'{NO_VECTORS}[evaluation]\nvariants = ["bm25s", "hybrid", "keyword:cap=1"]\n'
    home = open_home(words.root, tmp_path / "vault", settings)

    assert score_folder(home, HARBOUR).variant == "keyword:cap=1"


def test_a_folder_whose_questions_ask_about_gone_notes_is_looked_at_once(words):
    row = {**question_row("pier"), "essential": ["Town/Gone.md"], "facts": []}
    put(words.data / "eval", "costs.jsonl", json.dumps(row))
    assert folders_to_score(words) == [TOWN]

    done = score_folder(words, TOWN)

    assert "gone" in done.why_not
    assert folders_to_score(words) == []
    assert score_folder(words, TOWN).why_not == done.why_not
    assert history(words) == []


def test_an_edit_moves_its_own_folder_alone(words, tmp_path):
    for partition in folders_to_score(words):
        score_folder(words, partition)
    put(tmp_path / "vault", "Town/New.md", "# New\n\nThe quay.\n")
    build(words)

    assert folders_to_score(words) == [TOWN]


def test_questions_over_two_folders_belong_to_none(words):
    row = {**question_row("pier"), "essential": ["Town/Ferry.md", "Harbour/Pier.md"]}
    put(words.data / "eval", "costs.jsonl", json.dumps(row))

    assert folders_to_score(words) == []
    assert "answered by this folder alone" in score_folder(words, TOWN).why_not
