"""Write a hostile vault with ways out of it, and look for what should never have been read.

Outside the vault lie canaries: files whose text, and whose names, stand nowhere else. Whatever
holds one of the two marks afterwards was let out. Tables are unpacked before they are searched.
"""

import contextlib
import os
import socket
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.hostile_notes import HostileNote

TEXT_MARK = b"canarytextq7x"
NAME_MARK = b"canarynameq7x"


@dataclass(frozen=True)
class HostileVault:
    """Where the vault and the outside lie, and what could not be made here."""

    root: Path
    outside: Path
    refused: int  # names the file system does not take
    specials: int
    unreadable_is_readable: bool  # whoever runs this may read everything


def write_vault(scratch: Path, notes: Iterable[HostileNote]) -> HostileVault:
    """Write the notes, and beside them links to everywhere, a pipe, a socket, a closed file."""
    root, outside = scratch / "vault", scratch / "outside"
    for folder in (root, outside / "folder"):
        folder.mkdir(parents=True)
    _write_canaries(outside)
    base = os.fsencode(root)
    refused = sum(not _write(base, note) for note in notes)
    specials = sum(_make_specials(root, outside))
    closed = root / "closed.md"
    return HostileVault(root, outside, refused, specials, os.access(closed, os.R_OK))


def _write_canaries(outside: Path) -> None:
    text = TEXT_MARK.decode()
    (outside / "secret.md").write_text(f"# {text}\n\n{text} stands outside the vault.\n")
    (outside / "folder" / "secret.md").write_text(f"{text}\n")
    (outside / "folder" / f"{NAME_MARK.decode()}.md").write_text(f"{text}\n")


def _write(base: bytes, note: HostileNote) -> bool:
    folder, _, name = note.path.rpartition(b"/")
    try:
        os.makedirs(base + b"/" + folder, exist_ok=True)  # noqa: PTH103 - the path is bytes
        with open(b"/".join(filter(None, (base, folder, name))), "wb") as file:  # noqa: PTH123
            file.write(note.content)
    except (OSError, ValueError):
        return False
    return True


def _make_specials(root: Path, outside: Path) -> Iterator[bool]:
    """Make what is no plain file; yield whether each could be made."""
    links = {
        "link to a file.md": outside / "secret.md",
        "link to a folder": outside / "folder",
        "link to a folder.md": outside / "folder",
        "link up": root.parent,
        "loop.md": root / "loop.md",
        "loop": root,
        "relative.md": Path("../outside/secret.md"),
        "dangling.md": outside / "nothing.md",
        "passwords.md": Path("/etc/passwd"),
        "zero.md": Path("/dev/zero"),
        ".obsidian": outside / "folder",
    }
    for name, target in links.items():
        yield _does(lambda name=name, target=target: (root / name).symlink_to(target))
    yield _does(lambda: os.mkfifo(root / "pipe.md"))
    yield _does(lambda: _listen(root / "socket.md"))
    yield _does(lambda: os.mknod(root / "device.md", stat.S_IFCHR | 0o600, os.makedev(1, 5)))
    for name, mode in (("closed.md", 0), ("closed folder", 0)):
        (root / name).mkdir() if "folder" in name else (root / name).write_text("closed")
        yield _does(lambda name=name, mode=mode: (root / name).chmod(mode))


def _listen(path: Path) -> None:
    # A socket's address must be short, so it is bound from beside it.
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as door:
        door.bind(path.name)


def _does(make: object) -> bool:
    assert callable(make)
    try:
        make()
    except OSError:
        return False
    return True


def places_of_canaries(home: Path) -> list[str]:
    """Return the files below a home that hold a mark, their contents unpacked."""
    files = sorted(path for path in home.rglob("*") if path.is_file())
    return [str(path.relative_to(home)) for path in files if _has_mark(path)]


def _has_mark(path: Path) -> bool:
    if is_marked(path.read_bytes()) or is_marked(os.fsencode(path.name)):
        return True
    if path.suffix == ".parquet":
        return is_marked(_unpacked(pq.read_table(path)))
    return path.suffix in (".sqlite", ".db") and is_marked(_dumped(path))


def is_marked(data: bytes) -> bool:
    """Tell whether bytes hold the text or the name of a canary."""
    return TEXT_MARK in data or NAME_MARK in data


def _unpacked(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    unpacked: bytes = sink.getvalue().to_pybytes()
    return unpacked


def _dumped(path: Path) -> bytes:
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return "\n".join(database.iterdump()).encode("utf-8", "surrogatepass")
