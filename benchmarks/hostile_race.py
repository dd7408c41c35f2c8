"""Swap a folder and a note for links out of the vault as fast as possible, while a reader reads.

One process swaps; this one lists and reads through `LocalVault`, and now and then the way that is
tempting, by resolving the path first and opening it then. That one is let out, or the race is none.
"""

import contextlib
import multiprocessing
import os
import time
from collections import Counter
from multiprocessing.synchronize import Event
from pathlib import Path

from benchmarks.hostile_vault import is_marked
from benchmarks.report import progress
from kb_core.settings import VaultSettings
from resources.vault import Entry, LocalVault

_LISTING_EVERY = 20
_NAIVE_EVERY = 2


def race(root: Path, outside: Path, seconds: float) -> Counter[str]:
    """Count reads, listings and escapes of both readers; `root` is a folder of its own."""
    _prepare(root)
    stop = multiprocessing.Event()
    swapper = multiprocessing.Process(target=_swap, args=(root, outside, stop))
    swapper.start()
    try:
        counts = _read(root, seconds)
    finally:
        stop.set()
        swapper.join(10)
    return counts


def _prepare(root: Path) -> None:
    (root / "folder" / "deep").mkdir(parents=True)
    for path in ("folder/secret.md", "folder/deep/secret.md", "note.md"):
        (root / path).write_text("harmless")


def _swap(root: Path, outside: Path, stop: Event) -> None:
    """Put links in the place of a folder, a folder below it, and a note; and take them away."""
    (outside / "deep").mkdir(exist_ok=True)
    (outside / "deep" / "secret.md").write_bytes((outside / "folder" / "secret.md").read_bytes())
    targets = {
        "folder": outside / "folder",
        "folder/deep": outside / "deep",
        "note.md": outside / "secret.md",
    }
    for number, target in enumerate(targets.values()):
        (root / f".link{number}").symlink_to(target)
    while not stop.is_set():
        for number, name in enumerate(targets):
            _exchange(root / name, root / f".link{number}", root / ".spare")


def _exchange(real: Path, link: Path, spare: Path) -> None:
    real.rename(spare)
    link.rename(real)
    real.rename(link)
    spare.rename(real)


def _read(root: Path, seconds: float) -> Counter[str]:
    vault = LocalVault(root, VaultSettings())
    paths = ("folder/secret.md", "folder/deep/secret.md", "note.md")
    entries = [Entry(path, path.encode(), 8, 0, "local") for path in paths]
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        counts["rounds"] += 1
        for entry in entries:
            content = vault.read(entry).content
            counts["reads"] += 1
            counts["refused"] += content is None
            counts["escapes"] += content is not None and is_marked(content)
        if counts["rounds"] % _LISTING_EVERY == 0:
            counts["listings"] += 1
            counts["escapes"] += any(is_marked(entry.raw_path) for entry in vault.list())
        if counts["rounds"] % _NAIVE_EVERY == 0:
            counts["naive_escapes"] += sum(_is_let_out(root, path) for path in paths)
    progress(f"race: {counts['reads'] / seconds:.0f} reads a second, {dict(counts)}")
    return counts


def _is_let_out(root: Path, path: str) -> bool:
    """Read as one should not: look where a path leads, then open it."""
    with contextlib.suppress(OSError):
        if not os.path.realpath(root / path).startswith(f"{root}/"):
            return False
        return is_marked((root / path).read_bytes())
    return False
