"""Read a folder's history out of the git repository it lies in. Reads alone; asks no network.

git runs as a program of its own, in an environment of ours: a vault may come from anywhere, and
what its repository configures (hooks, pagers, signature programs, file watchers, remotes to fetch
missing objects from) must not start anything.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kb_core.errors import VaultError

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # nothing is written, not even an index brought up to date
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OPTIONS = (
    "safe.directory=*",  # a vault on another disk may belong to another user: it is only read
    "safe.bareRepository=explicit",
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "protocol.allow=never",
)
_FILE_MODES = (b"100644", b"100755", b"100664")
_PART = 1 << 20


@dataclass(frozen=True)
class Change:
    """What one commit did to one file. Renames are a deletion and an addition."""

    raw_path: bytes  # below the folder that is asked about
    blob: str  # "" when the file is gone, or is no regular file any more
    is_new: bool


@dataclass(frozen=True)
class Commit:
    """One commit of the main line, and what it changed below the folder."""

    committed_at: int  # seconds since 1970, by the committer's clock
    is_cut_off: bool  # a shallow clone ends here: what it shows as new may be older
    changes: tuple[Change, ...]


class GitRepository:
    """The repository that a folder lies in."""

    def __init__(self, folder: Path) -> None:
        """Find it. Raises VaultError where git or the repository is missing."""
        self._folder = folder
        self._git = shutil.which("git") or ""
        if not self._git:
            raise VaultError("git is not installed, or not on the PATH. Install it and try again.")
        if self._text("rev-parse", "--is-inside-work-tree") != "true":
            raise VaultError(
                f"{folder} is not inside a git repository, so there is no history to import."
            )
        self.is_shallow = self._text("rev-parse", "--is-shallow-repository") == "true"
        self.has_commits = bool(self._text("rev-parse", "--verify", "--quiet", "HEAD"))

    def commits(self) -> Iterator[Commit]:
        """Yield the commits of the main line that changed the folder, oldest first.

        Merges count by what they brought into the main line. Raises VaultError if git fails.
        """
        if not self.has_commits:
            return
        with tempfile.TemporaryFile() as found:
            self._run(
                [
                    *("log", "--first-parent", "-m", "--reverse", "--raw", "-z", "--no-abbrev"),
                    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
                    *("--no-show-signature", "--no-decorate", "--relative", "--root"),
                    *("--format=%x01%ct %P", "HEAD", "--", "."),
                ],
                found,
            )
            found.seek(0)
            yield from _commits(_fields(found), is_shallow=self.is_shallow)

    def contents(self, blobs: Sequence[str], limit: int) -> dict[str, bytes]:
        """Return the bytes of these blobs; larger and missing ones are left out."""
        with tempfile.TemporaryFile() as wanted, tempfile.TemporaryFile() as found:
            wanted.write("".join(f"{blob}\n" for blob in blobs).encode("ascii"))
            wanted.seek(0)
            self._run(["cat-file", "--batch"], found, wanted)
            found.seek(0)
            return dict(_blobs(found, limit))

    def _text(self, *arguments: str) -> str:
        """Return what a short command prints; empty text when it fails."""
        done = subprocess.run(
            self._command(arguments),
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""

    def _run(
        self, arguments: Sequence[str], output: IO[bytes], given: IO[bytes] | None = None
    ) -> None:
        done = subprocess.run(
            self._command(arguments),
            env=self._environment(),
            stdin=given or subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            raise VaultError(
                f"git {arguments[0]} failed in {self._folder} (status {done.returncode}). The "
                "repository may be damaged, or a partial clone that lacks its files: try "
                "`git fsck` there, or clone it whole. Nothing was imported."
            )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        options = [part for option in _OPTIONS for part in ("-c", option)]
        return [self._git, "--no-pager", "-C", str(self._folder), *options, *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        return {**kept, **_ENVIRONMENT, "HOME": os.devnull}


def _fields(output: IO[bytes]) -> Iterator[bytes]:
    """Yield what stands between the NULs."""
    left = b""
    while part := output.read(_PART):
        *whole, left = (left + part).split(b"\0")
        yield from whole
    if left:
        yield left


def _commits(fields: Iterator[bytes], *, is_shallow: bool) -> Iterator[Commit]:
    """Read `\\x01TIME PARENTS`, then per file `:MODES BLOBS STATUS` and its path, and so on."""
    head, changes = b"", list[Change]()
    for field in fields:
        if field.startswith(b"\x01"):
            if head:
                yield _commit(head, changes, is_shallow=is_shallow)
            head, changes = field, []
        elif field.strip():
            changes.append(_change(field.strip(), next(fields)))
    if head:
        yield _commit(head, changes, is_shallow=is_shallow)


def _commit(head: bytes, changes: Sequence[Change], *, is_shallow: bool) -> Commit:
    time, _, parents = head[1:].partition(b" ")
    return Commit(int(time), is_shallow and not parents.strip(), tuple(changes))


def _change(raw: bytes, path: bytes) -> Change:
    _old_mode, mode, _old_blob, blob, status = raw[1:].split(b" ")
    is_file = mode in _FILE_MODES
    return Change(path, blob.decode("ascii") if is_file else "", status == b"A")


def _blobs(output: IO[bytes], limit: int) -> Iterator[tuple[str, bytes]]:
    """Read `BLOB TYPE SIZE`, a line break, the bytes, a line break; `BLOB missing` where not."""
    while line := output.readline():
        name, kind, *size = line.decode("ascii").split()
        if kind == "missing" or not size:
            continue
        content = output.read(int(size[0]))
        output.read(1)
        if kind == "blob" and len(content) <= limit:
            yield name, content
