"""A home in which builds follow each other, each with the scores a test gives it."""

import shutil
from pathlib import Path

from kb_assets.build.publish import baseline, run_published
from kb_assets.build.regression import GATED
from resources.builds import Builds
from resources.home import Home
from tests.built_home import build, open_home
from tests.small_vault import put


def make_builds(root: Path) -> list[str]:
    """Make a home with three complete builds, none of them judged yet; return their names."""
    home = open_home(root / "home", root / "vault")
    names = []
    for edit in ("first", "second", "third"):
        put(root / "vault", "Work/Pier.md", f"# Pier\n\nThe {edit} pier.\n")
        put(root / "vault", "Ferry.md", "# Ferry\n\nThe ferry.\n")
        names.append(build(home))
    return names


def copy_road(root: Path, names: list[str], to: Path) -> "Road":
    """Return a copy of that home, to be changed."""
    shutil.copytree(root / "vault", to / "vault")
    shutil.copytree(root / "home", to / "home")
    return Road(open_home(to / "home", to / "vault"), names)


class Road:
    """A home in which builds follow each other, each with the scores a test gives it."""

    def __init__(self, home: Home, names: list[str]) -> None:
        self.home = home
        self.names = names
        self.builds = Builds(home.data)

    def last(self, at: int, score: float | None = 1.0, variant="hybrid", *, is_complete=True):
        """Make build `at` the last one, with these scores (None: not scored), and judge it."""
        name = self.names[at]
        evaluation = None if score is None else evaluated(score, variant)
        report = {"is_complete": int(is_complete), "evaluation": evaluation}
        self.builds.write_report(name, report)
        self.home.write_record("last-build", {"build": name})
        return run_published(self.home)[1]

    @property
    def answers(self) -> int:
        return self.names.index(self.builds.current())

    @property
    def baseline(self) -> int:
        return self.names.index(baseline(self.home))


def evaluated(score: float, variant: str):
    row = dict.fromkeys(GATED, score)
    return {
        "variant": variant,
        "figures": {},
        "questions": {f"q{n}": {"key": "k", **row} for n in range(10)},
    }


def remove(road: Road, at: int, what: str) -> None:
    """Delete a build's manifest, or a table that it alone holds."""
    if what == "manifest":
        (road.home.data / "builds" / f"{road.names[at]}.json").unlink()
        return
    others = {path for n, name in enumerate(road.names) if n != at for path in tables(road, name)}
    for path in tables(road, road.names[at]) - others:
        (road.home.store.root / path).unlink()


def tables(road: Road, name: str) -> set[str]:
    folders = road.builds.read(name)["folders"].values()
    return {folder["artifacts"]["chunks"]["files"]["table"] for folder in folders}
