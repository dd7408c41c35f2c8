"""Read a vault from the disk: list it by `lstat`, open notes without following links.

No file is opened while listing, so files whose bytes are only online stay online. Folders that
are symbolic links are not followed. Listing and reading go from folder to folder by handle, so that
no part of a path can be swapped for a link between the check and the use: neither the text nor the
names of what lies outside the vault are ever seen. The vault is never written to.
"""

import contextlib
import errno
import json
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from kb_core.errors import VaultError
from kb_core.settings import VaultSettings

NOTE_SUFFIXES = (".md", ".markdown")
_POINTER_SUFFIXES = (".gdoc", ".gsheet", ".gslides", ".desktop", ".webloc")
_STUB_SUFFIX = ".icloud"
# A folder that could not be listed: what it holds is unknown, not gone.
UNLISTED = "unlisted"
# macOS marks a file whose bytes are with the provider; Python 3.11's stat has no name for it.
_SF_DATALESS = 0x40000000
# Windows: recall on data access, recall on open, offline.
_WINDOWS_ONLINE = 0x400000 | 0x40000 | 0x1000
_MEGABYTE = 1_000_000
# Each level holds a handle open, and folders nested in their thousands are no work of people.
_DEEPEST = 100
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LATEST_NS = 253_370_764_800 * 10**9  # 1 January 9999
_LONGEST_FORMAT = 200  # characters of a daily note's name


@dataclass(frozen=True)
class Entry:
    """One file as the listing saw it. Times are nanoseconds since 1970, sizes bytes."""

    path: str  # NFC, "/"-separated, relative to the vault
    raw_path: bytes
    size: int
    mtime_ns: int
    state: str  # local, online, pointer, stub, hidden, unlisted (a folder), other
    problem: str = ""  # why it cannot be read, as far as the listing can tell
    # Only for telling whether a file moved; no two listings of equal files need agree on them.
    inode: int = field(default=0, compare=False)
    touched_ns: int = field(default=0, compare=False)  # the later of mtime and ctime

    @property
    def is_note(self) -> bool:
        """Tell whether the file is Markdown text."""
        return self.path.lower().endswith(NOTE_SUFFIXES)

    def folder(self, depth: int) -> str:
        """Return the folder that the file counts to: its first `depth` path parts."""
        parts = self.path.split("/")  # a path object takes ten times as long, at every tick
        parents = parts if self.state == UNLISTED else parts[:-1]
        return "/".join(parents[:depth])


@dataclass(frozen=True)
class ReadResult:
    """A note's bytes, or why there are none."""

    content: bytes | None
    problem: str = ""


class LocalVault:
    """A vault in a folder of this machine."""

    def __init__(self, root: Path, settings: VaultSettings) -> None:
        self.root = root
        self._settings = settings

    def list(self, folder: str | None = None) -> list[Entry]:
        """List the files below the vault, sorted by path, dot folders left out.

        With `folder` ("" is the root) only the way to it and what is below it is listed.
        Raises VaultError when the vault is missing, is no folder, or cannot be listed.
        """
        self._check_root()
        try:
            handle = os.open(self.root, _OPEN_FOLDER)
            with contextlib.ExitStack() as stack:
                stack.callback(os.close, handle)
                found = list(self._walk(_items(handle), handle, b"", folder))
        except OSError as problem:
            raise VaultError(
                f"The vault {self.root} cannot be listed: {_explain(problem)}. "
                "Give this user the right to read it."
            ) from None
        # Of two that are known by one path, a note and its stub, the one that can be read is first.
        return sorted(found, key=lambda each: (each.path, each.state != "local", each.raw_path))

    def read(self, entry: Entry) -> ReadResult:
        """Read one note's bytes. Never raises for a note: the result says what went wrong."""
        if entry.state != "local":
            return ReadResult(None, entry.problem or entry.state)
        if entry.size > self._settings.max_note_mb * _MEGABYTE:
            return ReadResult(None, f"larger than {self._settings.max_note_mb:g} MB")
        try:
            return ReadResult(self._read_bytes(entry))
        except OSError as problem:
            return ReadResult(None, _explain(problem))

    def daily_format(self) -> str | None:
        """Return how Obsidian names this vault's daily notes, if it says so.

        The setting is a moment.js format and may hold folders: `YYYY/MM/YYYY-MM-DD`.
        """
        raw = b".obsidian/daily-notes.json"
        try:
            settings = json.loads(self._read_bytes(Entry(path_key(raw), raw, 0, 0, "local")))
        except (OSError, ValueError, RecursionError):
            return None
        name = settings.get("format") if isinstance(settings, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_FORMAT:
            return None
        # JSON can hold half a surrogate pair, which no file name can.
        return name if name.isprintable() else None

    def _check_root(self) -> None:
        hint = "Set `vault.path` in kb.toml, or mount the vault."
        if not self.root.exists():
            raise VaultError(f"The vault {self.root} does not exist. {hint}")
        if not self.root.is_dir():
            raise VaultError(f"The vault {self.root} is a file, not a folder. {hint}")

    def _walk(
        self, items: Iterable[os.DirEntry[str]], handle: int, folder: bytes, wanted: str | None
    ) -> Iterator[Entry]:
        """Yield what lies in an open folder and below it. Raises OSError only for this folder."""
        for item in items:
            name = os.fsencode(item.name)
            raw = b"/".join((folder, name)) if folder else name
            if self._is_ignored(name, path_key(raw)):
                continue
            if not _is_folder(item):
                yield _entry(raw, name, item)
            elif not name.startswith(b".") and (
                wanted is None or _is_on_the_way(path_key(raw), wanted)
            ):
                yield from self._below(handle, name, raw, wanted)

    def _below(
        self, parent: int, name: bytes, folder: bytes, wanted: str | None
    ) -> Iterator[Entry]:
        if folder.count(b"/") >= _DEEPEST:
            problem = f"more than {_DEEPEST} folders deep"
            yield Entry(path_key(folder), folder, 0, 0, UNLISTED, problem)
            return
        with contextlib.ExitStack() as stack:
            try:
                handle = os.open(name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=parent)
                stack.callback(os.close, handle)
                items = _items(handle)
            except OSError as problem:
                yield Entry(path_key(folder), folder, 0, 0, UNLISTED, _explain(problem))
                return
            yield from self._walk(items, handle, folder, wanted)

    def _is_ignored(self, name: bytes, path: str) -> bool:
        # `.name.md.icloud` is a stub of a note, and a hidden note is counted, though not read.
        suffixes = (_STUB_SUFFIX, *NOTE_SUFFIXES)
        if name.startswith(b".") and not name.lower().endswith(tuple(s.encode() for s in suffixes)):
            return True
        return any(fnmatch(path, pattern) for pattern in self._settings.ignore)

    def _read_bytes(self, entry: Entry) -> bytes:
        *folders, name = entry.raw_path.split(b"/")
        with contextlib.ExitStack() as stack:
            handle = os.open(self.root, _OPEN_FOLDER)
            stack.callback(os.close, handle)
            for folder in folders:
                handle = os.open(folder, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=handle)
                stack.callback(os.close, handle)
            # Without O_NONBLOCK, opening a pipe that took the note's place would wait for ever.
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handle)
            stack.callback(os.close, file)
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            return _read_at_most(file, int(self._settings.max_note_mb * _MEGABYTE))


def _read_at_most(file: int, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(file, 1 << 20):
        size += len(part)
        if size > limit:
            raise OSError(errno.EFBIG, "grew while it was read")
        parts.append(part)
    return b"".join(parts)


def _items(handle: int) -> list[os.DirEntry[str]]:
    with os.scandir(handle) as items:
        return list(items)


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir(follow_symlinks=False)
    except OSError:
        return False  # what it is cannot be told: listed as a file that says why


def _entry(raw: bytes, name: bytes, item: os.DirEntry[str]) -> Entry:
    path = path_key(_without_stub(raw))
    try:
        status = item.stat(follow_symlinks=False)
    except OSError as problem:
        return Entry(path, raw, 0, 0, "other", _explain(problem))
    state, problem_text = file_state(name, status)
    # Some file systems keep times that no calendar has.
    mtime_ns = min(max(status.st_mtime_ns, 0), _LATEST_NS)
    touched_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    return Entry(
        path, raw, status.st_size, mtime_ns, state, problem_text, status.st_ino, touched_ns
    )


def file_state(name: bytes, status: os.stat_result) -> tuple[str, str]:
    """Tell from `lstat` alone whether a file's bytes are here: (state, why not)."""
    if stat.S_ISLNK(status.st_mode):
        return "other", "a symbolic link, not followed"
    if not stat.S_ISREG(status.st_mode):
        return "other", "not a regular file"
    if name.endswith(_STUB_SUFFIX.encode()):
        return "stub", "a stub: its text is only online"
    if name.startswith(b"."):
        return "hidden", "a hidden file: its name begins with a dot"
    if name.endswith(tuple(suffix.encode() for suffix in _POINTER_SUFFIXES)):
        return "pointer", "a pointer to an online document"
    flags = getattr(status, "st_flags", 0)
    attributes = getattr(status, "st_file_attributes", 0)
    if flags & _SF_DATALESS or attributes & _WINDOWS_ONLINE:
        return "online", "its text is only online"
    return "local", ""


def _is_on_the_way(path: str, wanted: str) -> bool:
    """Tell whether a folder leads to, is, or lies below the wanted one."""
    return bool(wanted) and (f"{wanted}/".startswith(f"{path}/") or path.startswith(f"{wanted}/"))


def _without_stub(raw: bytes) -> bytes:
    """Return the path of the note that a stub stands for: `.name.md.icloud` is `name.md`.

    Under its own name the note would look deleted as soon as its text is only online.
    """
    folder, _, name = raw.rpartition(b"/")
    if not (name.startswith(b".") and name.endswith(_STUB_SUFFIX.encode())):
        return raw
    note = name[1 : -len(_STUB_SUFFIX)]
    if not note.strip(b"."):
        return raw  # `.icloud` alone stands for nothing
    return b"/".join((folder, note)) if folder else note


def path_key(raw: bytes) -> str:
    """Return the NFC path notes are known by; bytes that are no UTF-8 become visible escapes."""
    return unicodedata.normalize("NFC", raw.decode("utf-8", "backslashreplace"))


def _explain(problem: OSError) -> str:
    if problem.errno == errno.ELOOP:
        return "a symbolic link, not followed"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return "no permission to read it"
    return (problem.strerror or type(problem).__name__).lower()
