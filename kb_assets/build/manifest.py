"""Put one build's manifest together from what every partition holds. Pure.

It names content and versions alone: no clock, no machine, no path outside the store, nothing that
is pending. Two stores that hold the same tables give the same manifest.
"""

from collections.abc import Mapping
from typing import Any

from kb_core.ids import combined
from resources.builds import FORMAT
from resources.tables import Pointer

VERSION = "1"

FOLDER_TABLES = (
    "files",
    "notes",
    "note_links_raw",
    "note_tags",
    "findings",
    "chunks",
    "keyword_index",
    "passages",
    "vectors",
    "mentions",
    "link_observations",
    "claim_observations",
    "retyped",
)
# Made from every folder's chunks and what they say: they belong to no other chunks.
KNOWLEDGE_TABLES = (
    "entities",
    "entity_mentions",
    "merge_ledger",
    "links",
    "claims",
    "claim_relations",
    "knowledge_graph",
)
VAULT_TABLES = ("note_names", "note_graph", "folders", *KNOWLEDGE_TABLES, "line_vectors")
# Made for each folder from the whole vault: they stand apart from the folder's own chain.
LINK_TABLES = ("note_links", "note_mentions")


def make_manifest(
    folders: Mapping[str, str],
    pointers: Mapping[str, Mapping[str, Pointer]],
    vault: Mapping[str, Pointer],
    settings: Mapping[str, Any],
    previous: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the manifest of a build.

    `folders` is partition -> path; `pointers` is partition -> table -> pointer; `vault` holds what
    needs the whole vault, by table or by `table/partition`; `settings` are the choices the content
    depends on.
    A folder whose stages were cut off half-way keeps its entry in `previous`, the folders of the
    published build: it answers with what it had, not with nothing.
    """
    entries = {}
    for partition, path in sorted(folders.items()):
        if "chunks" in pointers.get(partition, {}):
            entries[partition] = _folder(path, pointers[partition])
        elif partition in previous:
            entries[partition] = dict(previous[partition])
    return {
        "format": FORMAT,
        "settings": dict(settings),
        "folders": entries,
        "vault": {"artifacts": _artifacts(vault)},
    }


def _folder(path: str, pointers: Mapping[str, Pointer]) -> dict[str, Any]:
    artifacts = _artifacts(pointers)
    hashes = [part for name in sorted(artifacts) for part in (name, artifacts[name]["hash"])]
    return {"path": path, "fingerprint": combined(hashes), "artifacts": artifacts}


def _artifacts(pointers: Mapping[str, Pointer]) -> dict[str, Any]:
    return {name: pointers[name].as_artifact() for name in sorted(pointers)}
