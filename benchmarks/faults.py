"""Fail every write, fsync and rename of a build in turn, then fill the disk at many levels.

`python -m benchmarks.faults` builds a small vault, edits it, and builds it again with the n-th
call failing, for all n. After each: the old build must answer, the failure must be told, and a
build without faults must end where an undisturbed one over an empty store does. With `--levels N`
(needs root, for a small tmpfs) `kb build` runs out of space at N fill levels and goes on once
there is room again.
"""

import argparse
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.direct_build import build_directly
from benchmarks.kills import is_of_one_piece
from benchmarks.report import progress, report
from kb_core.errors import KbError
from kb_serve.new_home import make_home
from resources.builds import Builds
from resources.home import Home
from tests.eval_vault import TOPICS, make_eval_vault, note_path, note_text, write_questions
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

ROOT = Path(__file__).resolve().parent.parent
_KINDS = ("create", "write", "fsync", "rename")
_ERRORS = (errno.EIO, errno.ENOSPC)
_MB = 2**20


def main() -> int:
    """Run the faults; status 1 if one was silent or left anything behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, default=0, help="fill levels of a small disk")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th call")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, OllamaStandIn() as server:
        os.environ["KB_EMBEDDER__ENGINE"] = "ollama"
        os.environ["KB_EMBEDDER__URL"] = server.url
        os.environ["KB_CHUNKS__TOKEN_COUNTER"] = "regex"
        trial = Trial(Path(scratch))
        figures: dict[str, float] = {}
        figures |= trial.fail_each(arguments.every)
        if arguments.levels:
            figures |= trial.fill(arguments.levels)
    aims = {
        name: "<= 0"
        for name in figures
        if name.endswith(("silent", "not_answering", "differing", "without_words"))
    }
    return 0 if report("faults", figures, aims) else 1


class Trial:
    """A vault that was built once and then edited, and copies of its home."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._vault = make_eval_vault(scratch / "vault")
        self._edit("edition00001")
        self._first = make_home(self._vault, scratch / "first")
        write_questions(self._first.root)
        build_directly(self._first)
        self._edit("edition00002")

    def _edit(self, edition: str) -> None:
        for number, topic in enumerate(TOPICS):
            put(self._vault, note_path(topic), note_text(topic, number, edition))

    def fail_each(self, every: int) -> dict[str, float]:
        """Fail each call of a second build in turn."""
        counts: Counter[str] = Counter()
        with counted_faults(0) as calls:
            build_directly(self._copy())
        total = sum(calls.values())
        for number in range(1, total + 1, every):
            home = self._copy()
            told = self._told(home, number)
            counts["told"] += told
            counts["not_answering"] += not answers(home.root)
            build = self._build(home)
            is_equal = build == self._rebuilt(home)
            counts["differing"] += not is_equal
            counts["silent"] += not told and not is_equal
            if number % 50 == 1:
                progress(f"{number} of {total} calls: {dict(counts)}")
        by_kind = {f"calls_{kind}": calls[kind] for kind in _KINDS}
        names = ("told", "silent", "not_answering", "differing")
        return {**by_kind, **{f"faults_{name}": counts[name] for name in names}}

    def fill(self, levels: int) -> dict[str, float]:
        """Let `kb build` run out of space at many levels, then give it room."""
        counts: Counter[str] = Counter()
        size = sum(path.stat().st_size for path in self._first.root.rglob("*") if path.is_file())
        with tmpfs(self._scratch / "disk", size + 64 * _MB) as disk:
            for level in range(levels):
                shutil.copytree(self._first.root, disk / "home", dirs_exist_ok=True)
                room = int(level * 6 * _MB / levels)
                counts.update(self._fill_once(disk, room))
                shutil.rmtree(disk / "home")
                progress(f"level {level + 1} of {levels}: {dict(counts)}")
        names = ("refused", "finished", "without_words", "not_answering", "differing")
        return {f"disk_{name}": counts[name] for name in names}

    def _fill_once(self, disk: Path, room: int) -> Iterator[str]:
        home = disk / "home"
        ballast = disk / "ballast"
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(disk).free - room))
        done = self._kb("build", "--json", "--home", str(home))
        yield "finished" if done.returncode == 0 else "refused"
        if done.returncode and not says_why(done.stdout, done.stderr):
            progress(done.stderr[-800:])
            yield "without_words"
        if not answers(home):
            yield "not_answering"
        ballast.unlink()
        after = self._kb("build", "--json", "--home", str(home))
        opened = Home.open(home)
        is_whole = after.returncode == 0
        if not is_whole or Builds(opened.data).current() != self._rebuilt(opened):
            progress(after.stderr[-800:])
            yield "differing"

    def _told(self, home: Home, number: int) -> bool:
        """Build with the n-th call failing; tell whether the failure came out as an error."""
        try:
            with counted_faults(number):
                build_directly(home)
        except (OSError, KbError):
            return True
        return False

    def _build(self, home: Home) -> str:
        try:
            build_directly(home)
        except (OSError, KbError) as problem:
            progress(f"the build after a fault failed: {type(problem).__name__}: {problem}")
            return ""
        return Builds(home.data).current()

    def _rebuilt(self, home: Home) -> str:
        """Return the build of an empty store over the same journal and caches."""
        other = self._scratch / "rebuilt"
        shutil.rmtree(other, ignore_errors=True)
        fresh = make_home(self._vault, other)
        for name in ("history", "cache", "eval"):
            shutil.copytree(home.data / name, fresh.data / name, dirs_exist_ok=True)
        build_directly(fresh)
        return Builds(fresh.data).current()

    def _copy(self) -> Home:
        target = self._scratch / "home"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self._first.root, target)
        return Home.open(target)

    def _kb(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "kb_serve.cli", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )


def answers(home: Path) -> bool:
    """Tell whether the published build can be read whole and is of one edition."""
    try:
        return is_of_one_piece(home)
    except (KbError, OSError) as problem:
        progress(f"not answering: {problem}")
        return False


def says_why(output: str, errors: str) -> bool:
    """Tell whether a failed command said so in words: an error object, and no traceback."""
    try:
        values: dict[str, Any] = json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        return False
    return "Traceback" not in errors and bool(values.get("errors") or values.get("message"))


class Faults:
    """Counts the calls that change a file and fails the n-th of them (0: none)."""

    def __init__(self, failing: int) -> None:
        self._failing = failing
        self.calls: Counter[str] = Counter()
        self._open, self._fdopen = os.open, os.fdopen
        self._fsync, self._replace = os.fsync, os.replace

    def tick(self, kind: str) -> None:
        """Count a call. Raises OSError when it is the one to fail."""
        self.calls[kind] += 1
        number = sum(self.calls.values())
        if number == self._failing:
            code = _ERRORS[number % len(_ERRORS)]
            raise OSError(code, os.strerror(code), kind)

    def open(self, path: Any, flags: int, *more: Any, **options: Any) -> int:
        """Stand in for os.open."""
        if flags & (os.O_WRONLY | os.O_RDWR):
            self.tick("create")
        return self._open(path, flags, *more, **options)

    def fdopen(self, descriptor: int, mode: str = "r", *more: Any, **options: Any) -> Any:
        """Stand in for os.fdopen."""
        if mode == "wb":
            return io.BufferedWriter(_TornFile(descriptor, self))
        return self._fdopen(descriptor, mode, *more, **options)

    def fsync(self, descriptor: int) -> None:
        """Stand in for os.fsync."""
        self.tick("fsync")
        self._fsync(descriptor)

    def replace(self, source: Any, target: Any) -> None:
        """Stand in for os.replace."""
        self.tick("rename")
        self._replace(source, target)


class _TornFile(io.FileIO):
    """A file whose failing write leaves half of its bytes, as a full disk does."""

    def __init__(self, descriptor: int, faults: Faults) -> None:
        super().__init__(descriptor, "wb")
        self._faults = faults

    def write(self, data: Any, /) -> int:
        try:
            self._faults.tick("write")
        except OSError:
            super().write(memoryview(data)[: len(data) // 2])
            raise
        return super().write(data)


@contextmanager
def counted_faults(failing: int) -> Iterator[Counter[str]]:
    """Count the calls of the block that change a file; the n-th of them fails (0: none)."""
    faults = Faults(failing)
    with (
        mock.patch.object(os, "fsync", faults.fsync),
        mock.patch.object(os, "replace", faults.replace),
        mock.patch.object(os, "open", faults.open),
        mock.patch.object(os, "fdopen", faults.fdopen),
    ):
        yield faults.calls


@contextmanager
def tmpfs(path: Path, size: int) -> Iterator[Path]:
    """Mount a small disk in memory. Needs root."""
    path.mkdir()
    subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], check=True
    )
    try:
        yield path
    finally:
        subprocess.run(["/bin/umount", str(path)], check=True)


if __name__ == "__main__":
    sys.exit(main())
