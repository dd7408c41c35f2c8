"""The ways of searching that are compared: their names, and that each gives what it says."""

import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from eval_assets.reading import BUDGET_TOKENS
from eval_assets.variants import (
    BASELINE,
    DEPTH,
    Bm25sVariant,
    EngineVariant,
    open_variants,
    parse,
    present_notes,
)
from kb_core.errors import EmbedderDownError, SettingsError
from kb_core.settings import EvaluationSettings, Settings, read_settings
from kb_core.tokens import RegexTokenCounter
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.hybrid import DEFAULT_TUNING, Tuning
from tests.built_home import build, open_home
from tests.kb_command import ROOT
from tests.small_vault import put
from tests.standins.hash_embedder import HashEmbedder
from tests.standins.small_build import MadeChunk, publish

COUNTER = RegexTokenCounter()
DIMS = 32


def chunk(note: str, text: str, **more: object) -> MadeChunk:
    vector = HashEmbedder(DIMS).embed_passages([text])[0].tolist()
    return MadeChunk(note, text, vector, **more)


def engine(home, *chunks, embedder=None):
    embedder = embedder or HashEmbedder(DIMS)
    publish(home, {"": chunks}, {"": embedder.profile.key()})
    return Engine(PublishedBuild.open(home), Settings(), "vault", lambda _settings: embedder)


def notes(**texts: str) -> pa.Table:
    rows = sorted(texts.items())
    return pa.table({"note_id": [k for k, _ in rows], "text": [v for _, v in rows]})


@pytest.mark.parametrize(
    ("name", "by", "tuning"),
    [
        ("hybrid", "hybrid", DEFAULT_TUNING),
        ("hybrid:k=20", "hybrid", Tuning(k=20)),
        ("keyword:cap=1", "keyword", Tuning(chunks_per_note=1)),
        ("hybrid:k=20:cap=1", "hybrid", Tuning(k=20, chunks_per_note=1)),
    ],
)
def test_a_name_says_how_to_search(name, by, tuning):
    assert parse(name) == (by, tuning)


@pytest.mark.parametrize(
    "name", ["", "hybird", "hybrid:", "hybrid:k", "hybrid:k=0", "hybrid:k=-1", "hybrid:k=1.5",
             "hybrid:depth=3", "hybrid:k=²", "../hybrid", "hybrid/keyword"],
)  # fmt: skip
def test_a_name_that_means_nothing_is_refused(name):
    with pytest.raises(SettingsError):
        parse(name)


@pytest.mark.parametrize("name", ["hybrid:k=20:cap=1", "keyword", "vector", BASELINE])
def test_what_the_settings_take_can_be_asked(name, tmp_path):
    (tmp_path / "kb.toml").write_text(f'[evaluation]\nvariants = ["{name}"]\n')

    assert read_settings(tmp_path).evaluation.variants == (name,)
    assert name == BASELINE or parse(name)


@pytest.mark.parametrize("name", ["hybird", "bm25", "hybrid:k=0", "hybrid:top=3", "bm25s:k=3"])
def test_a_slip_in_the_settings_is_told_at_the_start_and_not_at_a_builds_end(name, tmp_path):
    (tmp_path / "kb.toml").write_text(f'[evaluation]\nvariants = ["{name}"]\n')

    with pytest.raises(SettingsError, match=rf"evaluation\.variants\.0 = '{name}' cannot be used"):
        read_settings(tmp_path)


def test_the_settings_own_variants_can_be_opened(tmp_path):
    found = open_variants(
        EvaluationSettings().variants, engine(tmp_path, chunk("a.md", "A")), notes, COUNTER
    )

    assert [each.name for each in found] == list(EvaluationSettings().variants)


def test_each_variant_is_opened_once(tmp_path):
    opened = open_variants(
        ["keyword", BASELINE, "keyword"], engine(tmp_path, chunk("a.md", "A")), notes, COUNTER
    )

    assert [each.name for each in opened] == ["keyword", BASELINE]


def test_a_variant_gives_the_ranking_and_the_full_text_of_what_it_chose(tmp_path):
    found = engine(
        tmp_path,
        chunk("Pier.md", "The pier costs three thousand euros. " + "More. " * 200),
        chunk("Ferry.md", "The ferry sails at nine."),
    )

    asked = EngineVariant(found, "keyword").ask("what does the pier cost")

    assert asked.ranking[0] == "Pier.md"
    assert asked.passages[0].text.count("More.") == 200
    assert asked.passages[0].tokens == len(asked.passages[0].text.split())
    assert (asked.problem, asked.decision) == ("", None)


def test_the_cap_says_how_many_chunks_of_a_note_are_read(tmp_path):
    chunks = [chunk("Pier.md", f"The pier, part {n}.", anchors=[str(n)]) for n in range(5)]
    found = engine(tmp_path, *chunks)

    read = {
        name: len(EngineVariant(found, name).ask("pier part").passages)
        for name in ("keyword", "keyword:cap=1", "keyword:cap=5")
    }

    assert read == {"keyword": 3, "keyword:cap=1": 1, "keyword:cap=5": 5}


def test_the_depth_is_one_for_all(tmp_path):
    chunks = [chunk(f"{n:02}.md", "The same word.") for n in range(DEPTH + 5)]
    found = engine(tmp_path, *chunks)
    texts = {f"{n:02}.md": "The same word." for n in range(DEPTH + 5)}

    for each in (EngineVariant(found, "hybrid"), Bm25sVariant(notes(**texts), COUNTER)):
        assert len(each.ask("word same").ranking) == DEPTH


def test_a_fall_back_to_words_is_told_as_a_problem(tmp_path):
    class Down(HashEmbedder):
        def embed_query(self, text):
            raise EmbedderDownError("It does not answer.")

    found = engine(tmp_path, chunk("Pier.md", "The pier."), embedder=Down(DIMS))

    assert "It does not answer." in EngineVariant(found, "hybrid").ask("pier").problem
    assert EngineVariant(found, "keyword").ask("pier").problem == ""


def test_bm25s_ranks_whole_notes_and_knows_no_folders():
    found = Bm25sVariant(notes(**{"a.md": "The ferry.", "b.md": "The pier, the pier."}), COUNTER)

    assert found.ask("pier").ranking == ("b.md",)
    assert found.ask("zeppelin").ranking == ()
    assert found.ask("the and").ranking == ()  # stop words of its own
    with pytest.raises(SettingsError, match="within folders"):
        found.ask("pier", ["Work"])


@pytest.mark.parametrize("texts", [{}, {"a.md": ""}, {"a.md": "", "b.md": "a - I"}])
def test_bm25s_over_notes_without_a_word_finds_nothing(texts):
    assert Bm25sVariant(notes(**texts), COUNTER).ask("pier").ranking == ()


def test_bm25s_takes_equal_notes_in_the_order_of_their_ids():
    texts = {f"{n:03}.md": "pier" if n % 3 else "the pier and a pier" for n in range(300)}

    ranking = Bm25sVariant(notes(**texts), COUNTER).ask("pier").ranking

    first = sorted(note for note in texts if not int(note[:3]) % 3)
    assert ranking == tuple(first[:DEPTH])


def test_bm25s_counts_the_tokens_of_no_more_than_can_be_read():
    counted = []
    counter = SimpleNamespace(count=lambda text: counted.append(text) or len(text.split()))
    texts = {f"{n}.md": f"pier {n} " * (BUDGET_TOKENS // 4) for n in range(9)}

    asked = Bm25sVariant(notes(**texts), counter).ask("pier")

    assert len(asked.ranking) == 9
    assert len(asked.passages) == len(counted) == 2


def test_bm25s_gives_one_ranking_whatever_the_order_of_pythons_sets():
    script = (
        "import pyarrow as pa\n"
        "from eval_assets.variants import Bm25sVariant\n"
        "from kb_core.tokens import RegexTokenCounter\n"
        "texts = [f'pier ferry {n % 7} crane tide {n % 5}' for n in range(90)]\n"
        "ids = [f'{n:02}.md' for n in range(90)]\n"
        "found = Bm25sVariant(pa.table({'note_id': ids, 'text': texts}), RegexTokenCounter())\n"
        "print(found.ask('tide 3 crane ferry 4').ranking)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(told) == 1


def test_present_notes_are_those_a_reader_finds_today(tmp_path):
    put(tmp_path / "vault", "Town/b.md", "# B\n\nThe quay.\n")
    put(tmp_path / "vault", "a.md", "# A\n\nThe pier.\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")
    first = build(home)
    put(tmp_path / "vault", "a.md", "# A\n\nThe ferry.\n")
    second = build(home)

    def held(name):
        table = present_notes(home.data, name)
        return [(row["note_id"], row["text"]) for row in table.to_pylist()]

    assert held(first) == [("Town/b.md", "# B\n\nThe quay.\n"), ("a.md", "# A\n\nThe pier.\n")]
    assert held(second)[1] == ("a.md", "# A\n\nThe ferry.\n")


def test_a_build_without_folders_has_no_notes(tmp_path):
    name = publish(tmp_path, {})

    assert present_notes(tmp_path / "data", name).num_rows == 0
