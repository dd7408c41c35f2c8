"""Versions that come with a vault: journaled once, in order, whatever interrupts it."""

import datetime as dt
import json
import unicodedata

import pytest

from kb_assets.notes.run import run as read_notes
from kb_assets.placeholders.listing import begin_listing, register_vault
from kb_assets.placeholders.seed import import_versions
from kb_core.errors import StoreError
from kb_core.ids import partition_key
from resources.history import History
from resources.home import Home
from tests.built_home import NOW, build, look_at, open_home
from tests.small_vault import put

PRICES = ("# Prices\n\nA kiln costs 90.\n", "# Prices\n\nA kiln costs 95.\n")
PLAN = ("---\ndate: 2024-01-05\n---\n# Plan\n\nOpen.\n", "---\ndate: 2024-01-05\n---\nDone.\n")
ROWS = [
    ("Work/Plan.md", "2024-01-10T09:00:00+00:00", "1.md"),
    ("Work/Plan.md", "2024-03-01T10:00:00+01:00", "vault"),
    ("Work/Old.md", "2024-01-11T09:00:00+00:00", "2.md"),
    ("Work/Old.md", "2024-02-11T09:00:00+00:00", None),
    ("Prices.md", "2024-01-12T09:00:00+00:00", "3.md"),
    ("Prices.md", "2024-05-12T09:00:00+00:00", "vault"),
    ("Gone/Kiln.md", "2024-01-13T09:00:00+00:00", "4.md"),
    ("Gone/Kiln.md", "2024-06-13T09:00:00+00:00", None),
]
FILES = {"1.md": PLAN[0], "2.md": "# Old\n", "3.md": PRICES[0], "4.md": "# Kiln\n"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def write_history(home: Home, rows=ROWS, files=FILES) -> None:
    folder = home.data / "sample_history"
    for name, text in files.items():
        put(folder, name, text)
    lines = [
        row
        if isinstance(row, str)
        else json.dumps(dict(zip(("note", "observed_at", "file"), row, strict=True)))
        for row in rows
    ]
    put(folder, "history.jsonl", "\n".join(lines) + "\n")


@pytest.fixture
def make(tmp_path):
    vault = tmp_path / "vault"
    put(vault, "Work/Plan.md", PLAN[1])
    put(vault, "Prices.md", PRICES[1])
    put(vault, "Work/New.md", "# New\n")

    def made(name="home", **history) -> Home:
        home = open_home(tmp_path / name, vault)
        write_history(home, **history)
        return home

    return made


def entries(home):
    return {entry.path: entry for entry in register_vault(home)}


def journal(home) -> dict[str, list[tuple[str, str | None]]]:
    """Return note -> instant and text (None: gone) of every version."""
    history = History(home.data / "history")
    found: dict[str, list[tuple[str, str | None]]] = {}
    for partition in history.partitions():
        for row in history.read(partition).to_pylist():
            text = None if row["content"] is None else row["content"].decode()
            found.setdefault(row["note_id"], []).append((row["observed_at"].isoformat(), text))
    return found


def segments(home) -> dict[str, bytes]:
    folder = home.data / "history" / "versions"
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.p*"))
    }


def notes_of(home, note):
    partition = partition_key(note.rpartition("/")[0])
    read_notes(home, partition)
    table = home.store.read("notes", partition)
    rows = [row for row in table.to_pylist() if row["note_id"] == note]
    return sorted(rows, key=lambda row: row["version"])


def test_every_version_is_journaled_under_its_own_instant(make):
    home = make()

    assert import_versions(home, entries(home), NOW) == 8
    assert journal(home) == {
        "Work/Plan.md": [
            ("2024-01-10T09:00:00+00:00", PLAN[0]),
            ("2024-03-01T09:00:00+00:00", PLAN[1]),
        ],
        "Work/Old.md": [
            ("2024-01-11T09:00:00+00:00", "# Old\n"),
            ("2024-02-11T09:00:00+00:00", None),
        ],
        "Prices.md": [
            ("2024-01-12T09:00:00+00:00", PRICES[0]),
            ("2024-05-12T09:00:00+00:00", PRICES[1]),
        ],
        "Gone/Kiln.md": [
            ("2024-01-13T09:00:00+00:00", "# Kiln\n"),
            ("2024-06-13T09:00:00+00:00", None),
        ],
    }


def test_the_order_of_the_list_does_not_matter(make):
    homes = [make("one"), make("two", rows=ROWS[::-1])]
    for home in homes:
        import_versions(home, entries(home), NOW)

    assert segments(homes[0]) == segments(homes[1])


def test_the_first_listing_adds_only_what_the_list_does_not_know(make):
    home = make()
    look_at(home)

    added = {note for note, rows in journal(home).items() if rows[-1][0] == NOW.isoformat()}
    assert added == {"Work/New.md"}


def test_a_folder_whose_notes_are_all_gone_is_known_from_the_first_build_on(make):
    first, again = make("one"), make("two")

    names = [build(first), build(first), build(again)]

    assert "Gone" in first.folders().values()
    assert len(set(names)) == 1


def test_nothing_is_imported_once_a_listing_has_begun(make):
    home = make(rows=[])
    begin_listing(home, NOW)
    write_history(home)

    assert import_versions(home, entries(home), NOW) == 0
    assert journal(home) == {}


def test_without_a_list_there_is_nothing_to_import(tmp_path):
    put(tmp_path / "vault", "a.md", "# A\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")

    assert import_versions(home, entries(home), NOW) == 0


def test_the_list_of_another_vault_is_left_alone(make):
    home = make(rows=[*ROWS, ("Elsewhere.md", "2024-01-01T00:00:00+00:00", "vault")])

    assert import_versions(home, entries(home), NOW) == 0
    assert journal(home) == {}


def test_a_present_note_that_cannot_be_read_is_left_to_the_listing(make, tmp_path):
    home = make()
    found = entries(home)
    (tmp_path / "vault" / "Prices.md").unlink()

    import_versions(home, found, NOW)

    assert [text for _, text in journal(home)["Prices.md"]] == [PRICES[0]]


@pytest.mark.parametrize("done", [1, 2])
def test_an_import_that_was_cut_off_goes_on_and_gives_the_same_journal(make, monkeypatch, done):
    whole, cut = make("whole"), make("cut")
    begin_listing(whole, NOW)
    append = History.append
    left = iter(range(done))

    def until(self, partition, rows):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return append(self, partition, rows)

    monkeypatch.setattr(History, "append", until)
    with pytest.raises(KeyboardInterrupt):
        begin_listing(cut, NOW)
    monkeypatch.undo()
    assert len(segments(cut)) == done

    begin_listing(cut, NOW)

    assert segments(cut) == segments(whole)
    assert cut.folders() == whole.folders()


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        ("{", "line 9 is no version"),
        ("[1]", "line 9 is no version"),
        ('{"note": "a.md", "file": null}', "line 9 is no version"),
        (("Prices.md", "yesterday", "1.md"), "line 9 is no version"),
        ((7, "2024-01-01T00:00:00+00:00", "1.md"), "line 9 is no version"),
        (("Prices.md", "2024-01-01", "1.md"), "line 9 has no time zone"),
        (("Prices.md", "2024-01-01T00:00:00+00:00", 5), "line 9 names no file"),
        (("Prices.md", "2024-01-01T00:00:00+00:00", "../kb.toml"), "line 9 names no file"),
        (("Prices.md", "2024-01-01T00:00:00+00:00", "/etc/hostname"), "line 9 names no file"),
        (("Prices.md", "2024-05-12T11:00:00+02:00", "1.md"), "a second version at the same"),
        (("Prices.md", "2026-06-01T00:00:00+00:00", "1.md"), "lies in the future"),
        (("Prices.md", "2024-01-01T00:00:00+00:00", "9.md"), "9.md is missing"),
    ],
)
def test_a_slip_in_the_list_is_told_and_nothing_is_journaled(make, slip, told):
    home = make(rows=[*ROWS, slip])

    with pytest.raises(StoreError, match=told):
        begin_listing(home, NOW)
    assert journal(home) == {}


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\xef\xbb\xbf" + b"{"])
def test_a_list_that_is_no_text_is_told(make, text):
    home = make()
    put(home.data / "sample_history", "history.jsonl", text)

    with pytest.raises(StoreError, match=r"history\.jsonl"):
        begin_listing(home, NOW)


def test_a_list_may_spell_its_notes_in_another_unicode_form(make, tmp_path):
    put(tmp_path / "vault", "Menü.md", "# Menü\n")
    row = (unicodedata.normalize("NFD", "Menü.md"), "2024-01-01T00:00:00+00:00", "vault")
    home = make(rows=[*ROWS, row])

    import_versions(home, entries(home), NOW)

    assert journal(home)["Menü.md"] == [("2024-01-01T00:00:00+00:00", "# Menü\n")]


def test_the_first_version_is_known_from_its_strong_date_and_later_ones_when_they_were_seen(make):
    home = make()
    look_at(home)

    first, second = notes_of(home, "Work/Plan.md")

    assert first["available_at"] < at("2024-01-10T09:00:00+00:00")
    assert first["available_at"].date() in (dt.date(2024, 1, 5), dt.date(2024, 1, 6))
    assert first["observed_until"] == second["observed_at"] == at("2024-03-01T09:00:00+00:00")
    assert second["available_at"] == second["observed_at"]
    assert (first["is_current"], second["is_current"]) == (False, True)


def test_an_undated_first_version_is_known_when_it_was_seen(make):
    home = make()
    look_at(home)

    first, _ = notes_of(home, "Prices.md")

    assert first["available_at"] == first["observed_at"] == at("2024-01-12T09:00:00+00:00")


def test_a_note_that_was_gone_has_no_present_version(make):
    home = make()
    look_at(home)

    (only,) = notes_of(home, "Work/Old.md")

    assert (only["is_current"], only["observed_until"]) == (False, at("2024-02-11T09:00:00+00:00"))


def test_an_edit_after_the_import_is_the_newest_version(make, tmp_path):
    home = make()
    look_at(home)
    put(tmp_path / "vault", "Prices.md", "# Prices\n\nA kiln costs 99.\n")
    look_at(home, NOW + dt.timedelta(days=2))

    assert [text for _, text in journal(home)["Prices.md"]][-1].endswith("99.\n")
    assert [row["is_current"] for row in notes_of(home, "Prices.md")] == [False, False, True]


def test_two_homes_over_one_vault_and_list_make_the_same_build(make):
    assert build(make("one")) == build(make("two"))
