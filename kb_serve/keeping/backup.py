"""Copy what a home cannot do without into a new folder, and see that it arrived.

`DIR/home/` mirrors the home; `DIR/backup.json` lists every file with its hash, under a seal, and
is written last: a folder without it is no backup, or one that was cut off.
"""

import datetime as dt
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kb_core.errors import HomeError, StoreError
from kb_core.settings import FILE_NAME
from kb_serve.keeping.checks import LEASES, VECTOR_CACHE
from kb_serve.keeping.named import current_build, needed_builds
from resources.atomic_files import TEMPORARY, make_private_folder, sync_folder, write_atomically
from resources.builds import Builds
from resources.closure import STORED, kept_files
from resources.content_names import file_hash
from resources.copies import copy_database, copy_file
from resources.home import Home
from resources.leases import HOME
from resources.seals import sealed, unsealed
from resources.soundness import database_problem, lines_problem, sealed_problem
from resources.vector_rows import cache_problem

MANIFEST = "backup.json"
MIRROR = "home"
FORMAT = 1

_SETTINGS = (FILE_NAME, "dagster.yaml", "data/ontology.toml")
# Below data/. The user's own files, and the journal with the history of scores.
_USERS = ("eval", "overrides")
_WHOLE_FOLDERS = (*_USERS, "history")
_CHECKS = {".json": sealed_problem, ".jsonl": lines_problem, ".sqlite": database_problem}
_WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class Backup:
    """A backup that was read or made."""

    build: str  # the one that answers; empty if none does
    vault: str
    files: dict[str, tuple[int, str]]  # path below the mirror -> bytes, hash

    @property
    def bytes(self) -> int:
        """How much it holds."""
        return sum(size for size, _ in self.files.values())


def make_backup(home: Home, folder: Path) -> Backup:
    """Copy a home into a new folder while nobody writes, and check every copy.

    Raises HomeError for a folder that cannot be used, BusyError while something is being built,
    StoreError when a file of the home is damaged or a copy is not like its original.
    """
    _check_place(home, folder)
    with home.leases.hold(HOME, wait_seconds=_WAIT_SECONDS):
        sources = list(_sources(home))  # before anything is written: damage shows here
        make_private_folder(folder)
        mirror = folder / MIRROR
        files = {path: _copy(home.root, mirror, path) for path in sources}
        files |= _log_of(home, mirror)
    made = Backup(current_build(home), str(home.vault_path), dict(sorted(files.items())))
    check_files(mirror, made)
    write_atomically(folder / MANIFEST, sealed(_to_json(made)))
    return made


def read_backup(folder: Path) -> Backup:
    """Read what a backup holds. Raises StoreError when it is none, cut off or damaged."""
    path = folder / MANIFEST
    try:
        values = unsealed(path.read_bytes())
        if values["format"] != FORMAT:
            raise StoreError(
                f"{folder} is a backup of format {values['format']}, this version reads {FORMAT}."
            )
        files = {_inside(name): (size, digest) for name, (size, digest) in values["files"].items()}
        return Backup(values["build"], values["vault"], files)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{folder} has no {MANIFEST}: it is no backup, or one that was cut off. "
            "`kb backup DIR` makes one in a new folder."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StoreError(
            f"{path} is damaged, so nobody can tell whether the backup is whole. Use another one."
        ) from None


def _inside(path: str) -> str:
    """Refuse a path that would be written elsewhere: a list may come from anywhere."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError("a path that leads out of the backup")
    return path


def check_files(root: Path, backup: Backup) -> None:
    """See that every file of a backup lies below `root`. Raises StoreError naming the first."""
    for path, (_, digest) in backup.files.items():
        try:
            found = file_hash(root / path)
        except FileNotFoundError:
            raise StoreError(f"{root / path} is missing. The copy is not whole.") from None
        if found != digest:
            raise StoreError(
                f"{root / path} is not what was copied: that disk, or this one, loses data. "
                "Try another disk."
            )


def _check_place(home: Home, folder: Path) -> None:
    place = folder.resolve()
    for taken, what in ((home.root.resolve(), "home"), (home.vault_path, "vault")):
        if taken == place or taken in place.parents:
            raise HomeError(f"{folder} lies inside the {what} {taken}. Choose a folder outside.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        is_cut_off = (folder / MIRROR).is_dir() and not (folder / MANIFEST).exists()
        raise HomeError(
            f"{folder} is there already and is not empty. Choose a new folder for each backup."
            + (" A backup that was cut off lies in it: delete it." if is_cut_off else "")
        )


def _sources(home: Home) -> Iterator[str]:
    """Yield what is copied as it is, below the home. Raises StoreError for what is damaged."""
    data = home.data
    builds, needed = Builds(data), needed_builds(home)
    own = [path for name in needed for path in builds.files(name)]
    stored = [home.store.root / file for file in kept_files(home.store, builds, needed)]
    whole = [path for name in _WHOLE_FOLDERS for path in (data / name).rglob("*")]
    pointers = [path for path, _ in home.store.pointers()]
    records = [data / "CURRENT", *sorted(data.glob("*.json"))]
    settings = [home.root / name for name in _SETTINGS]
    caches = sorted(path for path in data.glob("cache/*.sqlite") if path != data / LEASES)
    for path in (*settings, *records, *own, *stored, *whole, *pointers, *caches):
        if path.is_file() and TEMPORARY not in path.name:
            _refuse_damaged(home, path)
            yield path.relative_to(home.root).as_posix()
    missing = [path for path in stored if not path.is_file()]
    if missing:
        raise StoreError(f"{missing[0]} is missing. `kb verify` says what to do.")


def _refuse_damaged(home: Home, path: Path) -> None:
    """A backup of damaged files would be trusted like a sound one.

    Content-named files are compared with their names while they are copied.
    """
    if path.relative_to(home.root).parts[1:2] in [(name,) for name in _USERS]:
        return
    if path == home.data / VECTOR_CACHE:
        problem = cache_problem(path)
    else:
        check = _CHECKS.get(path.suffix)
        problem = check(path) if check else ""
    if problem:
        raise StoreError(f"{path} is damaged: {problem}. `kb verify` says what to do first.")


def _copy(root: Path, mirror: Path, path: str) -> tuple[int, str]:
    source, target = root / path, mirror / path
    if path.startswith("data/cache/"):
        _copy_database(source, target)
        return target.stat().st_size, file_hash(target)
    size, digest = copy_file(source, target)
    is_named_by_hash = path.startswith(("data/store/", "data/history/"))
    if is_named_by_hash and source.suffix in STORED and digest != source.stem:
        raise StoreError(
            f"{source} is damaged: its bytes are not those it is named by. `kb verify` says what "
            "to do first."
        )
    return size, digest


def _copy_database(source: Path, target: Path) -> None:
    try:
        copy_database(source, target)
    except sqlite3.Error as problem:
        raise StoreError(
            f"{source} cannot be copied ({problem}). `kb verify` says what to do first."
        ) from None


def _log_of(home: Home, mirror: Path) -> dict[str, tuple[int, str]]:
    """Write the list of builds that answered, without those that are not copied."""
    needed = set(needed_builds(home))
    kept = [name for name in Builds(home.data).published() if name in needed]
    if not kept:
        return {}
    Builds(mirror / "data").log_published(kept)
    path = mirror / "data" / "builds" / "published.log"
    sync_folder(path.parent)
    return {path.relative_to(mirror).as_posix(): (path.stat().st_size, file_hash(path))}


def _to_json(made: Backup) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "build": made.build,
        "vault": made.vault,
        "files": {path: list(held) for path, held in made.files.items()},
    }
