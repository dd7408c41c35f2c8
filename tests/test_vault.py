"""Reading a vault: told from the listing, never through a link, never outside."""

import os
import stat
import unicodedata
from types import SimpleNamespace

import pytest

from kb_core.errors import VaultError
from kb_core.settings import VaultSettings
from resources.vault import LocalVault, file_state


def vault_of(root, **settings):
    return LocalVault(root, VaultSettings(**settings))


def put(root, path: str, content: bytes = b"text"):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def entry_of(vault, path):
    return next(entry for entry in vault.list() if entry.path == path)


def test_files_are_listed_by_path_and_dot_folders_left_out(tmp_path):
    for path in ("b/2.md", "a/1.md", ".obsidian/app.json", "b/.trash/x.md", "root.md"):
        put(tmp_path, path)

    assert [e.path for e in vault_of(tmp_path).list()] == ["a/1.md", "b/2.md", "root.md"]


def test_one_folder_is_listed_alone(tmp_path):
    for path in ("a/1.md", "a/deep/2.md", "ab/3.md", "root.md"):
        put(tmp_path, path)
    vault = vault_of(tmp_path)

    in_a = [e.path for e in vault.list("a") if e.folder(1) == "a"]

    assert in_a == ["a/1.md", "a/deep/2.md"]
    assert [e.path for e in vault.list("")] == ["root.md"]


def test_a_hidden_note_is_counted_and_not_read(tmp_path):
    put(tmp_path, "..md")
    put(tmp_path, ".hidden/a.md")
    vault = vault_of(tmp_path)

    (entry,) = vault.list()

    assert (entry.path, entry.state) == ("..md", "hidden")
    assert vault.read(entry).content is None


def test_a_folder_that_cannot_be_listed_counts_to_its_own_partition(tmp_path, monkeypatch):
    put(tmp_path, "closed/a.md")
    put(tmp_path, "open/b.md")
    real = os.open

    def open_(path, *arguments, **options):
        if path == b"closed":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)

    found = {(e.path, e.state, e.folder(1)) for e in vault_of(tmp_path).list()}

    assert found == {("closed", "unlisted", "closed"), ("open/b.md", "local", "open")}


def test_patterns_are_ignored(tmp_path):
    put(tmp_path, "Templates/daily.md")
    put(tmp_path, "a.md")

    assert [e.path for e in vault_of(tmp_path, ignore=("Templates/*",)).list()] == ["a.md"]


@pytest.mark.parametrize("make", ["missing", "file"])
def test_a_vault_that_is_missing_or_a_file_says_so(tmp_path, make):
    root = tmp_path / "vault"
    if make == "file":
        root.write_text("")

    with pytest.raises(VaultError, match="does not exist" if make == "missing" else "is a file"):
        vault_of(root).list()


def test_links_are_listed_and_never_followed(tmp_path):
    outside = put(tmp_path, "outside/secret.md", b"secret")
    root = tmp_path / "vault"
    put(root, "a.md")
    (root / "link.md").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent, target_is_directory=True)
    (root / "loop").symlink_to(root, target_is_directory=True)
    vault = vault_of(root)

    states = {e.path: e.state for e in vault.list()}

    assert states == {"a.md": "local", "link.md": "other", "folder": "other", "loop": "other"}
    assert vault.read(entry_of(vault, "link.md")).content is None


def test_a_folder_swapped_for_a_link_after_listing_is_not_read_through(tmp_path):
    outside = put(tmp_path, "outside/a.md", b"secret").parent
    root = tmp_path / "vault"
    put(root, "folder/a.md", b"mine")
    vault = vault_of(root)
    entry = entry_of(vault, "folder/a.md")
    (root / "folder").rename(root / "away")
    (root / "folder").symlink_to(outside, target_is_directory=True)

    assert vault.read(entry).content is None


def test_a_note_swapped_for_a_pipe_does_not_block(tmp_path):
    put(tmp_path, "a.md")
    vault = vault_of(tmp_path)
    entry = entry_of(vault, "a.md")
    (tmp_path / "a.md").unlink()
    os.mkfifo(tmp_path / "a.md")

    assert vault.read(entry).content is None


def test_a_large_note_is_not_read(tmp_path):
    put(tmp_path, "big.md", b"x" * 2_000)
    vault = vault_of(tmp_path, max_note_mb=0.001)

    assert vault.read(entry_of(vault, "big.md")).problem == "larger than 0.001 MB"


def test_names_are_known_in_nfc_and_read_by_their_own_bytes(tmp_path):
    name = unicodedata.normalize("NFD", "Übersicht.md")
    put(tmp_path, name, b"hi")
    vault = vault_of(tmp_path)

    (entry,) = vault.list()

    assert entry.path == unicodedata.normalize("NFC", name)
    assert vault.read(entry).content == b"hi"


def test_hostile_names_are_listed_and_read(tmp_path):
    (tmp_path / "line\nbreak.md").write_bytes(b"1")
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_bytes(b"2")
    vault = vault_of(tmp_path)

    contents = {entry.path: vault.read(entry).content for entry in vault.list()}

    assert contents == {"line\nbreak.md": b"1", "bad\\xff.md": b"2"}


@pytest.mark.parametrize(
    ("name", "fields", "state"),
    [
        (b"a.md", {}, "local"),
        (b"a.md", {"st_flags": 0x40000000}, "online"),
        (b"a.md", {"st_file_attributes": 0x400020}, "online"),
        (b"a.md", {"st_file_attributes": 0x501620}, "online"),
        (b".a.md.icloud", {}, "stub"),
        (b"plan.gdoc", {}, "pointer"),
    ],
)
def test_placeholders_are_told_from_the_listing_alone(name, fields, state):
    status = SimpleNamespace(st_mode=stat.S_IFREG | 0o644, st_size=10, **fields)

    assert file_state(name, status)[0] == state


def test_a_note_whose_text_went_online_keeps_its_name(tmp_path):
    put(tmp_path, "a/.plan.md.icloud")

    (entry,) = vault_of(tmp_path).list()

    assert (entry.path, entry.state, entry.is_note) == ("a/plan.md", "stub", True)


def test_listing_opens_no_file(tmp_path, monkeypatch):
    put(tmp_path, "a/1.md")
    opened = []
    real_open = os.open

    def open_(path, *arguments, **options):
        opened.append(path)
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)

    vault_of(tmp_path).list()

    assert opened == [tmp_path, b"a"]
