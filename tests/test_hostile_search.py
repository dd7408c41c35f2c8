"""Questions and passages that try to break or steer: each is answered, and shown as plain text."""

import contextlib
import io
import itertools
import os
import subprocess
import sys

import click
import pytest

from benchmarks.hostile_search import steering
from benchmarks.hostile_sets import load_sets
from kb_core.settings import Settings
from kb_core.text import keyword_tokens
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.keyword import build_postings
from kb_search.question import question_terms
from kb_search.quote import QUOTE_CHARS, best_quote
from kb_serve.commands.search import question_of, show_result
from kb_serve.output import say
from tests.kb_command import ROOT
from tests.standins.small_build import MadeChunk, publish

SETS = load_sets()
QUESTIONS = (*SETS.strings, *SETS.paths[:150], *SETS.look_alikes, *SETS.orders[:60])


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    notes = [
        MadeChunk(f"n{number}\x1b[2J\u202e.md", f"{text} harbour", anchors=[text[:80] or "a"])
        for number, text in enumerate(
            text.encode("utf-8", "replace").decode() for text in QUESTIONS
        )
    ]
    publish(home, {"A\x1b[31m": notes, "B\u202e": [MadeChunk("B/a.md", "the harbour")]})
    return Engine(PublishedBuild.open(home), Settings(), "vault\x1b]0;x\x07")


def screen_of(result):
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        show_result(result.to_json())
    return click.unstyle(screen.getvalue())


def test_every_hostile_question_is_answered_on_a_quiet_screen(engine):
    for question in QUESTIONS:
        result = engine.search(question_of(question), variant="keyword", notes=5)

        assert steering(screen_of(result).replace("\n", " ")) == [], repr(question)


def test_an_error_names_hostile_folders_without_steering(engine, capfd):
    with pytest.raises(Exception, match="No folder") as refused:
        engine.search("harbour", folders=["\x1b[2J"], variant="keyword")

    say(f"kb: {refused.value}")

    assert steering(capfd.readouterr().err.replace("\n", " ")) == []


@pytest.mark.parametrize("question", ["\ud800", "a\udcff", "\udcff\udcfe harbour"])
def test_bytes_that_are_no_text_make_a_question_like_any_other(engine, question):
    asked = question_of(question)

    assert asked.encode()
    engine.search(asked, variant="keyword")


def test_a_question_of_bytes_that_are_no_text_does_not_break_the_command(tmp_path):
    publish(tmp_path, {"A": [MadeChunk("A/a.md", "the harbour")]})
    (tmp_path / "kb.toml").write_text('[vault]\npath = "."\n[embedder]\nengine = "none"\n')

    # Other tests of this process may have named a home of theirs.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    done = subprocess.run(
        [sys.executable, "-m", "kb_serve.cli", "search", b"harbour \xff", "--json"],
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-300:]
    assert b"A/a.md" in done.stdout


@pytest.mark.parametrize("text", [*SETS.strings, *(recipe.text(6_000) for recipe in SETS.recipes)])
def test_a_quote_is_short_and_of_the_text(text):
    weights = dict.fromkeys(question_terms("a the harbour [ x script 1"), 1.0)

    quote = best_quote(text, weights)

    assert len(quote) <= QUOTE_CHARS
    assert quote in " ".join(text.split()) or not quote


def test_keywords_of_hostile_texts_are_encodable_and_bounded():
    texts = [*SETS.strings, *SETS.paths, *(recipe.text(4_000) for recipe in SETS.recipes)]

    for text in texts:
        tokens = keyword_tokens(text)
        assert all(token and token.encode() for token in tokens)
        assert sum(map(len, tokens)) <= 20 * len(text) + 8  # one letter may be written as 18


def test_terms_are_sorted_by_their_bytes_also_where_their_heads_are_the_same():
    words = [
        "harbour",
        "harbourmaster",
        "harbourm",
        "harbourmarks",
        "ab",
        "abc",
        "\u4e2d",
        "z" * 60,
    ]
    arrays = build_postings([" ".join(words), "harbourmaster ab"])

    starts = arrays["term_starts"].tolist()
    data = arrays["terms"].tobytes()
    terms = [data[start:end] for start, end in itertools.pairwise(starts)]
    heads = [int.from_bytes(term[:8].ljust(8, b"\0"), "big") for term in terms]
    assert terms == sorted({word.encode() for word in words})
    assert arrays["term_heads"].tolist() == heads
