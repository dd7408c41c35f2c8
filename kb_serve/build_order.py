"""Which folders a build works on, and in which order: a small folder answers first."""

from collections import Counter
from collections.abc import Sequence

from kb_core.errors import SettingsError
from kb_core.folder_names import folder_path, shown_path
from kb_core.ids import partition_key
from kb_serve.output import visible
from resources.home import Home
from resources.vault import LocalVault


def folders_to_build(home: Home, wanted: Sequence[str]) -> list[str]:
    """Return the partitions to work on: those asked for in their order, else small ones first.

    Raises SettingsError for a folder that is not in this vault.
    """
    folders = home.folders()
    if not wanted:
        sizes = _sizes(home)
        return sorted(folders, key=lambda key: (sizes[key], key))
    by_path = {path: key for key, path in folders.items()}
    unknown = [folder for folder in wanted if folder_path(folder) not in by_path]
    if unknown:
        known = ", ".join(visible(shown_path(path)) for path in sorted(by_path))
        raise SettingsError(f"No folder {unknown[0]!r} in this vault. There are: {known}.")
    return [by_path[folder_path(folder)] for folder in wanted]


def _sizes(home: Home) -> Counter[str]:
    """Return the bytes of each folder's notes."""
    settings = home.settings.vault
    sizes: Counter[str] = Counter()
    for entry in LocalVault(home.vault_path, settings).list():
        if entry.is_note:
            sizes[partition_key(entry.folder(settings.folder_depth))] += entry.size
    return sizes
