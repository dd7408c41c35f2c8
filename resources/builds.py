"""Builds on the disk: manifests named by their own hash, and the pointer that readers follow.

A manifest is written once; `CURRENT` is replaced atomically at the end. The report beside a build
holds what is not reproducible: pending counts, times, scores.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kb_core.errors import NotBuiltError, StoreError
from kb_core.ids import bytes_hash, canonical_json, json_hash
from resources.atomic_files import write_atomically
from resources.seals import sealed, unsealed

FORMAT = 1  # raise it when readers of the old manifest cannot read the new one


class Builds:
    """The builds of one home."""

    def __init__(self, data: Path) -> None:
        self._folder = data / "builds"
        self._current = data / "CURRENT"
        self._log = self._folder / "published.log"

    def write(self, manifest: Mapping[str, Any]) -> str:
        """Store a manifest under its own hash and return that name."""
        name = json_hash(manifest)
        path = self._path(name)
        data = canonical_json(manifest).encode()
        if not path.is_file() or path.read_bytes() != data:  # a damaged one is mended
            write_atomically(path, data)
        return name

    def read(self, name: str) -> dict[str, Any]:
        """Return a build's manifest. Raises StoreError if it is missing or damaged."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(
                f"Build {name} is missing from {self._folder}. Run `kb build`."
            ) from None
        except ValueError:  # no file can have such a name
            data = b""
        if bytes_hash(data) != name:
            raise StoreError(
                f"{path} is damaged. Run `kb verify --mend`, which moves it away, and `kb build`."
            )
        manifest: dict[str, Any] = json.loads(data)
        return manifest

    def current(self) -> str:
        """Return the published build's name. Raises NotBuiltError when there is none."""
        try:
            return self._current.read_bytes().decode("ascii", "replace").strip()
        except FileNotFoundError:
            raise NotBuiltError(
                f"Nothing is published in {self._current.parent} yet. Run `kb build` first."
            ) from None

    def publish(self, name: str, *, logged: bool = True) -> bool:
        """Point readers to a build; tell whether that changed anything.

        Only what `before` may go back to is `logged`: complete builds, each when it is new.
        """
        try:
            if self.current() == name:
                return False
        except NotBuiltError:
            pass
        self.read(name)  # never log what cannot be read
        if logged:
            self.log_published([*self.published(), name])
        self.point_to(name)
        return True

    def before(self) -> str | None:
        """Return the complete build that answered before the current one; None for the first.

        A current one that was never logged, half a build or an older one by name, came after all
        that were. What is not kept any more is passed over.
        """
        current, kept = self.current(), set(self.names())
        earlier = self.published()
        if current in earlier:
            del earlier[len(earlier) - 1 - earlier[::-1].index(current) :]
        return next((name for name in earlier[::-1] if name != current and name in kept), None)

    def by_age(self) -> list[str]:
        """Return the builds that are kept, oldest first."""
        return sorted(self.names(), key=lambda name: (self._path(name).stat().st_mtime_ns, name))

    def published(self) -> list[str]:
        """Return the complete builds in the order in which they began to answer."""
        try:
            return self._log.read_bytes().decode("ascii", "replace").split()
        except FileNotFoundError:
            return []

    def log_published(self, names: Sequence[str]) -> None:
        """Replace the list of complete builds that answered."""
        write_atomically(self._log, "".join(f"{name}\n" for name in names).encode("utf-8"))

    def point_to(self, name: str) -> None:
        """Move the pointer that readers follow, whatever it says now."""
        self.read(name)  # never point to what cannot be read
        write_atomically(self._current, f"{name}\n".encode())

    def files(self, name: str) -> tuple[Path, ...]:
        """Return a build's own files that may exist: manifest, scores, report."""
        return self._path(name), self._scores_path(name), self._report_path(name)

    def write_report(self, name: str, values: Mapping[str, Any]) -> None:
        """Put a build's report beside it, replacing an earlier one."""
        ordered = {key: values[key] for key in sorted(values)}
        write_atomically(self._report_path(name), sealed(ordered))

    def report(self, name: str) -> dict[str, Any]:
        """Return a build's report; empty when there is none, or none that can be read."""
        return _object(self._report_path(name))

    def write_scores(self, name: str, values: Mapping[str, Any]) -> None:
        """Put what a build scored, question by question, beside it; replaces an earlier one."""
        write_atomically(self._scores_path(name), sealed(dict(values), indent=None))

    def scores(self, name: str) -> dict[str, Any]:
        """Return a build's scores; empty when it was not scored, or they cannot be read."""
        return _object(self._scores_path(name))

    def names(self) -> list[str]:
        """Return the builds that are kept, by name."""
        ends = (".report.json", ".scores.json")
        found = (path.name for path in self._folder.glob("*.json"))
        return sorted(name.removesuffix(".json") for name in found if not name.endswith(ends))

    def orphans(self) -> list[Path]:
        """Return reports and scores whose build is not kept, sorted."""
        kept = {path for name in self.names() for path in self.files(name)}
        return sorted(path for path in self._folder.glob("*.*.json") if path not in kept)

    def find(self, start: str) -> str:
        """Return the one build whose name begins so. Raises StoreError for none or several."""
        found = [name for name in self.names() if name.startswith(start)] if start else []
        if len(found) != 1:
            problem = f"{len(found)} builds begin" if found else "No build begins"
            raise StoreError(
                f"{problem} with {start!r}. Give more letters of a name; `kb publish --list` "
                "shows them."
            )
        return found[0]

    def _scores_path(self, name: str) -> Path:
        return self._folder / f"{name}.scores.json"

    def _report_path(self, name: str) -> Path:
        return self._folder / f"{name}.report.json"

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _object(path: Path) -> dict[str, Any]:
    try:
        values = unsealed(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
