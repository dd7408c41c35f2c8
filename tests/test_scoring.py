"""Scoring: each question asked of each variant, and nothing counted that was not asked."""

import json
from dataclasses import dataclass, field, replace

import pytest

from eval_assets.questions import Posed, Question
from eval_assets.reading import Passage
from eval_assets.scoring import TRIALS, VERSION, Scores, median_ratio, needs_view, score
from eval_assets.variants import Asked, EngineVariant
from kb_core.errors import EmbedderDownError
from kb_core.settings import Settings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from tests.standins.hash_embedder import HashEmbedder
from tests.standins.small_build import MadeChunk, publish

PRESENT = {"pier.md", "ferry.md", "quay.md"}
TEXTS = {"pier.md": "The pier costs three euros.", "ferry.md": "The ferry sails at nine."}


@dataclass
class Fixed:
    """A variant that gives the same for every question, and notes down what it was asked."""

    ranking: tuple[str, ...] = ("pier.md", "ferry.md")
    name: str = "fixed"
    is_random: bool = False
    decision: str | None = None
    asked: list = field(default_factory=list)

    def ask(self, question, folders=None):
        self.asked.append((question, folders))
        passages = tuple(Passage(note, TEXTS.get(note, ""), 5) for note in self.ranking)
        return Asked(self.ranking, passages, 0.002, self.decision)


class Turning(Fixed):
    """A random variant: its answers turn round from one time to the next."""

    def ask(self, question, folders=None):
        found = super().ask(question, folders)
        is_turned = len(self.asked) % 2 == 0
        seconds = 0.001 * len(self.asked)
        return replace(found, ranking=found.ranking[:: -1 if is_turned else 1], seconds=seconds)


@dataclass
class GivesOut(Fixed):
    """Falls back to words from its n-th answer on."""

    after: int = 2

    def ask(self, question, folders=None):
        found = super().ask(question, folders)
        return replace(found, problem="By words alone." if len(self.asked) > self.after else "")


def posed(name: str = "q1", **changed: object) -> Posed:
    values = {
        "id": name,
        "question": f"Question {name}?",
        "category": "single_fact",
        "essential": ("pier.md",),
        "facts": ({"fact": "cost", "note": "pier.md", "quote": "costs  three\neuros"},),
        **changed,
    }
    return Posed("own", Question(**values))


def scored(*questions: Posed, variant=None, **more):
    return score(questions, [variant or Fixed()], PRESENT, len, **more)


def test_a_row_holds_every_measure_of_its_question():
    (row,) = scored(posed()).rows["fixed"]

    assert (row.id, row.set, row.category, row.language) == ("q1", "own", "single_fact", "en")
    assert row.ranking == ("pier.md", "ferry.md")
    assert (row.measures["mrr"], row.measures["recall@5"], row.measures["ndcg@10"]) == (1, 1, 1)
    assert (row.measures["fact_recall@8k"], row.measures["precision@8k"]) == (1, 0.5)
    assert (row.ms, row.is_scored) == (2.0, True)


def test_measures_are_of_what_was_ranked():
    (row,) = scored(posed(essential=("ferry.md", "quay.md"), facts=())).rows["fixed"]

    assert (row.measures["mrr"], row.measures["recall@10"], row.measures["all_gold@8"]) == (
        *(0.5, 0.5),
        0,
    )
    assert "fact_recall@8k" not in row.measures


def test_an_unanswerable_question_is_asked_and_has_no_ranking_measures():
    nothing = posed(essential=(), facts=(), expected="refuse", category="unanswerable")
    scores = scored(nothing, variant=Fixed(decision="answer"))

    (row,) = scores.rows["fixed"]
    assert row.measures == {"refused": 0.0}
    assert not row.is_scored


def test_a_variant_without_a_signal_has_no_measure_of_refusing():
    nothing = posed(essential=(), facts=(), expected="refuse")

    assert scored(nothing).rows["fixed"][0].measures == {}


def test_todays_note_must_stand_above_outdated_ones_in_some_categories_alone():
    values = {"essential": ("ferry.md",), "distractors": ("pier.md",), "facts": ()}
    now, plain = posed("q1", category="temporal", **values), posed("q2", **values)

    rows = scored(now, plain).rows["fixed"]

    assert rows[0].measures["current_first"] == 0.0
    assert "current_first" not in rows[1].measures


def test_forbidden_notes_in_the_output_are_leaks():
    (row,) = scored(posed(forbidden=("ferry.md",))).rows["fixed"]

    assert row.measures["leaks"] == 1


def test_questions_are_counted_as_asked_waiting_or_broken():
    gone = posed("q2", essential=("pier.md", "gone.md"))
    others = [posed("q3", principal="anna"), posed("q4", as_of="2024-01-01T00:00:00+00:00")]
    variant = Fixed()

    scores = scored(posed(), gone, *others, variant=variant)

    assert (scores.questions, scores.waiting, scores.broken) == (4, 2, ("q2",))
    assert {question for question, _ in variant.asked} == {"Question q1?"}
    assert [needs_view(each.question) for each in others] == [True, True]


@pytest.mark.parametrize("questions", [(), (posed(essential=("gone.md",), facts=()),)])
def test_without_a_question_to_ask_no_variant_is_opened(questions):
    variant = Fixed()

    scores = scored(*questions, variant=variant)

    assert (scores.rows, variant.asked) == ({}, [])


def test_folders_are_passed_on():
    variant = Fixed()
    scored(posed(), variant=variant, folders=["Work"])

    assert {tuple(folders) for _, folders in variant.asked} == {("Work",)}


def test_a_random_variant_is_asked_three_times_and_its_measures_are_means():
    variant = Turning(is_random=True)

    (row,) = scored(posed(), variant=variant).rows["fixed"]

    assert len(variant.asked) == 1 + TRIALS  # the first one loads files and models
    assert row.measures["mrr"] == round((0.5 + 1 + 0.5) / 3, 6)
    assert row.ranking == ("ferry.md", "pier.md")
    assert row.ms == 2.0  # the quickest


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_variant_that_falls_back_to_words_has_no_rows_and_its_reason_stands(after):
    questions = [posed(f"q{n}") for n in range(4)]
    alone = GivesOut(after=after, name="hybrid")

    scores = score(questions, [alone, Fixed()], PRESENT, len)

    assert scores.problems == {"hybrid": "By words alone."}
    assert list(scores.rows) == ["fixed"]
    assert len(scores.rows["fixed"]) == 4


def test_scores_are_read_back_as_they_were_written():
    scores = scored(posed(), posed("q2", essential=("gone.md",), facts=()), posed("q3"))
    scores = replace(scores, problems={"vector": "By words alone."})

    again = Scores.from_json(json.loads(json.dumps(scores.to_json())))

    assert again == replace(scores, rows={k: list(v) for k, v in scores.rows.items()})


@pytest.mark.parametrize("values", [{}, {"version": f"{VERSION}0", "rows": {"keyword": [{}]}}])
def test_scores_of_another_version_are_none(values):
    assert Scores.from_json(values) is None


def test_rows_without_times_are_equal_however_long_the_answers_took():
    quick, slow = scored(posed()).rows["fixed"][0], scored(posed()).rows["fixed"][0]
    slow = replace(slow, ms=99.0)

    assert quick.to_json(with_times=False) == slow.to_json(with_times=False)
    assert quick.to_json() != slow.to_json()


class Slow(Fixed):
    def ask(self, question, folders=None):
        sum(range(200_000))
        return super().ask(question, folders)


def test_the_ratio_of_times_asks_both_in_turn():
    slow, quick = Slow(), Fixed()
    questions = [posed(f"q{n}").question for n in range(3)]

    ratio = median_ratio(slow, quick, questions)

    assert ratio > 2
    assert len(slow.asked) == len(quick.asked) == 1 + TRIALS * len(questions)


def test_a_build_is_not_slow_beside_one_that_goes_by_words_for_want_of_its_vectors():
    questions = [posed().question]

    assert median_ratio(Slow(), GivesOut(after=0), questions) is None
    assert median_ratio(GivesOut(after=0), Fixed(), questions) is None
    assert median_ratio(Slow(), Fixed(), []) is None


class Flaky(HashEmbedder):
    """Embeds so many questions and then no more."""

    left = 0

    def embed_query(self, text):
        self.left -= 1
        if self.left < 0:
            raise EmbedderDownError("It gave out.")
        return super().embed_query(text)


@pytest.fixture
def opened(tmp_path):
    embedder = Flaky()
    vectors = embedder.embed_passages(list(TEXTS.values()))
    chunks = [
        MadeChunk(note, text, vector.tolist())
        for (note, text), vector in zip(TEXTS.items(), vectors, strict=True)
    ]
    publish(tmp_path, {"": chunks}, {"": embedder.profile.key()})
    engine = Engine(PublishedBuild.open(tmp_path), Settings(), "vault", lambda _settings: embedder)
    return engine, embedder


def test_an_embedder_that_gives_out_half_way_leaves_the_keyword_rows_alone(opened):
    engine, embedder = opened
    variants = [EngineVariant(engine, name) for name in ("hybrid", "keyword")]
    questions = [posed(f"q{n}", question="What does the pier cost?") for n in range(3)]

    embedder.left = 3  # the first asking and two rows
    scores = score(questions, variants, PRESENT, len)

    assert list(scores.rows) == ["keyword"]
    assert "It gave out." in scores.problems["hybrid"]


def test_equal_builds_and_questions_give_equal_rows(opened):
    engine, embedder = opened
    embedder.left = 100
    questions = [posed(f"q{n}", question=f"What does the pier cost, {n}?") for n in range(3)]

    def rows():
        variants = [EngineVariant(engine, name) for name in ("hybrid", "vector", "keyword")]
        found = score(questions, variants, PRESENT, len).rows
        return {k: [row.to_json(with_times=False) for row in v] for k, v in found.items()}

    assert rows() == rows()
