import json
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from kb_core.errors import EmbedderDownError, EmbedderMissingError, SettingsError
from kb_core.settings import Settings, VaultSettings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.hybrid import LEG_CHUNKS
from tests.standins.small_build import PROFILE, MadeChunk, publish

SETTINGS = Settings(vault=VaultSettings(path="notes/My vault"))
FRUIT = [
    MadeChunk("fruit/apple.md", "The apple harvest was good.", [1, 0, 0, 0], date="2024-05"),
    MadeChunk("fruit/pear.md", "Pears were few.", [0, 1, 0, 0], anchors=["Log", "2024-06-01"]),
    MadeChunk("fruit/plum.md", "Plums, and one more apple.", [0, 0, 1, 0]),
]
TOOLS = [
    MadeChunk("tools/ladder.md", "The ladder stands by the apple tree.", [0.6, 0.8, 0, 0]),
    MadeChunk("tools/saw.md", "A saw for pears and apples.", [0, 0, 0.6, 0.8]),
]


@dataclass
class Compass:
    """Turns every question into the same vector."""

    vector: tuple[float, ...] = (0, 1, 0, 0)
    key: str = PROFILE

    @property
    def profile(self):
        return SimpleNamespace(name="compass", dims=len(self.vector), key=lambda: self.key)

    def embed_query(self, text):
        return np.array(self.vector, np.float32)


def engine(home, embedder=None, problem=None):
    def opened(settings):
        if problem:
            raise problem
        return embedder or Compass()

    return Engine(PublishedBuild.open(home), SETTINGS, "My vault", opened)


def notes(result):
    return [found.note for found in result.results]


@pytest.fixture
def home(tmp_path):
    publish(tmp_path, {"fruit": FRUIT, "tools": TOOLS})
    return tmp_path


def test_words_find_their_notes(home):
    result = engine(home).search("Who knows about plums?", variant="keyword")

    assert notes(result) == ["fruit/plum.md"]
    assert result.results[0].best.legs.keyword == 1
    assert result.embedder is None


def test_meaning_finds_what_words_do_not(home):
    result = engine(home).search("Birnen", variant="vector")

    assert notes(result)[:2] == ["fruit/pear.md", "tools/ladder.md"]
    assert result.results[1].best.score == pytest.approx(0.8)
    assert result.embedder == "compass"


def test_a_note_that_both_find_comes_first(home):
    result = engine(home).search("ladder")

    assert notes(result)[0] == "tools/ladder.md"
    assert result.results[0].best.legs.keyword == 1
    assert result.results[0].best.legs.vector == 2


def test_a_result_is_dated_quoted_and_linked(home):
    found = engine(home).search("pears", folders=["fruit"]).to_json()["results"][0]

    assert found["note"] == "fruit/pear.md"
    assert found["quote"] == "Pears were few."
    assert found["heading"] == "2024-06-01"
    assert found["link"] == ("obsidian://open?vault=My%20vault&file=fruit%2Fpear%232024-06-01")
    assert found.keys() >= {
        "rank", "title", "date", "date_basis", "date_is_weak", "kind", "score", "breadcrumb",
        "chunk_id", "byte_start", "byte_end", "legs", "chunks",
    }  # fmt: skip


def test_the_whole_result_is_json(home):
    result = engine(home).search("apple").to_json()

    assert json.loads(json.dumps(result)) == result
    assert result["results"][0]["rank"] == 1


@pytest.mark.parametrize("variant", ["keyword", "vector", "hybrid"])
def test_other_folders_change_nothing_within_a_folder(tmp_path, variant):
    publish(tmp_path / "alone", {"fruit": FRUIT})
    publish(tmp_path / "beside", {"a": TOOLS, "fruit": FRUIT, "z": TOOLS[:1]})

    alone, beside = (
        engine(tmp_path / where).search("apple pears", ["fruit"], variant).to_json()["results"]
        for where in ("alone", "beside")
    )

    assert alone == beside
    assert alone


def test_the_same_question_gives_the_same_bytes(home):
    first, second = (json.dumps(engine(home).search("apple pears").to_json()) for _ in range(2))

    assert first == second


def test_ties_are_broken_by_chunk_id(tmp_path):
    twins = [MadeChunk(f"a/{name}/twin.md", "apples", [1, 0, 0, 0]) for name in "hgfedcba"]
    publish(tmp_path, {"a": twins})

    ids = [found.best.chunk_id for found in engine(tmp_path).search("apples").results]

    assert ids == sorted(ids)
    assert len(ids) == 8


def test_without_an_embedder_words_answer_and_say_so(home):
    missing = EmbedderMissingError("the embedder is not installed; pip install it")

    result = engine(home, problem=missing).search("plums")

    assert notes(result) == ["fruit/plum.md"]
    assert result.variant == "keyword"
    assert "pip install" in result.note


def test_the_embedder_is_opened_once(home):
    opened = []
    made = engine(home)
    made._asking._opens = lambda settings: opened.append(settings) or Compass()

    made.search("plums")
    made.search("pears")

    assert len(opened) == 1


def test_an_embedder_that_stops_answering_is_asked_again(home):
    made = engine(home, problem=EmbedderDownError("no answer"))
    assert made.search("plums").embedder is None

    made._asking._opens = lambda settings: Compass()

    assert made.search("plums").embedder == "compass"


def test_vectors_of_another_profile_are_never_mixed_in(home):
    result = engine(home, Compass(key="other-4")).search("Birnen")

    assert notes(result) == []
    assert "other-4" in result.note
    assert PROFILE in result.note


def test_only_folders_of_the_embedders_profile_take_part_by_meaning(tmp_path):
    publish(tmp_path, {"fruit": FRUIT, "tools": TOOLS}, {"tools": "other-4"})

    result = engine(tmp_path).search("Birnen")

    assert {note.split("/")[0] for note in notes(result)} == {"fruit"}
    assert "1 of 2 folders" in result.note


def test_a_folder_without_vectors_takes_part_by_its_words(tmp_path):
    bare = [MadeChunk("tools/pears.md", "Pears and a saw.")]
    publish(tmp_path, {"fruit": FRUIT, "tools": bare, "empty": []})

    result = engine(tmp_path).search("pears")

    assert set(notes(result)) >= {"fruit/pear.md", "tools/pears.md"}
    assert result.note == "Vectors for 1 of 2 folders; the rest by words."
    assert result.to_json()["pending"] == {
        "folders_without_vectors": 1,
        "folders": 2,
        "folders_without_words": 0,
        "texts_without_vectors": 1,
        "texts": 4,
    }


def test_without_any_vectors_the_embedder_is_not_even_opened(tmp_path):
    publish(tmp_path, {"tools": [MadeChunk("tools/saw.md", "A saw.")]})

    result = engine(tmp_path, problem=AssertionError("opened")).search("saw")

    assert notes(result) == ["tools/saw.md"]
    assert "no folder here has vectors yet" in result.note


@pytest.mark.parametrize("question", ["", "  \n", "???"])
def test_a_question_without_words_finds_nothing_by_words(home, question):
    assert engine(home).search(question, variant="keyword").results == ()
    assert engine(home).search("", variant="hybrid").results == ()


@pytest.mark.parametrize("question", ["/b testing", "apple AND (", 'pears"', "root causes/apple."])
def test_no_sign_in_a_question_stops_it(home, question):
    assert engine(home).search(question, variant="keyword").question == question


def test_a_chinese_question_finds_a_chinese_note(tmp_path):
    publish(tmp_path, {"a": [MadeChunk("a/n.md", "中文合約轉換體驗課問題"), *FRUIT]})

    for question in ("中文合約", "體"):
        assert notes(engine(tmp_path).search(question, variant="keyword")) == ["a/n.md"]


def test_notes_are_limited_and_chunks_of_one_note_stay_together(tmp_path):
    chunks = [MadeChunk("a/n.md", f"apples {at}") for at in range(9)]
    publish(tmp_path, {"a": [*chunks, *(MadeChunk(f"a/{at}.md", "apples") for at in range(9))]})

    result = engine(tmp_path).search("apples", notes=4, variant="keyword")

    assert len(result.results) == len(set(notes(result))) == 4
    assert max(len(found.chunks) for found in result.results) <= 3


@pytest.mark.parametrize("variant", ["keyword", "vector", "hybrid"])
def test_one_long_note_does_not_crowd_out_the_others(tmp_path, variant):
    near, far = [1, 0, 0, 0], [0.6, 0.8, 0, 0]
    long = [MadeChunk("a/long.md", f"apples apples {at}", near) for at in range(2 * LEG_CHUNKS)]
    short = [MadeChunk(f"a/{at:02d}.md", f"one apples {at}", far) for at in range(30)]
    publish(tmp_path, {"a": [*long, *short]})

    result = engine(tmp_path, Compass((1, 0, 0, 0))).search("apples", variant=variant)

    assert len(result.results) == 20
    assert notes(result)[0] == "a/long.md"


@pytest.mark.parametrize(("folders", "variant"), [(["nowhere"], "hybrid"), (None, "magic")])
def test_what_does_not_exist_is_refused(home, folders, variant):
    with pytest.raises(SettingsError):
        engine(home).search("apple", folders, variant)


def test_searching_loads_no_heavy_package(home):
    script = f"""
import sys
from pathlib import Path
from kb_core.settings import EmbedderSettings, Settings
from kb_search.engine import Engine
from kb_search.hybrid import LEG_CHUNKS
settings = Settings(embedder=EmbedderSettings(engine="none"))
result = Engine.open(Path({str(home)!r}), settings).search("apple pears")
assert result.results and result.note
print(*sys.modules)
"""
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()

    assert not {"dagster", "pandas", "great_expectations", "onnxruntime", "httpx"} & set(loaded)
