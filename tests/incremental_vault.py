"""A vault on the disk that is edited at random, and a model of what it holds.

Whoever edits says how to choose: Hypothesis by drawing, a benchmark by a seeded generator. Every
edit leaves at least one note that can be read, and says nothing of what a build has to do.
"""

import os
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

T = TypeVar("T")

# Few names, so that notes, aliases, links and mentions meet often. Some differ by their case or
# their Unicode form alone, some are names of one word, one is no name at all.
NAMES = (
    "Harbour plan",
    "Ferry log",
    "Mara Lind",
    "Lind",
    "East pier (old)",
    "東港",
    "Café",
    "home",
)
FOLDERS = ("", "Work", "work", "People", "People/Old", "Café", "Archiv")
DATES = ("", "2024-03-14", "2025", "soon")
STATUS = ("draft", "done", "")
WORDS = ("The pier costs 120 euros.", "The ferry carried 310 passengers.", "東港の予算は十二万。")
OTHERS = {"map.canvas": b"{}", "photo.png": b"\x89PNG", "Harbour plan.base": b"views: []"}
DAILY = (b'{"format": "YYYY-MM-DD"}', b'{"format": "DD.MM.YYYY"}', b"broken")
_DAILY_FILE = ".obsidian/daily-notes.json"
_FIRST_DAY = 1_700_000_000  # seconds since 1970: the file time of the first edit
_DAY = 86_400


class Pick(Protocol):
    """Chooses one of several."""

    def __call__(self, options: Sequence[T]) -> T:
        """Return one of the options, of which there is at least one."""


@dataclass(frozen=True)
class Note:
    """What a note says, part by part, so that a part can be edited alone."""

    heading: str = ""
    aliases: tuple[str, ...] = ()
    date: str = ""
    status: str = ""
    lines: tuple[str, ...] = ()
    newline: str = "\n"
    encoding: str = "utf-8"

    def to_bytes(self) -> bytes:
        """Return the note's file."""
        front = [f"aliases: [{', '.join(self.aliases)}]"] if self.aliases else []
        front += [f"date: {self.date}"] if self.date else []
        front += [f"status: {self.status}"] if self.status else []
        head = ["---", *front, "---"] if front else []
        title = [f"# {self.heading}", ""] if self.heading else []
        text = self.newline.join([*head, *title, *self.lines, ""])
        return text.encode(self.encoding, "replace")


class Content(NamedTuple):
    """All of a file that a build may look at but its time."""

    is_note: bool
    content: bytes


class EditedVault:
    """A vault's folder, and the notes and files that lie in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes: dict[str, Note] = {}  # by NFC path
        self.others: dict[str, bytes] = {}
        self.stubs: set[str] = set()  # notes whose text is only online
        self.daily = b""
        self._spelled: dict[str, str] = {}  # where the disk has another Unicode form
        self._edits = 0

    def write(self, path: str, note: Note) -> None:
        """Write a note; its file time moves on."""
        self.notes[path] = note
        self._put(self._spelled.get(path, path), note.to_bytes())

    def write_other(self, path: str, content: bytes) -> None:
        """Write a file that is no note."""
        self.others[path] = content
        self._put(path, content)

    def write_daily(self, content: bytes) -> None:
        """Write Obsidian's own setting for the names of daily notes."""
        self.daily = content
        self._put(_DAILY_FILE, content)

    def remove(self, path: str) -> None:
        """Delete a note or another file."""
        self.file(path).unlink()
        self._forget(path)

    def remove_folder(self, folder: str) -> None:
        """Delete a folder with all it holds."""
        shutil.rmtree(self.root / folder)
        for path in self._below(folder):
            self._forget(path)

    def rename(self, path: str, target: str) -> None:
        """Move a file as it is, file time included, to an NFC path."""
        self._move(path, target)
        if path in self.notes:
            self.notes[target] = self.notes.pop(path)
        else:
            self.others[target] = self.others.pop(path)

    def rename_folder(self, folder: str, target: str) -> None:
        """Rename a folder with all it holds."""
        for path in self._below(folder):
            self.rename(path, target + path[len(folder) :])
        shutil.rmtree(self.root / folder)

    def spell_otherwise(self, path: str) -> None:
        """Write a note's name in the other Unicode form: it stays the same note."""
        here = self.file(path)
        name = unicodedata.normalize("NFD", path.rpartition("/")[2])
        form = path[: len(path) - len(path.rpartition("/")[2])] + name
        self._spelled[path] = path if self._spelled.get(path) == form else form
        here.rename(self.file(path))

    def make_stub(self, path: str) -> None:
        """Leave of a note what iCloud leaves when its text is only online."""
        self.file(path).rename(self._stub(path))
        self.stubs.add(path)

    def fetch(self, path: str) -> None:
        """Bring a note's text back."""
        self._stub(path).rename(self.root / path)
        self.stubs.discard(path)

    def touch(self, path: str) -> None:
        """Move a file's time on."""
        self._stamp(self.file(path))

    def file(self, path: str) -> Path:
        """Return where a note or another file lies on the disk."""
        return self.root / self._spelled.get(path, path)

    def here(self) -> list[str]:
        """Return the notes whose text can be read, sorted."""
        return sorted(set(self.notes) - self.stubs)

    def is_free(self, path: str) -> bool:
        """Tell whether nothing lies at a path, on a disk that knows no capitals either."""
        taken = path in self.notes or path in self.others
        return not taken and not (self.root / path).exists()

    def folders(self) -> list[str]:
        """Return the folders at the top that hold anything, sorted; "" is the root."""
        return sorted({top_folder(path) for path in (*self.notes, *self.others)})

    def contents(self) -> dict[str, dict[str, Content]]:
        """Return folder -> path -> what each file says, and which names and stubs there are.

        A name's spelling and a stub stand under names of their own: they change no text.
        """
        found: dict[str, dict[str, Content]] = {}
        for path in sorted({*self.notes, *self.others}):
            files = found.setdefault(top_folder(path), {})
            note = self.notes.get(path)
            content = note.to_bytes() if note else self.others[path]
            files[path] = Content(note is not None, content)
            files[f"{path} spelled"] = Content(False, self._spelled.get(path, path).encode())
            files[f"{path} is a stub"] = Content(False, b"%d" % (path in self.stubs))
        return found

    def _below(self, folder: str) -> list[str]:
        return sorted(path for path in (*self.notes, *self.others) if is_below(path, folder))

    def _forget(self, path: str) -> None:
        self.notes.pop(path, None)
        self.others.pop(path, None)
        self._spelled.pop(path, None)
        self.stubs.discard(path)

    def _move(self, path: str, target: str) -> None:
        self._spelled.pop(target, None)
        source, goal = self.file(path), self.root / target
        if path in self.stubs:
            source, goal = self._stub(path), self._stub(target)
            self.stubs ^= {path, target}
        self._spelled.pop(path, None)
        goal.parent.mkdir(parents=True, exist_ok=True)
        source.rename(goal)

    def _stub(self, path: str) -> Path:
        return (self.root / path).with_name(f".{path.rpartition('/')[2]}.icloud")

    def _put(self, path: str, content: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self._stamp(target)

    def _stamp(self, file: Path) -> None:
        """Give each edit a file time of its own, some on the same day, none from this clock."""
        self._edits += 1
        seconds = _FIRST_DAY + self._edits * _DAY // 3
        os.utime(file, (seconds, seconds))


def top_folder(path: str) -> str:
    """Return the folder a file counts to when folders are told apart by their first part."""
    return path.split("/")[0] if "/" in path else ""


def is_below(path: str, folder: str) -> bool:
    """Tell whether a file lies in a folder or below it; all lie below ""."""
    return not folder or path.startswith(f"{folder}/")
