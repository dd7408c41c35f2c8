"""Check what the store and the builds hold: every file against the hash it is named by.

Looks only. What stands in a damaged pointer or manifest is unknown, so its files count as named
by nobody: they are made anew with it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kb_assets.build.publish import baseline, pinned
from kb_core.errors import HomeError, NotBuiltError, StoreError
from kb_serve.keeping import damage
from kb_serve.keeping.damage import Damage
from kb_serve.keeping.meter import Meter
from resources.builds import Builds
from resources.closure import build_files, stored_files
from resources.content_names import MISSING
from resources.home import Home
from resources.soundness import sealed_problem

_NO_BUILD = "it names a build that is not there"


@dataclass
class Naming:
    """Which files are named, by what the folders hold now and by which builds."""

    now: set[str] = field(default_factory=set)
    builds: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def files(self) -> list[str]:
        """Return every named file, sorted."""
        return sorted(self.now | set(self.builds))


class NamedFiles:
    """The store and the builds of one home, to be checked."""

    def __init__(self, home: Home, meter: Meter) -> None:
        self._home = home
        self._builds = Builds(home.data)
        self._meter = meter
        self.naming = Naming()
        self.current = current_build(home)
        self._last = noted_build(home, "last-build")
        self._compared = noted_build(home, "baseline")

    def problems(self, *, everything: bool) -> Iterator[Damage]:
        """Check pointers, builds and what they name; with `everything`, what nothing names too."""
        yield from self._pointers()
        for name in self._builds.names():
            yield from self._manifest(name)
        yield from self._files(self.naming.files())
        if everything:
            yield from self._unused()
        for name in self._builds.names():
            yield from self._beside(name)
        yield from self._who_answers()

    def problems_of(self, build: str) -> Iterator[Damage]:
        """Check one build alone: its manifest, the files it names, its report and its scores."""
        for _ in self._pointers():
            pass  # only to know which files are made anew
        yield from self._manifest(build)
        yield from self._files(sorted(self.naming.builds))
        yield from self._beside(build)

    def _pointers(self) -> Iterator[Damage]:
        store = self._home.store
        for path in sorted(store.root.glob("*/*.json")):
            self._meter.look_at(path)
            try:
                pointer = store.pointer(path.parent.name, path.stem)
            except StoreError:
                yield Damage(self._below(path), sealed_problem(path), damage.POINTER)
                continue
            self.naming.now.update(pointer.files.values() if pointer else ())

    def _manifest(self, name: str) -> Iterator[Damage]:
        path = self._builds.files(name)[0]
        problem = self._meter.hashed(path)
        if problem:
            kind = damage.MANIFEST if name == self._last else self._kind_of_old([name])
            yield Damage(self._below(path), problem, kind)
            return
        for file in build_files(self._builds.read(name)):
            self.naming.builds[file].append(name)

    def _files(self, files: list[str]) -> Iterator[Damage]:
        for file in files:
            problem = self._meter.hashed(self._home.store.root / file)
            if problem:
                yield Damage(f"store/{file}", problem, self._kind(file))

    def _kind(self, file: str) -> damage.Kind:
        if file in self.naming.now:
            return damage.TABLE
        return self._kind_of_old(self.naming.builds[file])

    def _kind_of_old(self, builds: Sequence[str]) -> damage.Kind:
        """Return what it means that these builds lack something nothing makes anew."""
        if self.current in builds:
            return damage.ANSWERS_ONLY
        return damage.COMPARED_ONLY if self._compared in builds else damage.OLD_FILE

    def _unused(self) -> Iterator[Damage]:
        root = self._home.store.root
        named = set(self.naming.files())
        for path in stored_files(self._home.store):
            if path.relative_to(root).as_posix() in named:
                continue
            problem = self._meter.hashed(path)
            if problem:
                yield Damage(self._below(path), problem, damage.UNUSED)

    def _beside(self, name: str) -> Iterator[Damage]:
        is_last = name == self._last
        _, scores, report = self._builds.files(name)
        for path, kind in (
            (report, damage.REPORT if is_last else damage.OLD_REPORT),
            (scores, damage.SCORES),
        ):
            self._meter.look_at(path)
            problem = sealed_problem(path)
            if problem and problem != MISSING:  # a build that was never scored has none
                yield Damage(self._below(path), problem, kind)

    def _who_answers(self) -> Iterator[Damage]:
        there = set(self._builds.names())
        logged = self._builds.published()
        if self.current not in there and (self.current or logged):
            problem = _NO_BUILD if self.current else MISSING
            yield Damage("CURRENT", problem, damage.CURRENT)
        if not set(logged) <= there:
            yield Damage("builds/published.log", _NO_BUILD, damage.PUBLISHED)

    def _below(self, path: Path) -> str:
        return path.relative_to(self._home.data).as_posix()


def current_build(home: Home) -> str:
    """Return what the pointer says, whether there is such a build or not; empty without one."""
    try:
        return Builds(home.data).current()
    except NotBuiltError:
        return ""


def noted_build(home: Home, record: str) -> str:
    """Return the build that a record names; empty if it names none or is damaged."""
    try:
        return str(home.record(record).get("build", ""))
    except HomeError:
        return ""


def needed_builds(home: Home) -> list[str]:
    """Return the builds a home cannot do without, each once: what answers, is pinned, was last.

    The baseline, which scores are compared with, is one. Raises HomeError for a damaged record.
    """
    last = str(home.record("last-build").get("build", ""))
    names = (current_build(home), pinned(home), baseline(home), last)
    there = set(Builds(home.data).names())
    return [name for name in dict.fromkeys(names) if name in there]
