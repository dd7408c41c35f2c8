"""The copies that sync programs leave behind: flagged by each one's name for them."""

import pytest

from kb_assets.placeholders.conflicts import conflict_copies

STATED = [
    "a (Conflicted copy phone 202601021200).md",  # Obsidian Sync
    "a (Ann's conflicted copy 2024-03-14).md",  # Dropbox
    "a (Ann's MacBook Pro's conflicted copy 2024-03-14 (1)).md",
    "a (Case Conflict).md",
    "a (Selective Sync Conflict 1).md",
    "a (Unicode Encoding Conflict).md",
    "a (conflicted copy 2025-04-10 093612).md",  # Nextcloud
    "a_conflict-20250410-093612.md",  # ownCloud
    "a.sync-conflict-20240314-093612-ABCDEFG.md",  # Syncthing
    "a.Conflict.md",  # Resilio
    "a.Conflict1.md",
    "a (SFConflict ann@x.y 2015-03-07-11-30-28).md",  # Seafile
    "a(Conflict_ann (Web browser)_2020-03-25-22-50-36).md",  # FileCloud
    "a_Andy-PC_Jan-03-0901-2013_CaseConflict_1.md",  # Synology Drive
    "a_Andy-PC_Jan-03-0901-2013_Conflict.md",
    "a [conflicted].md",  # pCloud
    "a (conflicted).md",
    "a[Conflict].md",  # Google Drive's older client
    "a (DESKTOP-QRI9EIH conflict 2023-04-02).md",
    "a-laptop-safeBackup-0001.md",  # OneDrive on Linux
    "pictures/p (conflicted copy 2025-04-10 093612).png",
]
NO_COPIES = [
    "Merge conflict.md",
    "Conflict (2024).md",
    "Conflict resolution (draft 2).md",
    "(conflict of interest).md",
    "Notes on conflicted copies.md",
    "How to merge a conflicted copy.md",
    "sync-conflict.md",
    "Part 2.md",
    "Report (1).md",
    "trip-DESKTOP-4F7Q2KD.md",
]


@pytest.mark.parametrize("path", STATED)
def test_a_copy_that_says_so_is_flagged(path):
    assert conflict_copies({f"Work/{path}": None}) == {f"Work/{path}"}


@pytest.mark.parametrize("path", NO_COPIES)
def test_a_name_that_talks_of_conflicts_or_has_a_number_is_not(path):
    assert conflict_copies({path: b"x\ny\n"}) == frozenset()


@pytest.mark.parametrize("copy", ["a 2.md", "a (1).md", "a(1).md", "a-DESKTOP-4F7Q2KD.md"])
@pytest.mark.parametrize(
    ("original", "text", "is_copy"),
    [
        (b"one\ntwo\nthree\n", b"one\ntwo\nmore\n", True),
        (b"one\ntwo\n", b"one\r\ntwo\r\n", True),
        (b"", b"", True),
        (b"one\ntwo\nthree\n", b"other\nwords\nthree\n", False),
        (b"---\n---\n", b"---\n---\ntwo\n", False),
        (None, b"one\n", False),
        (b"one\n", None, False),
    ],
)
def test_a_numbered_file_is_a_copy_where_its_original_says_the_same(copy, original, text, is_copy):
    contents = {"d/a.md": original, f"d/{copy}": text, "e/a.md": text}

    assert conflict_copies(contents) == ({f"d/{copy}"} if is_copy else frozenset())
