"""The questions in German, Spanish, Japanese and Chinese: counted, and true to their notes."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from eval_assets.questions import read_questions
from tests.kb_command import ROOT

VAULT = ROOT / "data" / "sample_vault"
EVAL = ROOT / "data" / "eval"
LANGUAGES = ("de", "es", "ja", "zh")
COUNTS = {"same_language": 7, "cross_language": 5}
ID_PARTS = {"same_language": "same", "cross_language": "cross"}
QUOTE_CHARS = range(8, 161)

KANA = re.compile(r"[\u3041-\u30ff]")
HAN = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[^\W\d_]+")
# Frequent words that no other of the three languages has; names and figures count for nothing.
STOP_WORDS = {
    "de": "der das und ist nicht wie ein eine einen für mit wir wo uns auf dem",
    "es": "el la los las que y con por qué para cuánto se un una cómo nos del",
    "en": "the and of to is that for with it we not by our they",
}

Row = dict[str, Any]


def read_rows(language: str) -> list[Row]:
    text = (EVAL / f"language-{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


ROWS = {language: read_rows(language) for language in LANGUAGES}
ALL_ROWS = [row for rows in ROWS.values() for row in rows]
KEYS = list(json.loads((EVAL / "sample-dev.jsonl").read_text(encoding="utf-8").split("\n", 1)[0]))
each_language = pytest.mark.parametrize("language", LANGUAGES)
each_question = pytest.mark.parametrize("row", ALL_ROWS, ids=[row["id"] for row in ALL_ROWS])


def folded(text: str) -> str:
    return " ".join(text.split())


def read_note(path: str) -> str:
    return folded((VAULT / path).read_text(encoding="utf-8"))


def language_of(text: str) -> str:
    """Tell Japanese by its kana, Chinese by Han without kana, the others by frequent words."""
    if len(KANA.findall(text)) > len(HAN.findall(text)) / 5:
        return "ja"
    words = [word.casefold() for word in LATIN.findall(text)]
    if len(HAN.findall(text)) > len(words):
        return "zh"
    counts = {
        name: sum(word in stops.split() for word in words) for name, stops in STOP_WORDS.items()
    }
    return max(sorted(counts), key=lambda name: counts[name])


def note_language(path: str) -> str:
    """Judge a note by its body: properties and tags are English in every note."""
    text = (VAULT / path).read_text(encoding="utf-8")
    return language_of(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wie lange braucht der Ofen, und ist das nicht zu viel?", "de"),
        ("¿Qué horno se compra con la subvención del consejo?", "es"),
        ("The kiln was cold and the door of it stood open.", "en"),
        ("窯の温度を測る Heron 90", "ja"),
        ("蓝屿的丝平均 170 次 Wren 40", "zh"),
    ],
)
def test_a_text_is_of_the_language_its_script_or_words_say(text, expected):
    assert language_of(text) == expected


@each_language
def test_each_language_has_seven_and_five_questions(language):
    rows = ROWS[language]

    assert Counter(row["category"] for row in rows) == COUNTS
    assert len(rows) == 12


@each_language
def test_ids_are_numbered_in_order(language):
    expected = [
        f"{language}-{ID_PARTS[category]}-{number:02d}"
        for category, count in COUNTS.items()
        for number in range(1, count + 1)
    ]

    assert [row["id"] for row in ROWS[language]] == expected


@each_language
def test_each_file_reads_as_a_question_file(language):
    assert len(read_questions(EVAL / f"language-{language}.jsonl")) == 12


@each_question
def test_a_row_has_its_keys_in_order_and_is_asked_by_the_owner_today(row):
    assert list(row) == KEYS
    assert row["language"] == row["id"].split("-")[0]
    assert (row["principal"], row["as_of"], row["expected"]) == ("owner", None, "answer")


@each_question
def test_every_note_is_in_the_vault_and_has_one_role(row):
    notes = [*row["essential"], *row["supporting"], *row["distractors"]]

    assert len(set(notes)) == len(notes)
    assert [note for note in notes if not (VAULT / note).is_file()] == []


@each_question
def test_every_essential_note_gives_a_fact_and_no_other_note_does(row):
    assert {fact["note"] for fact in row["facts"]} == set(row["essential"])


@each_question
def test_every_quote_stands_in_its_note_and_is_short(row):
    for fact in row["facts"]:
        assert list(fact) == ["fact", "note", "quote"]
        assert len(fact["quote"]) in QUOTE_CHARS
        assert folded(fact["quote"]) in read_note(fact["note"])


@each_question
def test_a_question_is_asked_in_its_language(row):
    assert row["question"].endswith(("?", "？"))
    assert language_of(row["question"]) == row["language"]


@each_question
def test_the_essential_notes_are_of_the_language_the_category_says(row):
    spoken = {note_language(note) for note in row["essential"]}

    if row["category"] == "same_language":
        assert spoken == {row["language"]}
    else:
        assert row["language"] not in spoken


@each_question
def test_a_reason_is_one_english_sentence(row):
    assert row["reason"].endswith(".")
    assert ". " not in row["reason"]
    assert row["reason"].isascii() or language_of(row["reason"]) == "en"


@each_language
def test_questions_over_the_language_border_lead_to_english_and_to_others(language):
    cross = [row for row in ROWS[language] if row["category"] == "cross_language"]
    spoken = {note_language(note) for row in cross for note in row["essential"]}

    assert "en" in spoken
    assert len(spoken) >= 3


@pytest.mark.parametrize("key", ["id", "question"])
def test_no_id_and_no_question_stands_twice_in_any_file(key):
    lines = [
        line
        for file in sorted(EVAL.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line.strip()
    ]
    values = Counter(folded(json.loads(line)[key]).casefold() for line in lines)

    assert [value for value, count in values.items() if count > 1] == []
