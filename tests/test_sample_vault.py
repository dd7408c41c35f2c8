"""The sample vault is as messy as a real one, and its earlier versions are complete."""

import json
import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest

from tests.kb_command import ROOT
from tests.sample_notes import (
    HISTORY,
    VAULT,
    body_links,
    decode,
    history_rows,
    instant,
    is_private,
    meant,
    note_paths,
    note_text,
    properties,
    properties_of,
    readers_of,
    tenant_of,
    version_bytes,
)

Row = dict[str, Any]
DATE_IN_NAME = re.compile(r"\d{4}-\d{2}-\d{2}")
KANA = re.compile(r"[ぁ-ゖァ-ヺ]{2}")
HAN = re.compile(r"[一-鿿]{2}")
USUAL = {
    "en": ["the", "and", "is", "of", "to", "in", "not", "we", "for", "it"],
    "de": ["der", "die", "das", "und", "nicht", "ist", "ein", "mit", "wir", "für"],
    "es": ["el", "la", "los", "las", "que", "y", "una", "con", "para", "por"],
}


def language(text: str) -> str:
    """Name the language by script, then by the commonest words."""
    if len(KANA.findall(text)) > 5:
        return "ja"
    if len(HAN.findall(text)) > 10:
        return "zh"
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    return max(USUAL, key=lambda name: sum(words[word] for word in USUAL[name]))


def versions() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in history_rows():
        found[row["note"]].append(row)
    return dict(found)


each_history = pytest.mark.parametrize(("note", "rows"), versions().items(), ids=list(versions()))


def test_there_are_enough_notes_in_enough_folders():
    folders = {note.partition("/")[0] for note in note_paths() if "/" in note}

    assert len(note_paths()) >= 100
    assert len(folders) >= 13
    assert any("/" not in note for note in note_paths())


def test_two_firms_share_the_vault_and_one_title():
    titles = Counter(
        (properties(note).get("title"), tenant)
        for tenant in ("main", "harbour-glass")
        for note in note_paths()
        if tenant_of(note) == tenant
    )
    theirs = {title for title, tenant in titles if tenant == "harbour-glass"}

    assert sum(tenant_of(note) == "harbour-glass" for note in note_paths()) >= 5
    assert [title for title in theirs if title and (title, "main") in titles] == ["Dust extractor"]


def test_private_notes_have_one_reader_and_nobody_else_s_note_is_private():
    private = [note for note in note_paths() if is_private(note)]

    assert len(private) >= 4
    assert {readers_of(note) for note in private} == {frozenset({"marit"})}
    assert [note for note in note_paths() if readers_of(note) and note not in private] == []


def test_hidden_notes_lie_in_a_folder_that_nobody_reads():
    hidden = sorted(path.name for path in (VAULT / ".drafts").glob("*.md"))

    assert len(hidden) == 2
    assert [note for note in note_paths() if note.rpartition("/")[2] in hidden] == []


def test_notes_come_in_five_languages():
    found = Counter(language(note_text(note)) for note in note_paths())

    assert set(found) == {"en", "de", "es", "ja", "zh"}
    assert min(found.values()) >= 4
    assert found["en"] > len(note_paths()) / 2


def test_files_are_as_messy_as_files_are():
    notes = {note: (VAULT / note).read_bytes() for note in note_paths()}

    assert [note for note, data in notes.items() if not data] == ["Untitled.md"]
    assert [note for note, data in notes.items() if b"\r\n" in data] == [
        "Equipment/Compressor K4 manual.md"
    ]
    assert [note for note, data in notes.items() if not is_utf8(data)] == [
        "Equipment/Alarm panel guide.md"
    ]
    assert sum(properties_of(note_text(note)) is None for note in notes) >= 3
    assert "{{title}}" in note_text("Templates/Machine.md")


def is_utf8(data: bytes) -> bool:
    return decode(data).encode() == data


def test_some_notes_have_no_date_at_all():
    undated = [
        note
        for note in note_paths()
        if (values := properties_of(note_text(note))) is not None
        and not {"date", "created"} & set(values)
        and not DATE_IN_NAME.search(note)
    ]

    assert {"Private/Diary, no dates.md", "Inbox/Voice memo.md"} <= set(undated)


def test_some_links_lead_nowhere_and_some_to_two_notes():
    ways = {
        (note, target): len(meant(note, target))
        for note in note_paths()
        for target in body_links(note_text(note))
    }

    assert sum(count == 0 for count in ways.values()) >= 5
    assert ways["Equipment/Brick saw.md", "Dust extractor"] == 2
    assert ways["Meetings/2024-03-14 Board minutes.md", "Pricing"] == 2


def test_machines_and_their_manuals_are_told_apart_by_their_type():
    kinds = Counter(
        properties(note).get("type") for note in note_paths() if note.startswith("Equipment/")
    )

    assert kinds["asset"] >= 8
    assert kinds["manual"] >= 8
    assert sum("available_at" in properties(note) for note in note_paths()) >= 4
    assert sum("revised" in properties(note) for note in note_paths()) >= 2


def test_the_history_is_sorted_and_has_its_keys_in_order():
    rows = history_rows()
    order = [(row["note"], instant(row["observed_at"])) for row in rows]

    assert {tuple(row) for row in rows} == {("note", "observed_at", "file")}
    assert {row["observed_at"][-6:] for row in rows} == {"+00:00"}
    assert order == sorted(set(order))


def test_the_history_uses_every_text_beside_it_once():
    used = [row["file"] for row in history_rows() if row["file"] not in ("vault", None)]
    there = sorted(path.name for path in HISTORY.iterdir() if path.name != "history.jsonl")

    assert sorted(used) == there


def test_the_history_has_ten_notes_one_that_went_and_one_that_came_back():
    ends = {note: [row["file"] for row in rows] for note, rows in versions().items()}
    gone = [note for note, files in ends.items() if files[-1] is None]
    back = [note for note, files in ends.items() if None in files[:-1]]

    assert len(ends) >= 10
    assert [note for note in gone if (VAULT / note).exists()] == []
    assert (len(gone), len(back)) == (1, 1)


@each_history
def test_what_a_note_says_today_is_the_last_of_its_versions(note, rows):
    files = [row["file"] for row in rows]

    assert files[-1] == ("vault" if note in note_paths() else None)
    assert "vault" not in files[:-1]
    assert 2 <= len(files) <= 4
    assert files[0] is not None


@each_history
def test_a_version_differs_from_the_one_before(note, rows):
    assert [a for a, b in pairwise(rows) if version_bytes(a) == version_bytes(b)] == []


@each_history
def test_a_version_was_not_seen_before_the_date_it_bears(note, rows):
    for row in rows:
        values = properties_of(decode(version_bytes(row) or b"")) or {}
        stated = values.get("date") or values.get("created") or "1970-01"
        assert row["observed_at"][: len(stated)] >= stated


def test_earlier_versions_say_other_things_about_price_owner_status_and_place():
    def earliest(note: str) -> str:
        return decode(version_bytes(versions()[note][0]) or b"")

    status, owner = "Projects/Dock Street move.md", "Customers/Schulverbund Elmenau.md"
    assert "£3,790" not in earliest("Projects/Pricing.md")
    assert (properties_of(earliest(status)) or {})["status"] == "planned"
    assert (properties_of(earliest(owner)) or {})["owner"] != properties(owner)["owner"]
    assert "Unit 5" not in earliest("Wiki/Cooper's Yard.md")


def test_no_question_names_a_note_of_the_history_that_is_gone():
    gone = {row["note"] for row in history_rows()} - set(note_paths())
    files = sorted((ROOT / "data" / "eval").glob("*.jsonl"))
    texts = [json.dumps(json.loads(line)) for file in files for line in read_lines(file)]

    assert gone
    assert [note for note in gone for text in texts if json.dumps(note) in text] == []


def read_lines(file: Any) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
