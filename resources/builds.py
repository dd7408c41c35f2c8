"""Builds on the disk: manifests named by their own hash, and the pointer that readers follow.

A manifest is written once; `CURRENT` is replaced atomically at the end. The report beside a build
holds what is not reproducible: pending counts, times, scores.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb_core.errors import NotBuiltError, StoreError
from kb_core.ids import canonical_json, json_hash
from resources.atomic_files import write_atomically

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
            manifest: dict[str, Any] = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise StoreError(
                f"Build {name} is missing from {self._folder}. Run `kb build`."
            ) from None
        except ValueError:
            manifest = {}
        if json_hash(manifest) != name:
            raise StoreError(f"{path} is damaged. Delete it and run `kb build`.")
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
        self.read(name)  # never point to what cannot be read
        if logged:
            write_atomically(self._log, "\n".join([*self._published(), name, ""]).encode())
        write_atomically(self._current, f"{name}\n".encode())
        return True

    def before(self) -> str | None:
        """Return the build that was published before the current one; None for the first."""
        published, current = self._published(), self.current()
        if current not in published:
            return None
        last = len(published) - 1 - published[::-1].index(current)
        return next((name for name in published[:last][::-1] if name != current), None)

    def by_age(self) -> list[str]:
        """Return the builds that are kept, oldest first."""
        return sorted(self.names(), key=lambda name: (self._path(name).stat().st_mtime_ns, name))

    def _published(self) -> list[str]:
        try:
            return self._log.read_text("ascii").split()
        except FileNotFoundError:
            return []

    def write_report(self, name: str, values: Mapping[str, Any]) -> None:
        """Put a build's report beside it, replacing an earlier one."""
        text = json.dumps(dict(values), sort_keys=True, indent=1, ensure_ascii=False)
        write_atomically(self._folder / f"{name}.report.json", text.encode())

    def report(self, name: str) -> dict[str, Any]:
        """Return a build's report; empty when there is none."""
        try:
            values: dict[str, Any] = json.loads((self._folder / f"{name}.report.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return values

    def write_scores(self, name: str, values: Mapping[str, Any]) -> None:
        """Put what a build scored, question by question, beside it; replaces an earlier one."""
        text = json.dumps(dict(values), ensure_ascii=False, separators=(",", ":"))
        write_atomically(self._scores_path(name), text.encode())

    def scores(self, name: str) -> dict[str, Any]:
        """Return a build's scores; empty when it was not scored."""
        try:
            values: dict[str, Any] = json.loads(self._scores_path(name).read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return values

    def names(self) -> list[str]:
        """Return the builds that are kept, by name."""
        ends = (".report.json", ".scores.json")
        found = (path.name for path in self._folder.glob("*.json"))
        return sorted(name.removesuffix(".json") for name in found if not name.endswith(ends))

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

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
