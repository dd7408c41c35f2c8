"""A vault that tries to get a reader out of it, or to stop it: nothing is followed or opened."""

import datetime as dt
import json
import os
import socket
import stat
import unicodedata
from types import SimpleNamespace

import pytest

import resources.vault
from benchmarks.hostile_race import race
from benchmarks.hostile_sets import SETS, load_sets
from benchmarks.hostile_vault import NAME_MARK, TEXT_MARK, is_marked, write_vault
from kb_core.dates import compile_daily_format
from kb_core.ids import partition_key
from kb_core.settings import VaultSettings
from resources.vault import UNLISTED, LocalVault

HAS_SETS = SETS.is_dir()


def vault_of(root):
    return LocalVault(root, VaultSettings())


@pytest.fixture
def hostile(tmp_path):
    return write_vault(tmp_path, [])


def test_no_link_out_of_the_vault_is_followed(hostile):
    vault = vault_of(hostile.root)

    entries = vault.list()
    contents = [vault.read(entry).content for entry in entries]

    assert not any(is_marked(entry.raw_path) for entry in entries)
    assert not any(content and is_marked(content) for content in contents)


def test_everything_that_is_no_plain_file_is_listed_with_a_reason(hostile):
    entries = {entry.path: entry for entry in vault_of(hostile.root).list()}

    for name in ("link to a file.md", "link to a folder", "loop.md", "dangling.md", "zero.md"):
        assert entries[name].problem == "a symbolic link, not followed"
    for name in ("pipe.md", "socket.md"):
        if (hostile.root / name).exists():
            assert entries[name].problem == "not a regular file"


@pytest.mark.parametrize("make", ["pipe", "socket", "folder", "link"])
def test_what_took_a_notes_place_after_the_listing_is_not_read(tmp_path, make, monkeypatch):
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").write_text("a")
    (entry,) = vault_of(root).list()
    (root / "a.md").unlink()
    (tmp_path / "secret").write_bytes(TEXT_MARK)
    if make == "socket":
        monkeypatch.chdir(root)  # a socket's address must be short
        with socket.socket(socket.AF_UNIX) as door:
            door.bind("a.md")
    elif make == "pipe":
        os.mkfifo(root / "a.md")
    elif make == "folder":
        (root / "a.md").mkdir()
    else:
        (root / "a.md").symlink_to(tmp_path / "secret")

    result = vault_of(root).read(entry)

    assert result.content is None
    assert result.problem


def test_a_folder_swapped_for_a_link_while_it_is_listed_shows_no_name(tmp_path, monkeypatch):
    root, outside = tmp_path / "vault", tmp_path / "outside"
    for folder in (root / "folder", outside):
        folder.mkdir(parents=True)
    (outside / f"{NAME_MARK.decode()}.md").write_text("outside")
    real = resources.vault._is_folder

    def swapped(item):
        if not real(item):
            return False
        (root / "folder").rename(root / ".gone")
        (root / "folder").symlink_to(outside)
        return True

    monkeypatch.setattr(resources.vault, "_is_folder", swapped)

    (entry,) = vault_of(root).list()

    assert (entry.path, entry.state) == ("folder", UNLISTED)


def test_a_swapper_lets_nothing_out(tmp_path):
    hostile = write_vault(tmp_path, [])

    counts = race(tmp_path / "raced", hostile.outside, 0.6)

    assert counts["reads"] > 50
    assert counts["escapes"] == 0


@pytest.mark.parametrize("depth", [102, 150])
def test_folders_nested_without_end_are_listed_as_one_that_cannot_be(tmp_path, depth):
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    (entry,) = vault_of(tmp_path).list()

    assert (entry.state, entry.problem) == (UNLISTED, "more than 100 folders deep")
    assert entry.folder(1) == "d"


def test_a_hundred_nested_folders_are_read(tmp_path):
    folder = tmp_path.joinpath(*["d"] * 100)
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("a")
    vault = vault_of(tmp_path)

    (entry,) = vault.list()

    assert vault.read(entry).content == b"a"


@pytest.mark.parametrize(
    "settings",
    [
        b"[" * 200_000,
        b'{"format": "\\ud800"}',
        b'{"format": "a\\u0000b"}',
        json.dumps({"format": "Y" * 5_000}).encode(),
        b'{"format": 7}',
        b"\xff\xfe",
        b'[{"format": "YYYY"}]',
    ],
)
def test_a_daily_format_that_is_none_is_ignored(tmp_path, settings):
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "daily-notes.json").write_bytes(settings)

    assert vault_of(tmp_path).daily_format() is None


def test_a_daily_format_behind_a_link_is_not_read(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "daily-notes.json").write_text('{"format": "YYYY"}')
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".obsidian").symlink_to(tmp_path / "outside")

    assert vault_of(tmp_path / "vault").daily_format() is None


@pytest.mark.parametrize(
    ("fmt", "name"),
    [
        ("dddd" * 16, "a" * 240 + "1"),
        ("ddddMMMMdddMMMdd", "a" * 250),
        ("HhHhHhHhHhHhHhHh", "1" * 251),
        ("Hh" * 50, "1" * 250),
        ("dddd." * 16, "a." * 120),
    ],
)
def test_a_daily_format_of_many_parts_does_not_try_every_division(fmt, name):
    # It would take longer than anybody waits; here it is over at once.
    assert compile_daily_format(fmt).date_of(name) is None


@pytest.mark.parametrize("kind", ["names", "strings", "look_alikes", "paths"])
def test_hostile_names_are_listed_read_and_given_a_plain_partition(tmp_path, kind):
    names = getattr(load_sets(), kind)
    written = {}
    for number, name in enumerate(names):
        raw = name.encode("utf-8", "surrogatepass").replace(b"/", b"_").replace(b"\0", b"_")
        file = b"n" + raw[:200] + b".md"
        written[file] = str(number).encode()
        (tmp_path / os.fsdecode(file)).write_bytes(written[file])
    vault = vault_of(tmp_path)

    entries = vault.list()

    assert {entry.raw_path: vault.read(entry).content for entry in entries} == written
    for entry in entries:
        key = partition_key(entry.path)
        assert key.isascii()
        assert not set(key) - set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.skipif(not HAS_SETS, reason="the shared sets are not here")
def test_hostile_names_of_folders_have_partitions_of_their_own():
    names = [*load_sets().names, *load_sets().strings, *load_sets().paths]

    different = {unicodedata.normalize("NFC", name) for name in names}
    assert len({partition_key(name) for name in names}) == len(different)


@pytest.mark.parametrize("name", [".icloud", "..icloud", "...icloud"])
def test_a_stub_of_nothing_is_listed_under_its_own_name(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).write_text("")

    (entry,) = vault_of(tmp_path).list()

    assert (entry.path, entry.folder(1)) == (f"folder/{name}", "folder")


def test_a_note_that_is_here_comes_before_its_stub(tmp_path):
    (tmp_path / "a.md").write_text("here")
    (tmp_path / ".a.md.icloud").write_text("")

    assert [(e.path, e.state) for e in vault_of(tmp_path).list()] == [
        ("a.md", "local"),
        ("a.md", "stub"),
    ]


@pytest.mark.parametrize("seconds", [2**62, -(2**62), 2**33])
def test_a_file_time_no_calendar_has_is_brought_into_it(seconds):
    item = SimpleNamespace(
        stat=lambda follow_symlinks: SimpleNamespace(
            st_mode=stat.S_IFREG,
            st_size=1,
            st_mtime_ns=seconds * 10**9,
            st_ctime_ns=seconds * 10**9,
            st_ino=1,
        )
    )

    entry = resources.vault._entry(b"a.md", b"a.md", item)

    assert dt.datetime.fromtimestamp(entry.mtime_ns // 10**9, dt.UTC)


def test_a_closed_file_is_named_or_read_by_a_user_who_may(hostile):
    closed = hostile.root / "closed.md"
    vault = vault_of(hostile.root)
    entry = next(entry for entry in vault.list() if entry.path == "closed.md")

    result = vault.read(entry)

    assert stat.S_IMODE(closed.stat().st_mode) == 0
    assert result.content == b"closed" or result.problem == "no permission to read it"
