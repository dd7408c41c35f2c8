"""Looking at a folder: what is new, what is gone, and when a loss is not believed."""

import datetime as dt

import pytest

from kb_assets.placeholders.listing import folders_of, is_one_day
from kb_assets.placeholders.observe import Seen, check_loss, loss_id, lost_notes, observe
from kb_core.errors import MassLossError
from kb_core.ids import bytes_hash
from resources.vault import Entry

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def note(path: str, content: bytes | None = b"text", state="local", problem="", is_note=True):
    return Seen(path, path.encode(), is_note, state, 4, NOW, content, problem)


def look(seen, latest=None):
    return observe(seen, latest or {}, NOW, is_first_listing=False)


def test_a_new_note_is_journaled_with_its_bytes():
    (row,) = look([note("a.md")]).new_versions

    assert (row["note_id"], row["content"], row["observed_at"]) == ("a.md", b"text", NOW)


def test_an_unchanged_note_is_not_journaled_again():
    assert look([note("a.md")], {"a.md": bytes_hash(b"text")}).new_versions == []


def test_a_note_that_came_back_is_journaled_again():
    assert len(look([note("a.md")], {"a.md": None}).new_versions) == 1


def test_an_absent_note_is_gone_and_an_unreadable_one_is_not():
    seen = [note("b.md", None, problem="no permission to read it")]
    found = look(seen, {"a.md": "1", "b.md": "2"})

    assert [row["note_id"] for row in found.new_versions] == ["a.md"]
    assert found.new_versions[0]["content_hash"] is None


def test_notes_below_a_folder_that_cannot_be_listed_are_not_gone():
    closed = note("A/sub", None, "unlisted", "no permission to read it", is_note=False)
    found = look([closed], {"A/sub/x.md": "1", "A/subway.md": "2"})

    assert [row["note_id"] for row in found.new_versions] == ["A/subway.md"]
    assert found.files["status"].to_pylist() == ["failed"]


def test_every_file_is_readable_skipped_or_failed():
    seen = [
        note("a.md"),
        note("big.md", None, problem="larger than 10 MB"),
        note("online.md", None, "online", "its text is only online"),
        note("locked.md", None, problem="no permission to read it"),
        note("picture.png", None, is_note=False),
        note("link.md", None, "other", "a symbolic link, not followed"),
    ]
    files = look(seen).files

    status = dict(zip(files["path"].to_pylist(), files["status"].to_pylist(), strict=True))
    assert status == {
        "a.md": "readable",
        "big.md": "skipped",
        "online.md": "skipped",
        "locked.md": "failed",
        "picture.png": "skipped",
        "link.md": "skipped",
    }


def test_twins_in_two_unicode_forms_are_one_note_and_one_listed_file():
    twin = Seen("ü.md", b"u\xcc\x88.md", True, "local", 4, NOW, b"other", "")
    found = look([note("ü.md"), twin])

    assert len(found.new_versions) == 1
    assert sorted(found.files["status"].to_pylist()) == ["readable", "skipped"]


def test_a_conflict_copy_is_flagged_and_read():
    files = look([note("a (Conflicted copy phone 202601021200).md")]).files

    assert (files["state"][0].as_py(), files["status"][0].as_py()) == ("conflict", "readable")


def test_file_times_leave_no_trace_in_the_table():
    touched = Seen("a.md", b"a.md", True, "local", 4, NOW + dt.timedelta(days=1), b"text", "")

    assert look([note("a.md")]).files.equals(look([touched]).files)


@pytest.mark.parametrize(
    ("lost", "kept", "is_refused"),
    [(1, 0, False), (2, 8, False), (3, 7, True), (2, 1, True), (10, 0, True)],
)
def test_more_than_a_fifth_gone_at_once_is_not_believed(lost, kept, is_refused):
    names = [f"{n}.md" for n in range(lost)]

    def check(*, is_approved):
        check_loss("Work", names, kept, share=0.2, is_approved=is_approved)

    if is_refused:
        with pytest.raises(MassLossError, match=r"kb approve-deletions --folder 'Work'"):
            check(is_approved=False)
    else:
        check(is_approved=False)
    check(is_approved=True)


def test_an_approval_covers_one_loss_alone():
    assert loss_id(["a", "b"]) == loss_id(["b", "a"]) != loss_id(["a"])
    assert lost_notes([note("a.md")], {"a.md": "1", "b.md": "2", "c.md": None}) == ["b.md"]


def entry(path: str, day: int) -> Entry:
    seconds = int(dt.datetime(2026, 1, day, tzinfo=dt.UTC).timestamp())
    return Entry(path, path.encode(), 1, seconds * 1_000_000_000, "local")


def test_notes_that_share_one_file_day_were_copied():
    assert is_one_day([entry("a.md", 1), entry("b.md", 1), entry("c.md", 2)])
    assert not is_one_day([entry("a.md", 1), entry("b.md", 2)])
    assert not is_one_day([entry("a.png", 1)])


def test_folders_are_the_first_parts_of_paths():
    folders = folders_of([entry("a/b/c.md", 1), entry("root.md", 1)], 1)

    assert sorted(folders.values()) == ["", "a"]
    assert sorted(folders_of([entry("a/b/c.md", 1)], 2).values()) == ["a/b"]
