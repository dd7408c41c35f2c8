"""Which stored files belong to what: to a build, to what the partitions hold now. Reads only.

Whoever copies, collects or checks files asks here, so that all three mean the same files.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from resources.builds import Builds
from resources.tables import TableStore

STORED = (".parquet", ".npy")


def build_files(manifest: Mapping[str, Any]) -> list[str]:
    """Return the files a build names, as paths below the store, sorted."""
    entries = [*manifest["folders"].values(), manifest["vault"]]
    return sorted(
        {
            path
            for entry in entries
            for artifact in entry["artifacts"].values()
            for path in artifact["files"].values()
        }
    )


def kept_files(store: TableStore, builds: Builds, names: Iterable[str]) -> set[str]:
    """Return every file that these builds and the present pointers name.

    Raises StoreError if a manifest or a pointer is damaged: what it names is then unknown.
    """
    kept = {path for _, pointer in store.pointers() for path in pointer.files.values()}
    for name in names:
        kept.update(build_files(builds.read(name)))
    return kept


def stored_files(store: TableStore) -> list[Path]:
    """Return every content-named file of the store, sorted."""
    return sorted(path for path in store.root.glob("*/*/*") if path.suffix in STORED)
