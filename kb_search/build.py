"""One published build, opened by its content-named files. Reads only; nothing is opened twice.

Opening reads the manifest and looks whether every file it needs is there. A folder's rows,
postings, vectors and texts are loaded when first asked for, so a question within one folder pays
for that folder alone.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kb_core.errors import StoreError
from kb_search.folder import Folder, open_array
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_index import INDEX
from kb_search.line_vectors import LINES, LineVectors
from kb_search.note_graph import GRAPH, NoteGraph
from kb_search.vectors import HeldBytes
from resources.builds import FORMAT, Builds
from resources.tables import read_parquet

# What converted codes may take over all folders. 31,000 chunks of 1,024 dims need 127 MB.
HELD_BYTES = 2**30


class PublishedBuild:
    """The build that answers, and its folders in order of their paths."""

    def __init__(self, name: str, manifest: Mapping[str, Any], store: Path) -> None:
        if manifest["format"] != FORMAT:
            raise StoreError(
                f"Build {name} has format {manifest['format']}, this version reads {FORMAT}. "
                "Run `kb build` to make one it can read."
            )
        self.name = name
        budget = HeldBytes(HELD_BYTES)
        entries = sorted(manifest["folders"].items(), key=lambda item: (item[1]["path"], item[0]))
        self.folders = tuple(
            Folder(partition, entry, store, budget) for partition, entry in entries
        )
        self._vault_artifacts: Mapping[str, Any] = manifest["vault"]["artifacts"]
        self._store = store

    @classmethod
    def open(cls, home: Path, name: str | None = None) -> "PublishedBuild":
        """Open the build that CURRENT names, or the one named.

        Raises NotBuiltError when nothing is published, StoreError when a file is missing.
        """
        builds = Builds(home / "data")
        name = name or builds.current()
        return cls(name, builds.read(name), home / "data" / "store")

    @cached_property
    def note_graph(self) -> NoteGraph | None:
        """The names and links of its notes; None in a build that was made without."""
        arrays = self.vault_arrays(GRAPH)
        return NoteGraph(arrays) if arrays else None

    @cached_property
    def knowledge(self) -> KnowledgeGraph | None:
        """What the whole present vault says; None in a build that was made without."""
        arrays = self.vault_arrays(INDEX)
        return KnowledgeGraph(arrays) if arrays else None

    @cached_property
    def line_vectors(self) -> LineVectors | None:
        """The vectors of link and claim lines; None in a build that was made without."""
        arrays = self.vault_arrays(LINES)
        meta = self._vault_artifacts.get(LINES, {}).get("meta", {})
        return LineVectors(arrays, meta.get("profile", "")) if arrays else None

    def vault_arrays(self, name: str) -> dict[str, np.ndarray]:
        """Open an index over the whole vault; empty in a build that was made without."""
        files = self._vault_artifacts.get(name, {}).get("files", {})
        return {array: open_array(self._store / path, True) for array, path in files.items()}

    def vault_table(self, name: str, columns: Sequence[str]) -> pa.Table | None:
        """Return columns of a table made from the whole vault, by `name` or `name/partition`.

        None in a build that was made without.
        """
        files = self._vault_artifacts.get(name, {}).get("files", {})
        return read_parquet(self._store / files["table"], list(columns)) if files else None
