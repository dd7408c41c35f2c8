"""What a server can do wrong, over real HTTP with the real client, and what is stored anyway."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.embedder_doors import Checked, Door
from kb_core.errors import EmbedderDownError, EmbedderMissingError
from kb_core.settings import EmbedderSettings
from kb_core.tokens import RegexTokenCounter
from tests.standins.hash_embedder import HashEmbedder, text_vector
from tests.standins.ollama_server import (
    DIMS,
    FOLD_NAN,
    GPU_NAN,
    NAN,
    SLOW,
    TOO_LONG,
    ZERO,
    OllamaStandIn,
    Scenario,
)

pytest.importorskip("ollama", reason="the package ollama is not installed")

from resources.ollama_embedder import OllamaEmbedder, Patience, open_ollama

QUICK = Patience(tries=3, pause_seconds=0.001)
TEXTS = [f"Note number {number} speaks of topic {number * 7}." for number in range(8)]


@contextmanager
def served(timeout_seconds: float = 5, **wrong: Any) -> Iterator[tuple[OllamaEmbedder, Scenario]]:
    """Open an embedder on a sound server, then let it go wrong."""
    with OllamaStandIn() as server:
        chosen = EmbedderSettings(engine="ollama", url=server.url, timeout_seconds=timeout_seconds)
        embedder = open_ollama(chosen, QUICK)
        for name, value in wrong.items():
            setattr(server.scenario, name, value)
        yield embedder, server.scenario


def through_the_door(embedder: OllamaEmbedder, texts: list[str]) -> Checked:
    return Door(embedder, RegexTokenCounter()).embed(texts)


def assert_right(checked: Checked, texts: list[str]) -> None:
    """Every vector is its own text's, and each text has a vector or a reason."""
    assert sorted([*checked.vectors, *checked.failed]) == list(range(len(texts)))
    for position, vector in checked.vectors.items():
        assert vector.dtype == np.float32
        assert vector @ text_vector(texts[position], DIMS) > 0.999


def test_a_sound_batch_takes_one_request_and_one_spot_check():
    with served() as (embedder, scenario):
        checked = through_the_door(embedder, TEXTS)
        longest = max(TEXTS, key=RegexTokenCounter().count)

        assert scenario.batches() == [TEXTS, [longest]]
    assert_right(checked, TEXTS)
    assert not checked.failed


def test_a_request_asks_for_the_window_and_for_no_cut():
    with served() as (embedder, scenario):
        through_the_door(embedder, TEXTS)
        body = next(body for path, body in scenario.seen if path == "/api/embed")

    assert body["truncate"] is False
    assert body["options"] == {"num_ctx": 8192, "num_batch": 8192}


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("mark", [NAN, TOO_LONG, ZERO])
def test_one_bad_text_does_not_take_the_others_with_it(mark, is_old):
    texts = [*TEXTS[:5], f"bad {mark}", *TEXTS[5:]]
    with served(is_old=is_old) as (embedder, _):
        checked = through_the_door(embedder, texts)

    assert list(checked.failed) == [5]
    assert_right(checked, texts)


def test_a_reason_names_the_trouble_and_not_the_text():
    with served() as (embedder, _):
        checked = through_the_door(embedder, [f"secret {NAN}", f"secret {TOO_LONG}"])

    assert "NaN" in checked.failed[0]
    assert "longer than the model's window" in checked.failed[1]
    assert "secret" not in "".join(checked.failed.values())


def test_a_text_the_graphics_card_fails_on_is_embedded_without_it():
    texts = [*TEXTS, f"odd  {GPU_NAN}  one"]
    with served() as (embedder, scenario):
        checked = through_the_door(embedder, texts)
        on_cpu = [
            body["input"]
            for _, body in scenario.seen
            if (body or {}).get("options", {}).get("num_gpu") == 0
        ]

    assert not checked.failed
    assert on_cpu == [[texts[-1]]]
    assert_right(checked, texts)


def test_a_text_that_fails_for_its_white_space_is_embedded_folded():
    texts = [*TEXTS, f"odd {FOLD_NAN}  two  spaces"]
    with served() as (embedder, scenario):
        checked = through_the_door(embedder, texts)

        assert scenario.batches()[-1] == [f"odd {FOLD_NAN} two spaces"]
    assert not checked.failed
    assert_right(checked, texts)


def test_a_shuffled_batch_is_embedded_one_by_one_and_so_is_the_next():
    # Halving would let the second half through: its longest text, the last, is in its place.
    texts = [f"{TEXTS[0]} The longest of all.", *TEXTS[1:7], f"{TEXTS[7]} Longer."]
    with served(is_shuffled=True) as (embedder, scenario):
        door = Door(embedder, RegexTokenCounter())
        assert_right(door.embed(texts), texts)
        before = len(scenario.batches())
        assert_right(door.embed(TEXTS), TEXTS)

        assert [len(batch) for batch in scenario.batches()[before:]] == [1] * len(TEXTS)


def test_a_text_that_was_cut_in_silence_is_not_stored():
    long_text = " ".join(f"word{number}" for number in range(900))
    texts = [*TEXTS, long_text]
    with served(cut_at_tokens=256) as (embedder, _):
        checked = through_the_door(embedder, texts)

    assert list(checked.failed) == [len(TEXTS)]
    assert "read 256 tokens" in checked.failed[len(TEXTS)]
    assert_right(checked, texts)


def test_a_busy_server_is_asked_again():
    with served(busy=2) as (embedder, _):
        assert_right(through_the_door(embedder, TEXTS), TEXTS)


def test_a_server_that_stays_busy_stops_the_run():
    with served(busy=99) as (embedder, _), pytest.raises(EmbedderDownError, match="busy"):
        through_the_door(embedder, TEXTS)


def test_a_dropped_connection_is_made_again():
    with served(dropped=2) as (embedder, _):
        assert_right(through_the_door(embedder, TEXTS), TEXTS)


def test_a_server_that_drops_every_connection_stops_the_run_soon():
    with served(dropped=999) as (embedder, scenario):
        with pytest.raises(EmbedderDownError, match="plain word"):
            through_the_door(embedder, TEXTS)

        assert len(scenario.batches()) <= 2 * QUICK.tries


def test_a_server_that_hangs_stops_the_run_soon():
    with served(timeout_seconds=0.1, slow_seconds=0.3) as (embedder, scenario):
        with pytest.raises(EmbedderDownError, match="no answer in time"):
            through_the_door(embedder, TEXTS)

        assert len(scenario.batches()) == 2


def test_a_text_the_server_hangs_on_is_given_up_after_one_wait_alone():
    texts = [*TEXTS[:3], f"bad {SLOW}"]
    with served(timeout_seconds=0.1) as (embedder, scenario):
        checked = through_the_door(embedder, texts)

        assert scenario.batches().count([texts[3]]) == 1
    assert list(checked.failed) == [3]
    assert_right(checked, texts)


def test_no_proxy_and_no_redirect_takes_a_text_elsewhere(monkeypatch):
    with OllamaStandIn() as elsewhere:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.url)
        with served() as (embedder, scenario):
            assert_right(through_the_door(embedder, TEXTS), TEXTS)
            scenario.redirect_to = elsewhere.url
            with pytest.raises(EmbedderDownError):
                through_the_door(embedder, TEXTS)

        assert elsewhere.scenario.seen == []


def test_a_model_that_vanishes_stops_the_run_at_once():
    with served(models=()) as (embedder, scenario):
        with pytest.raises(EmbedderMissingError, match="ollama pull bge-m3"):
            through_the_door(embedder, TEXTS)

        assert len(scenario.batches()) == 1


@pytest.mark.parametrize("wrong", [{"width": 768}, {"drops_last": True}, {"is_garbled": True}])
def test_a_server_that_is_wrong_about_every_text_stops_the_run(wrong):
    with (
        served(**wrong) as (embedder, _),
        pytest.raises(EmbedderDownError, match="plain word"),
    ):
        through_the_door(embedder, TEXTS)


def test_a_server_that_went_away_stops_the_run():
    with served() as (embedder, _):
        pass

    with pytest.raises(EmbedderDownError, match="ollama serve"):
        through_the_door(embedder, TEXTS)


def test_an_embedder_in_this_process_is_not_spot_checked():
    embedder = HashEmbedder()
    Door(embedder, RegexTokenCounter()).embed(TEXTS)

    assert embedder.batches == [TEXTS]


marks = st.sampled_from(["", "", "", NAN, ZERO, TOO_LONG, GPU_NAN, f"{FOLD_NAN}  "])


@pytest.fixture(scope="module")
def sound() -> Iterator[OllamaEmbedder]:
    with served() as (embedder, _):
        yield embedder


@settings(max_examples=25, deadline=None)
@given(st.lists(marks, max_size=12))
def test_exactly_the_hopeless_texts_fail(sound, marks):
    texts = [f"text {number} {mark}" for number, mark in enumerate(marks)]

    checked = through_the_door(sound, texts)

    assert_right(checked, texts)
    assert sorted(checked.failed) == [
        number for number, mark in enumerate(marks) if mark in (NAN, ZERO, TOO_LONG)
    ]
