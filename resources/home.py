"""A knowledge base's home: where its settings and its state live, outside the vault.

The home remembers which vault it was built over and the choices that would make old work useless
if they changed in silence. Nothing is ever written into the vault.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_core.errors import HomeError
from kb_core.settings import Settings, read_settings
from resources.atomic_files import make_private_folder, write_atomically
from resources.leases import Leases
from resources.seals import sealed, unsealed
from resources.tables import TableStore

STATE = ("store", "builds", "cache", "history", "dagster")  # folders below data/


@dataclass(frozen=True)
class Home:
    """One knowledge base: its folder, its settings, and the doors to its state."""

    root: Path
    settings: Settings

    @classmethod
    def open(cls, root: Path) -> "Home":
        """Open a home. Raises SettingsError when its kb.toml cannot be used."""
        os.umask(0o077)  # whatever a library writes here is for the user alone
        return cls(root, read_settings(root))

    @property
    def data(self) -> Path:
        """Where all state lives."""
        return self.root / "data"

    @property
    def vault_path(self) -> Path:
        """The vault's folder; a relative setting is relative to the home."""
        return (self.root / Path(self.settings.vault.path).expanduser()).resolve()

    @property
    def store(self) -> TableStore:
        """The stage outputs."""
        return TableStore(self.data / "store")

    @property
    def leases(self) -> Leases:
        """Who is writing where."""
        return Leases(self.data / "cache" / "leases.sqlite")

    def record(self, name: str) -> dict[str, Any]:
        """Read one of the home's small JSON records; an absent one is empty."""
        path = self.data / f"{name}.json"
        try:
            values = unsealed(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            raise HomeError(
                f"{path} is damaged. `kb verify` says what is lost with it. Restore it from a "
                "backup, or delete it to start anew."
            ) from None
        if not isinstance(values, dict):
            raise HomeError(f"{path} is damaged: it holds no object. Restore it from a backup.")
        return values

    def write_record(self, name: str, values: Mapping[str, Any]) -> None:
        """Replace one of the home's small JSON records."""
        make_private_folder(self.data)
        ordered = {key: values[key] for key in sorted(values)}
        write_atomically(self.data / f"{name}.json", sealed(ordered))

    def remember(self, **values: Any) -> None:
        """Add to what the home knows about itself, if it is new."""
        self._merge("home", values)

    def folders(self) -> dict[str, str]:
        """Return the registered folders: partition key -> path inside the vault."""
        return dict(self.record("folders"))

    def register_folders(self, folders: Mapping[str, str]) -> dict[str, str]:
        """Add folders to the register and return it whole. Keys are never dropped here."""
        return self._merge("folders", folders)

    def _merge(self, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add to a record; two processes that do so at once both count."""
        known = self.record(name)
        if all(known.get(key) == value and key in known for key, value in values.items()):
            return known
        with self.leases.hold(f"record/{name}"):
            merged = {**self.record(name), **values}
            self.write_record(name, merged)
        return merged


def check_not_inside(home: Path, vault: Path) -> None:
    """Refuse a home whose state would lie inside the vault, or a vault inside that state.

    The vault is never written to, and what the home writes must never be read as notes.
    """
    home, vault = home.resolve(), vault.resolve()
    for state in (home / "data" / name for name in STATE):
        if state == vault or vault in state.parents or state in vault.parents:
            raise HomeError(
                f"The home {home} lies inside the vault {vault}, or the vault inside the home's "
                "own state. Choose a folder outside the vault: `kb init VAULT --home DIR`."
            )
