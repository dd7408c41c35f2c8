"""A published build of a few made-up chunks, written by the real writers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from kb_core.contracts import CHUNKS
from kb_core.ids import content_id, partition_key
from kb_search.keyword import build_postings
from kb_search.vectors import build_vector_arrays
from resources.builds import FORMAT, Builds
from resources.tables import TableStore

PROFILE = "test-4"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass
class MadeChunk:
    """What a test says about a chunk; the rest is filled in."""

    note: str
    text: str
    vector: Sequence[float] | None = None
    is_current: bool = True
    anchors: list[str] = field(default_factory=list)
    date: str | None = None
    version: int = 1


def publish(
    home: Path,
    folders: Mapping[str, Sequence[MadeChunk]],
    profiles: Mapping[str, str] | None = None,
) -> str:
    """Write and publish a build with these folders; a folder without vectors has no index.

    `profiles` names a folder's profile where it is another than PROFILE.
    """
    store = TableStore(home / "data" / "store")
    entries = {
        partition_key(path): _entry(store, path, chunks, (profiles or {}).get(path, PROFILE))
        for path, chunks in folders.items()
    }
    manifest = {"format": FORMAT, "settings": {}, "folders": entries, "vault": {"artifacts": {}}}
    builds = Builds(home / "data")
    name = builds.write(manifest)
    builds.publish(name)
    return name


def _entry(
    store: TableStore, path: str, chunks: Sequence[MadeChunk], profile: str
) -> dict[str, object]:
    partition = partition_key(path)
    rows = [_row(chunk, at) for at, chunk in enumerate(chunks)]
    texts = {row["text_id"]: row["search_text"] for row in rows}
    vectors: dict[str, Sequence[float]] = {}
    for row, chunk in zip(rows, chunks, strict=True):
        if chunk.vector is not None:
            vectors[row["text_id"]] = chunk.vector
    pointers = {
        "chunks": store.write(
            "chunks", CHUNKS.table(rows), partition=partition, inputs={}, code_version="1"
        ),
        "keyword_index": store.write_arrays(
            "keyword_index",
            build_postings(list(texts.values())),
            partition=partition,
            rows=len(texts),
            inputs={},
            code_version="1",
        ),
    }
    if vectors:
        having = np.array([text_id in vectors for text_id in texts], np.int64)
        matrix = np.array([vectors[each] for each in texts if each in vectors], np.float32)
        pointers["vectors"] = store.write_arrays(
            "vectors",
            build_vector_arrays(having, matrix),
            partition=partition,
            rows=int(having.sum()),
            inputs={},
            code_version="1",
            meta={"profile": profile},
        )
    artifacts = {name: pointer.as_artifact() for name, pointer in pointers.items()}
    return {"path": path, "fingerprint": "", "artifacts": artifacts}


def _row(chunk: MadeChunk, ordinal: int) -> dict[str, object]:
    title = Path(chunk.note).stem
    breadcrumb = " > ".join([title, *chunk.anchors])
    search_text = f"{breadcrumb}\n{chunk.text}"
    return {
        "version_id": content_id(chunk.note, str(chunk.version)),
        "chunk_id": content_id(chunk.note, breadcrumb, chunk.text),
        "text_id": content_id(search_text),
        "note_id": chunk.note,
        "is_current": chunk.is_current,
        "ordinal": ordinal,
        "next_chunk_id": None,
        "title": title,
        "breadcrumb": breadcrumb,
        "anchors": chunk.anchors,
        "text": chunk.text,
        "search_text": search_text,
        "tokens": len(chunk.text.split()),
        "byte_start": 0,
        "byte_end": len(chunk.text.encode()),
        "written_date": chunk.date,
        "written_basis": "property date" if chunk.date else "none",
        "written_is_weak": False,
        "available_at": LONG_AGO,
        "kind": "note",
        "tenant": "main",
        "readers": [],
        "is_private": False,
        "may_leave": False,
        "aliases": [],
        "source_type": "",
        "authority_role": "",
        "speakers": [],
    }
