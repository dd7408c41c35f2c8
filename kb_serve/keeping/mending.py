"""Take away what is damaged and can be made anew, so that the next build makes just that.

Nothing is thrown away: damaged files go to `data/damaged`, where `kb gc` collects them. The
journal, records of decisions and the user's own files are never touched. Callers hold the lease
of the home. Safe to stop anywhere and to repeat.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kb_assets.build.publish import pinned
from kb_serve.keeping import damage
from kb_serve.keeping.damage import Damage, Kind
from resources.atomic_files import make_private_folder, sync_folder
from resources.builds import Builds
from resources.closure import build_files
from resources.home import Home
from resources.vector_rows import save_sound_rows

FOLDER = "damaged"

_AGAIN = "the next `kb build` makes it anew"


@dataclass(frozen=True)
class Mended:
    """What was done about a damaged file."""

    path: str
    done: str


def mend(home: Home, damages: Sequence[Damage]) -> list[Mended]:
    """Mend what can be mended; return what was done, in the order of the damages."""
    return [
        Mended(each.path, _ACTIONS.get(each.kind, _move_away)(home, each))
        for each in damages
        if each.kind.is_mendable
    ]


def set_aside(home: Home, path: Path) -> None:
    """Move a file below the home's data to `data/damaged`; one that is not there is no problem."""
    target = home.data / FOLDER / path.relative_to(home.data)
    make_private_folder(target.parent)
    try:
        path.replace(target)
    except FileNotFoundError:
        return
    sync_folder(path.parent)


def _move_away(home: Home, found: Damage) -> str:
    path = home.data / found.path
    for ending in ("", "-wal", "-shm"):  # a database's log belongs to it alone
        set_aside(home, path.with_name(path.name + ending))
    return _AGAIN if found.kind not in (damage.UNUSED, damage.OLD_REPORT) else "moved away"


def _let_go(home: Home, found: Damage) -> str:
    """Give up the builds that need a file which nothing can make anew."""
    builds = Builds(home.data)
    path = home.data / found.path
    set_aside(home, path)
    if path.parent.name == "builds":
        gone = [path.stem]
    else:
        file = found.path.removeprefix("store/")
        gone = [name for name in builds.names() if file in build_files(builds.read(name))]
    builds.log_published([name for name in builds.published() if name not in gone])
    for own in (each for name in gone for each in builds.files(name)):
        set_aside(home, own)
    return f"{len(gone)} earlier builds let go"


def _point(home: Home, _found: Damage) -> str:
    builds = Builds(home.data)
    there = set(builds.names())
    wanted = [name for name in (*builds.published(), pinned(home)) if name in there]
    if not wanted:
        set_aside(home, home.data / "CURRENT")
        return "no build is left to answer; the next `kb build` publishes one"
    builds.point_to(wanted[-1])
    return f"build {wanted[-1][:12]} answers"


def _shorten_log(home: Home, _found: Damage) -> str:
    builds = Builds(home.data)
    there = set(builds.names())
    kept = [name for name in builds.published() if name in there]
    builds.log_published(kept)
    return f"{len(kept)} builds stay in the list"


def _save_vectors(home: Home, found: Damage) -> str:
    return f"{save_sound_rows(home.data / found.path):,} sound vectors kept"


_ACTIONS: Mapping[Kind, Callable[[Home, Damage], str]] = {
    damage.OLD_FILE: _let_go,
    damage.CURRENT: _point,
    damage.PUBLISHED: _shorten_log,
    damage.VECTORS: _save_vectors,
}
