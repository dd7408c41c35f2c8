"""`kb gc`: what may go of a home, and letting it go. Nothing that is needed is ever touched."""

import time
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kb_core.errors import NotBuiltError
from kb_serve.keeping.checks import VECTOR_CACHE
from kb_serve.keeping.mending import FOLDER
from kb_serve.keeping.named import needed_builds
from resources.builds import Builds
from resources.collection import Collection, collect, plan_collection
from resources.home import Home
from resources.leases import HOME
from resources.tables import read_parquet
from resources.vector_rows import drop_rows

_DAY_SECONDS = 86_400
_WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class Collected:
    """What went, or would go."""

    planned: Collection
    kept: tuple[str, ...]
    vectors: int
    bytes: int

    def to_json(self, *, dry_run: bool) -> dict[str, Any]:
        """Return what `kb gc --json` prints."""
        return {
            "dry_run": dry_run,
            "builds": list(self.planned.builds),
            "kept": list(self.kept),
            "files": len(self.planned.stored),
            "leftovers": len(self.planned.leftovers),
            "vectors": self.vectors,
            "bytes": self.bytes,
        }


def collect_garbage(
    home: Home, *, keep: int, older_than_days: float, vectors: bool, dry_run: bool
) -> Collected:
    """Let go of what no build and no folder needs, while nobody writes.

    Raises BusyError while something is being built, StoreError when a damaged file hides what is
    needed, NotBuiltError when vectors are asked for and some are still to be made.
    """
    builds = Builds(home.data)
    with home.leases.hold(HOME, wait_seconds=_WAIT_SECONDS):
        until = time.time() - older_than_days * _DAY_SECONDS
        planned = plan_collection(
            home.data, needed_builds(home), keep=keep, aside=home.data / FOLDER, until=until
        )
        kept = tuple(name for name in builds.names() if name not in planned.builds)
        freed = planned.bytes
        dropped, of_vectors = _drop_vectors(home, kept, dry_run=dry_run) if vectors else (0, 0)
        if not dry_run:
            collect(home.data, planned)
    return Collected(planned, kept, dropped, freed + of_vectors)


def _drop_vectors(home: Home, kept: tuple[str, ...], *, dry_run: bool) -> tuple[int, int]:
    """Drop the vectors of texts that nothing holds any more; return how many, and their bytes."""
    path = home.data / VECTOR_CACHE
    if not path.is_file():
        return 0, 0
    _refuse_unfinished(home)
    return drop_rows(path, _wanted(home, kept), dry_run=dry_run)


def _refuse_unfinished(home: Home) -> None:
    """Vectors of a folder that is not finished are in no table yet, and would be dropped."""
    waiting = 0
    for partition in home.folders():
        chunks = home.store.pointer("chunks", partition)
        vectors = home.store.pointer("vectors", partition)
        if chunks is None or not chunks.rows:
            continue
        is_of_these = vectors is not None and vectors.inputs.get("chunks") == chunks.hash
        waiting += not (is_of_these and vectors is not None and vectors.meta.get("is_finished"))
    if waiting:
        raise NotBuiltError(
            f"{waiting} folders wait for vectors, and those made so far would be dropped. Run "
            "`kb build` to the end first, or leave --vectors out."
        )


def _wanted(home: Home, kept: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return (profile key, passage hash) of every passage that a build or a folder holds."""
    store = home.store
    tables: set[tuple[str, str]] = set()  # path of a passage table, profile of its vectors
    for name in kept:
        for entry in Builds(home.data).read(name)["folders"].values():
            artifacts = entry["artifacts"]
            if "vectors" in artifacts and "passages" in artifacts:
                table = artifacts["passages"]["files"]["table"]
                tables.add((table, artifacts["vectors"]["meta"]["profile"]))
    for partition in store.partitions("vectors"):
        vectors, passages = (store.pointer(each, partition) for each in ("vectors", "passages"))
        if vectors and passages:
            tables.add((passages.files["table"], vectors.meta["profile"]))
    return {
        (profile, passage)
        for table, profile in sorted(tables)
        for passage in _hashes(read_parquet(store.root / table, ["passage_hash"]))
    }


def _hashes(table: pa.Table) -> list[str]:
    hashes: list[str] = table["passage_hash"].to_pylist()
    return hashes
