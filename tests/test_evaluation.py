"""Scoring a home's last build: once, whole builds alone, and never with half of the truth."""

import json

import dagster as dg
import pytest

from eval_assets import evaluation as stage
from eval_assets.assets import eval_report, eval_scores
from eval_assets.evaluation import FIGURES, evaluate, is_fresh
from eval_assets.folder_scores import folders_to_score, score_folder
from eval_assets.judge import Judge
from kb_assets.build.publish import baseline, run_published
from kb_assets.choices import read_choices
from kb_assets.partitions import FOLDERS
from kb_assets.workbench import Workbench
from kb_core.errors import EmbedderDownError, NotBuiltError, StoreError
from kb_core.ids import partition_key
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.ollama_embedder import OllamaEmbedder
from tests.built_home import build, open_home
from tests.eval_vault import TOPICS, make_eval_vault, note_path, question_row, write_questions
from tests.scored_homes import NO_VECTORS, by_ollama, copy_home, make_homes
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

TOWN = partition_key("Town")


@pytest.fixture(scope="module")
def ollama():
    with OllamaStandIn(models=("bge-m3:latest", "nomic-embed-text:latest")) as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


@pytest.fixture(scope="module")
def built(tmp_path_factory, ollama):
    root = tmp_path_factory.mktemp("built")
    return make_homes(root, words=NO_VECTORS, whole=by_ollama(ollama))


@pytest.fixture
def words(built, tmp_path):
    return copy_home(built, "words", tmp_path, NO_VECTORS)


@pytest.fixture
def whole(built, tmp_path, ollama):
    return copy_home(built, "whole", tmp_path, by_ollama(ollama))


def history(home):
    return Evaluations(home.data / "history").rows()


def report(home):
    return Builds(home.data).report(home.record("last-build")["build"])


def test_without_an_embedder_words_are_scored_and_the_reason_stands(words):
    done = evaluate(words)

    assert (done.variant, done.why_not, done.figures["questions"]) == (
        "keyword",
        "",
        len(TOPICS),
    )
    # The plainest first.
    assert list(done.scores.rows) == ["bm25s", "keyword+linked", "keyword"]
    assert set(done.scores.problems) == {"hybrid+linked", "hybrid", "routed", "vector"}
    assert report(words)["evaluation"]["variant"] == "keyword"
    assert [row["variant"] for row in history(words)] == ["keyword"]


def test_scoring_again_asks_nothing_and_says_the_same(words):
    first, again = evaluate(words), evaluate(words)

    assert (first.is_cached, again.is_cached) == (False, True)
    assert (first.figures, first.stamp) == (again.figures, again.stamp)
    assert is_fresh(words)
    assert len(history(words)) == 1


def test_the_page_plots_at_most_twelve_figures(words):
    assert len(evaluate(words).figures) <= 12
    assert len(FIGURES) + 3 <= 12


def test_nothing_is_scored_before_the_first_build_or_without_questions(tmp_path):
    home = open_home(tmp_path / "home", make_eval_vault(tmp_path / "vault"))
    assert evaluate(home).why_not == "there is no build yet"
    with pytest.raises(NotBuiltError, match="kb build"):
        score_folder(home, TOWN)
    assert folders_to_score(home) == []

    build(home)

    assert "kb questions suggest" in evaluate(home).why_not
    assert is_fresh(home)
    assert history(home) == []


def test_a_build_with_pending_vectors_is_not_scored(tmp_path, ollama):
    vault = make_eval_vault(tmp_path / "vault")
    home = open_home(tmp_path / "home", vault, by_ollama(ollama))
    write_questions(home.root)
    build(home, with_vectors=False)

    assert "pending" in evaluate(home).why_not
    assert folders_to_score(home) == []


def test_a_slip_in_a_question_file_is_the_reason_and_the_build_is_published(words):
    put(words.data / "eval", "slip.jsonl", "{")

    done = evaluate(words)

    assert "slip.jsonl, line 1" in done.why_not
    assert run_published(words)[1].why_not == ""
    assert baseline(words) == ""


def test_questions_about_gone_notes_alone_score_nothing_and_are_no_point_in_the_history(words):
    row = {**question_row("pier"), "essential": ["Gone.md"], "facts": []}
    put(words.data / "eval", "costs.jsonl", json.dumps(row))

    done = evaluate(words)

    assert (done.variant, done.why_not) == ("", "no question can be asked")
    assert history(words) == []
    assert report(words)["evaluation"] is None
    assert is_fresh(words)


def test_damaged_scores_are_made_anew(words):
    first = evaluate(words)
    path = words.data / "builds" / f"{first.build}.scores.json"
    for text in ("", "[]", json.dumps({"stamp": first.stamp, "scores": {"version": "0"}})):
        path.write_text(text)

        assert not is_fresh(words)
        assert evaluate(words).figures["mrr"] == first.figures["mrr"]


def test_a_damaged_history_of_scores_says_what_to_do(words):
    evaluate(words)
    path = words.data / "history" / "evaluations.jsonl"
    for text in ("{", "5\n", "\xff"):
        path.write_bytes(text.encode("latin-1"))

        with pytest.raises(StoreError, match="Restore data/history from a backup"):
            history(words)


def test_an_embedder_that_gives_no_answer_is_asked_again_with_the_next_build(whole, monkeypatch):
    def give_out(_self, _text):
        raise EmbedderDownError("It gave out.")

    monkeypatch.setattr(OllamaEmbedder, "embed_query", give_out)
    done = evaluate(whole)
    score_folder(whole, TOWN)
    assert done.variant == "keyword"
    assert not is_fresh(whole)
    assert TOWN in folders_to_score(whole)
    monkeypatch.undo()

    assert evaluate(whole).variant == "hybrid"
    assert score_folder(whole, TOWN).variant == "hybrid"
    assert is_fresh(whole)
    assert TOWN not in folders_to_score(whole)


def test_two_processes_that_score_one_build_leave_one_point_in_the_history(words, monkeypatch):
    plain = stage._for_gate

    def while_another_does_the_same(home, judge, done, posed):
        monkeypatch.setattr(stage, "_for_gate", plain)
        evaluate(home)
        return plain(home, judge, done, posed)

    monkeypatch.setattr(stage, "_for_gate", while_another_does_the_same)

    evaluate(words)

    assert len(history(words)) == 1


def test_answers_are_timed_beside_those_of_the_build_before(whole, tmp_path):
    evaluate(whole)
    run_published(whole)
    put(tmp_path / "vault", "Town/New.md", "# New\n\nThe quay was mended.\n")
    build(whole)

    evaluate(whole)

    assert report(whole)["evaluation"]["latency_ratio"] > 0


@pytest.mark.parametrize("gone", ["manifest", "table"])
def test_a_build_before_whose_files_are_gone_is_no_hindrance(words, tmp_path, gone):
    first = evaluate(words).build
    run_published(words)
    put(tmp_path / "vault", note_path("pier"), "# Pier\n\nThe pier was sold.\n")
    build(words)
    folder = Builds(words.data).read(first)["folders"][partition_key("Harbour")]
    table = words.store.root / folder["artifacts"]["chunks"]["files"]["table"]
    (words.data / "builds" / f"{first}.json" if gone == "manifest" else table).unlink()

    done = evaluate(words)

    assert done.figures["questions"] == len(TOPICS)
    assert "latency_ratio" not in report(words)["evaluation"]
    assert run_published(words)[1].is_moved


def test_after_a_change_of_embedder_the_old_builds_words_are_no_measure_of_speed(
    whole, tmp_path, ollama
):
    evaluate(whole)
    run_published(whole)
    other = by_ollama(ollama, model="nomic-embed-text")
    moved = open_home(whole.root, tmp_path / "vault", other)
    read_choices(moved, migrate=True)
    build(moved)

    done = evaluate(moved)

    assert done.variant == "hybrid"
    assert "latency_ratio" not in report(moved)["evaluation"]


def test_a_judge_knows_the_notes_that_can_be_found(words):
    run_published(words)

    assert Judge.open(words).present == {note_path(topic) for topic in TOPICS}


def test_the_page_is_told_figures_and_no_word_of_a_note_or_question(words):
    rows = [question_row(topic) for topic in TOPICS]
    rows.append({**question_row("pier"), "id": "zebra", "essential": ["Zebra.md"], "facts": []})
    put(words.data / "eval", "costs.jsonl", "\n".join(json.dumps(row) for row in rows))
    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions(FOLDERS.name, [TOWN])

    told = []
    for asset, key in ((eval_report, None), (eval_scores, TOWN)):
        result = dg.materialize(
            [asset], instance=instance, resources={"bench": Workbench(words)}, partition_key=key
        )
        (event,) = result.get_asset_materialization_events()
        told.append({k: v.value for k, v in event.materialization.metadata.items()})

    text = repr(told).lower()
    assert "keyword" in text
    for word in ("zebra", "thousand", "what does", *TOPICS):
        assert word not in text, word
