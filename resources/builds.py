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

    def publish(self, name: str) -> bool:
        """Point readers to a build; tell whether that changed anything."""
        try:
            if self.current() == name:
                return False
        except NotBuiltError:
            pass
        self.read(name)  # never point to what cannot be read
        write_atomically(self._current, f"{name}\n".encode())
        return True

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

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
