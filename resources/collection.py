"""Remove stored files that nothing needs, in an order that may stop anywhere.

A build leaves the lists before its files go, so that nobody is pointed to half of one. What
remains of an interrupted collection is found by the next. Callers hold the lease of the home:
a file that a build is about to name looks like one that nothing names.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resources.atomic_files import TEMPORARY, sync_folder
from resources.builds import Builds
from resources.closure import kept_files, stored_files
from resources.tables import TableStore


@dataclass(frozen=True)
class Collection:
    """What may go."""

    builds: tuple[str, ...]
    build_files: tuple[Path, ...]  # those builds' own, and reports of builds that are gone
    stored: tuple[Path, ...]  # files of the store that nothing names
    leftovers: tuple[Path, ...]  # of writers that died, and what `kb verify` put aside

    @property
    def bytes(self) -> int:
        """How much room all of it takes."""
        files = (*self.build_files, *self.stored, *self.leftovers)
        return sum(path.stat().st_size for path in files if path.is_file())


def plan_collection(
    data: Path, needed: Iterable[str], *, keep: int, aside: Path, until: float
) -> Collection:
    """Choose what may go of a home's data.

    `needed` builds stay, and the last `keep` that were published. Nothing that changed at or
    after `until`, in seconds since 1970, goes. `aside` holds damaged files.
    Raises StoreError when a pointer, or a manifest that stays, is damaged.
    """
    builds, store = Builds(data), TableStore(data / "store")
    kept = {*needed, *_last(builds.published(), keep)}
    gone = [
        name
        for name in builds.by_age()
        if name not in kept and _is_before(builds.files(name)[0], until)
    ]
    staying = [name for name in builds.names() if name not in gone]
    named = kept_files(store, builds, staying)
    unnamed = [
        path
        for path in stored_files(store)
        if path.relative_to(store.root).as_posix() not in named and _is_before(path, until)
    ]
    own = [path for name in gone for path in builds.files(name) if path.is_file()]
    orphans = [path for path in builds.orphans() if _is_before(path, until)]
    leftovers = [path for path in _leftovers(data, aside) if _is_before(path, until)]
    return Collection(tuple(gone), (*own, *orphans), tuple(unnamed), tuple(leftovers))


def collect(data: Path, planned: Collection) -> None:
    """Remove what was planned. Raises OSError; what is gone by then stays gone."""
    builds = Builds(data)
    gone = set(planned.builds)
    if gone & set(builds.published()):
        builds.log_published([name for name in builds.published() if name not in gone])
    for path in planned.build_files:
        path.unlink(missing_ok=True)
    if planned.build_files:
        sync_folder(data / "builds")  # before the files these builds name
    for path in (*planned.stored, *planned.leftovers):
        path.unlink(missing_ok=True)
    for path in sorted({path.parent for path in planned.stored}):
        with contextlib.suppress(OSError):  # not empty: the folder still holds something
            path.rmdir()


def _last(published: Sequence[str], keep: int) -> list[str]:
    """Return the last `keep` different builds of the list."""
    return list(dict.fromkeys(reversed(published)))[:keep]


def _is_before(path: Path, until: float) -> bool:
    return path.stat().st_mtime < until


def _leftovers(data: Path, aside: Path) -> list[Path]:
    """Return temporary files of any writer, and what was put aside, sorted."""
    inside = [data / name for name in ("store", "builds", "history", "cache")]
    found = {path for folder in inside for path in folder.rglob(f"*{TEMPORARY}*")}
    found |= {*data.glob(f"*{TEMPORARY}*"), *aside.rglob("*")}
    return sorted(path for path in found if path.is_file())
