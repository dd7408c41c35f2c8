"""Question sets and the figures made of their answers: names, means, pairs and aims."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.question_sets import default_vault, is_home_set, load_questions, read_all_questions
from benchmarks.retrieval import EngineRanker, bm25s_ranker, with_vault
from benchmarks.retrieval_figures import Row, Rows, figures_and_aims
from kb_core.errors import EmbedderMissingError, SettingsError
from kb_core.settings import Settings, read_settings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from tests.kb_command import ROOT
from tests.small_vault import put
from tests.standins.small_build import MadeChunk, publish

OWN_SET = ROOT / "data" / "eval"


def row(category: str = "all", language: str = "en", **measured: float) -> Row:
    measures = {
        **dict.fromkeys(("recall@5", "recall@10", "all_gold@8", "mrr", "ndcg@10"), 0.0),
        **{name.replace("_at_", "@"): value for name, value in measured.items()},
    }
    return {"category": category, "language": language, "cpu_ms": 1.0, "measures": measures}


def own_row(name: str, **changed: Any) -> dict[str, Any]:
    values = {
        "id": name,
        "question": "What?",
        "category": "temporal",
        "language": "de",
        "essential": ["A.md"],
        "supporting": ["B.md"],
        "distractors": ["C.md"],
    }
    return {**values, **changed}


def write_lines(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    return file


def make_home(root: Path) -> Path:
    """Write a home's settings and questions, two that can be scored; return its question folder."""
    (root / "kb.toml").parent.mkdir(parents=True, exist_ok=True)
    (root / "kb.toml").write_text('[vault]\npath = "my notes"\n', "utf-8")
    folder = root / "data" / "eval"
    write_lines(folder / "b.jsonl", [own_row("b-1")])
    write_lines(
        folder / "a.jsonl",
        [
            own_row("a-1"),
            own_row("a-2", essential=[], expected="refuse"),
            own_row("a-3", as_of="2024-01-01"),
            own_row("a-4", principal="marit"),
        ],
    )
    write_lines(folder / "policy.jsonl", [{"id": "policy-01"}])
    return folder


def test_a_home_s_set_is_all_its_question_files_but_the_policy_set(tmp_path):
    folder = make_home(tmp_path)

    questions, left_out = read_all_questions(folder, None)

    assert is_home_set(folder)
    assert [question.id for question in questions] == ["a-1", "b-1"]
    assert left_out == 3
    assert default_vault(folder) == tmp_path / "my notes"


def test_one_file_of_a_home_may_be_asked_alone_and_of_another_vault(tmp_path):
    folder = make_home(tmp_path)

    alone, left_out = read_all_questions(folder, folder / "b.jsonl")
    elsewhere, _ = read_all_questions(tmp_path / "some-set", folder / "b.jsonl")

    assert [question.id for question in alone] == ["b-1"]
    assert left_out == 0
    assert elsewhere == alone


def test_a_home_s_question_keeps_its_roles_and_its_language(tmp_path):
    [question] = load_questions(tmp_path, write_lines(tmp_path / "q.jsonl", [own_row("q-1")]))

    assert (question.language, question.category) == ("de", "temporal")
    assert question.judged.essential == (frozenset({"A.md"}),)
    assert question.judged.supporting == (frozenset({"B.md"}),)
    assert question.judged.distractors == {"C.md"}


def test_a_public_set_keeps_its_own_format(tmp_path):
    rows = [
        {"id": 1, "question": "Who?", "hops": 2, "gold_ids": [3, 4]},
        {"id": 2, "question": "Who else?", "hops": 2, "gold_ids": []},
    ]
    write_lines(tmp_path / "questions.jsonl", rows)

    [question], left_out = read_all_questions(tmp_path, None)

    assert (question.id, question.category, question.language) == ("1", "2_hops", "")
    assert question.judged.essential == (
        frozenset({"passages/000003.md"}),
        frozenset({"passages/000004.md"}),
    )
    assert left_out == 1


def test_the_project_s_own_questions_are_a_set():
    questions, left_out = read_all_questions(OWN_SET, None)

    assert len(questions) >= 44
    assert left_out >= 3
    assert default_vault(OWN_SET) == ROOT / "data" / "sample_vault"


def test_a_home_s_settings_are_taken_with_another_vault(tmp_path):
    text = (ROOT / "kb.toml").read_text("utf-8")
    vault = tmp_path / 'odd "name"'
    (tmp_path / "kb.toml").write_text(with_vault(text, vault), "utf-8")

    taken, own = read_settings(tmp_path), read_settings(ROOT)

    assert taken.vault.path == str(vault)
    assert taken.model_copy(update={"vault": own.vault}) == own


@pytest.mark.parametrize("text", ["", "[vault]\nfolder_depth = 1\n[[folders]]\npath = 'a'\n"])
def test_settings_without_a_vault_cannot_be_taken(text, tmp_path):
    with pytest.raises(SettingsError, match=r"\[vault\]"):
        with_vault(text, tmp_path)


def test_the_search_ranks_by_what_was_named_or_not_at_all(tmp_path):
    def open_nothing(settings: object) -> Any:
        raise EmbedderMissingError("No model is installed.")

    made = {"a": [MadeChunk("a/Pears.md", "Pears.", [1, 0]), MadeChunk("a/B.md", "Plums.", [0, 1])]}
    publish(tmp_path, made)
    engine = Engine(PublishedBuild.open(tmp_path), Settings(), "Notes", open_nothing)

    assert EngineRanker(engine, "keyword")("pears") == ["a/Pears.md"]
    with pytest.raises(EmbedderMissingError, match="hybrid was not asked"):
        EngineRanker(engine, "hybrid")("pears")


def test_bm25s_ranks_the_notes_that_the_search_reads(tmp_path):
    for path in ("A.md", "b/C.md", ".drafts/D.md", "b/.trash/E.md", "b/.F.md", "b/G.txt"):
        put(tmp_path, path, "pears and plums")

    assert sorted(bm25s_ranker(tmp_path)("pears")) == ["A.md", "b/C.md"]


def test_means_are_taken_over_all_by_category_and_by_language():
    rows: Rows = {
        "keyword": [
            row("single_fact", "en", recall_at_5=1.0, mrr=1.0),
            row("single_fact", "de", recall_at_5=0.5, mrr=0.5),
            row("temporal", "de", recall_at_5=0.0, current_first=1.0),
        ]
    }

    figures, _ = figures_and_aims(rows, left_out=2)

    assert (figures["questions"], figures["questions_left_out"]) == (3, 2)
    assert (figures["keyword.recall@5"], figures["keyword.mrr"]) == (0.5, 0.5)
    assert figures["keyword.single_fact.recall@5"] == 0.75
    assert figures["keyword.lang_de.recall@5"] == 0.25
    assert (figures["questions.single_fact"], figures["questions.lang_de"]) == (2, 2)
    assert figures["keyword.current_first"] == figures["keyword.temporal.current_first"] == 1.0
    assert figures["questions.current_first"] == 1
    assert "keyword.single_fact.current_first" not in figures
    for measure in ("recall@10", "all_gold@8", "mrr"):
        assert f"keyword.temporal.{measure}" in figures


def test_a_set_of_one_kind_has_no_figures_by_kind():
    figures, aims = figures_and_aims({"keyword": [row(), row()]}, left_out=0)

    assert sorted(name for name in figures if not name.startswith("keyword.")) == [
        "questions",
        "questions_left_out",
    ]
    assert [name for name in figures if name.count(".") > 1] == []
    assert aims == {}


def test_every_pair_is_compared_once_under_the_name_it_always_had():
    rows = {name: [row()] for name in ("bm25s", "routed", "hybrid", "vector", "keyword", "graph")}

    figures, _ = figures_and_aims(rows, left_out=0)

    pairs = [name.removesuffix(".p") for name in figures if name.endswith(".p")]
    assert len(pairs) == 15
    for published in ("keyword_vs_bm25s", "hybrid_vs_keyword", "hybrid_vs_bm25s"):
        assert published in pairs
    assert {"vector_vs_keyword", "hybrid_vs_vector", "routed_vs_hybrid", "graph_vs_routed"} < {
        *pairs
    }


def test_a_pair_is_compared_question_by_question():
    first = [row(ndcg_at_10=1.0) for _ in range(8)] + [row(), row(ndcg_at_10=0.2)]
    second = [row(ndcg_at_10=0.5) for _ in range(8)] + [row(), row(ndcg_at_10=0.4)]

    figures, _ = figures_and_aims({"keyword": second, "hybrid": first}, left_out=0)

    assert [figures[f"hybrid_vs_keyword.{name}"] for name in ("wins", "losses", "ties")] == [
        *(8, 1, 1)
    ]
    assert figures["hybrid_vs_keyword.p"] == 0.03906
    assert figures["hybrid_vs_keyword.is_worse"] == 0


def test_words_are_held_against_bm25s_and_vectors_against_words():
    rows = {
        "bm25s": [row(recall_at_5=0.5, mrr=0.5)],
        "keyword": [row(recall_at_5=0.75, mrr=0.25)],
        "hybrid": [row()],
    }

    figures, aims = figures_and_aims(rows, left_out=0)

    assert figures["keyword_minus_bm25s.recall@5"] == 0.25
    assert figures["keyword_minus_bm25s.mrr"] == -0.25
    assert aims == {
        "keyword_minus_bm25s.recall@5": ">= 0",
        "keyword_minus_bm25s.mrr": ">= 0",
        "hybrid_vs_keyword.is_worse": "<= 0",
    }


def test_within_a_language_vectors_may_not_lose_what_words_find():
    kinds = [("same_language", "de"), ("same_language", "ja"), ("cross_language", "ja")]
    rows = {
        "keyword": [row(*kind, recall_at_10=0.5) for kind in kinds],
        "hybrid": [
            row(*kind, recall_at_10=value)
            for kind, value in zip(kinds, (1.0, 0.25, 1.0), strict=True)
        ],
    }

    figures, aims = figures_and_aims(rows, left_out=0)

    assert figures["hybrid_minus_keyword.lang_de.recall@10"] == 0.5
    assert figures["hybrid_minus_keyword.lang_ja.recall@10"] == -0.25
    assert aims["hybrid_minus_keyword.lang_ja.recall@10"] == ">= 0"
