"""Write one build over everything that is stored.

Safe to repeat: equal tables give the same build under the same name.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from kb_assets.build.manifest import (
    FOLDER_TABLES,
    KNOWLEDGE_TABLES,
    LINK_TABLES,
    VAULT_TABLES,
    make_manifest,
)
from kb_assets.build.publish import is_judged, is_refused
from kb_assets.choices import read_choices
from kb_assets.outcome import Outcome
from kb_assets.vault_knowledge import HUB_CHUNKS
from kb_core.errors import EmbedderError, EmbedderMissingError, NotBuiltError, StoreError
from kb_core.ids import json_hash
from kb_search.evidence import MADE_FROM, OBSERVATIONS
from resources.builds import Builds
from resources.embedder import open_embedder
from resources.history import History
from resources.home import Home
from resources.tables import WHOLE, Pointer, read_parquet

_OF_CHUNKS = ("vectors", "passages", *OBSERVATIONS)


def run_build(home: Home) -> Outcome:
    """Write the manifest of what is stored now, and the report beside it."""
    with home.leases.hold("build"):
        builds = Builds(home.data)
        manifest = _manifest(home)
        name = builds.write(manifest)
        counts = _counts(home, manifest, len(home.folders()))
        builds.write_report(name, {**builds.report(name), **counts})
        home.write_record("last-build", {"build": name})
    return Outcome("build", WHOLE, name, int(counts["chunks"]), False, counts)


def is_fresh(home: Home) -> bool:
    """Tell whether what is stored now was put together and judged, and answers."""
    try:
        builds = Builds(home.data)
        builds.read(builds.current())
    except (NotBuiltError, StoreError):
        return False
    name = json_hash(_manifest(home))
    is_last = home.record("last-build").get("build") == name
    # Without its report, which may have been damaged, it would count as half a build.
    return is_last and bool(builds.report(name)) and is_judged(home, name)


def was_refused(home: Home) -> bool:
    """Tell whether what is stored now was put together, judged, and kept back."""
    name = json_hash(_manifest(home))
    return home.record("last-build").get("build") == name and is_refused(home, name)


def _manifest(home: Home) -> dict[str, Any]:
    folders = home.folders()
    pointers = {partition: _pointers(home, partition) for partition in folders}
    found = {name: home.store.pointer(name, WHOLE) for name in VAULT_TABLES}
    for name in LINK_TABLES:
        found |= {f"{name}/{each}": home.store.pointer(name, each) for each in folders}
    vault = {name: pointer for name, pointer in found.items() if pointer}
    builds = Builds(home.data)
    try:
        previous = builds.read(builds.current())["folders"]
    except (NotBuiltError, StoreError):
        previous = {}
    manifest = make_manifest(folders, pointers, vault, read_choices(home).to_json(), previous)
    for name in KNOWLEDGE_TABLES:
        # Made of other chunks than these, it would point at passages that are not there.
        if name in vault and not _is_known_from(vault[name], manifest["folders"]):
            del manifest["vault"]["artifacts"][name]
    return manifest


def _pointers(home: Home, partition: str) -> dict[str, Pointer]:
    found = {name: home.store.pointer(name, partition) for name in FOLDER_TABLES}
    pointers = {name: pointer for name, pointer in found.items() if pointer}
    if not _is_one_chain(home, partition, pointers):
        return {}
    for name in _OF_CHUNKS:
        # Vectors of other chunks than these would answer with the wrong passages.
        if name in pointers and not _is_made_from(pointers, name, "chunks"):
            del pointers[name]
    return pointers


def _is_one_chain(home: Home, partition: str, pointers: Mapping[str, Pointer]) -> bool:
    """Tell whether journal, notes, chunks and index belong together.

    They do not while a folder's run is under way, was cut off, or failed in the middle.
    """
    notes = pointers.get("notes")
    return (
        notes is not None
        and notes.inputs.get("history") == History(home.data / "history").state(partition)
        and _is_made_from(pointers, "chunks", "notes")
        and _is_made_from(pointers, "keyword_index", "chunks")
    )


def _is_made_from(pointers: Mapping[str, Pointer], name: str, source: str) -> bool:
    made, given = pointers.get(name), pointers.get(source)
    return made is not None and given is not None and made.inputs.get(source) == given.hash


def _is_known_from(made: Pointer, folders: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether knowledge was made from exactly these folders' chunks and what they say."""
    given = {
        f"{name}/{partition}": artifact["hash"]
        for partition, folder in folders.items()
        for name, artifact in folder["artifacts"].items()
        if name in MADE_FROM
    }
    return {name: each for name, each in made.inputs.items() if name != HUB_CHUNKS} == given


def _counts(home: Home, manifest: Mapping[str, Any], folders: int) -> dict[str, float]:
    counts: dict[str, float] = {
        "folders": folders,
        "folders_with_words": len(manifest["folders"]),
        "folders_with_texts": 0,
        "folders_with_vectors": 0,
        "notes": 0,
        "chunks": 0,
        "texts": 0,
        "texts_without_vectors": 0,
        **_known(manifest),
        "is_complete": int(_is_complete(home, manifest)),
    }
    for folder in manifest["folders"].values():
        artifacts = folder["artifacts"]
        path = home.store.root / artifacts["notes"]["files"]["table"]
        notes = read_parquet(path, ["is_current"])
        texts = artifacts["keyword_index"]["rows"]
        embedded = artifacts.get("vectors", {}).get("rows", 0)
        counts["notes"] += pc.sum(notes["is_current"]).as_py() or 0
        counts["chunks"] += artifacts["chunks"]["rows"]
        counts["texts"] += texts
        counts["texts_without_vectors"] += texts - embedded
        counts["folders_with_texts"] += int(texts > 0)
        counts["folders_with_vectors"] += int(embedded == texts > 0)
    return counts


def _known(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Count what the vault's knowledge holds; nothing in a build that goes without."""
    artifacts = manifest["vault"]["artifacts"]
    return {
        name: artifacts.get(name, {}).get("rows", 0) for name in ("entities", "links", "claims")
    }


def _is_complete(home: Home, manifest: Mapping[str, Any]) -> bool:
    """Tell whether every folder has its words, and its vectors where this home makes any.

    What an embedder refuses for good does not count: nobody waits for it.
    """
    entries = manifest["folders"].values()
    if len(entries) < len(home.folders()):
        return False
    if manifest["settings"]["embedder"] is None and not _may_make_vectors(home):
        return True
    artifacts = [entry["artifacts"] for entry in entries if entry["artifacts"]["chunks"]["rows"]]
    return all(each.get("vectors", {}).get("meta", {}).get("is_finished") for each in artifacts)


def _may_make_vectors(home: Home) -> bool:
    """Tell whether an embedder is installed and switched on; a silent one may yet answer."""
    try:
        open_embedder(home.settings.embedder)
    except EmbedderMissingError:
        return False
    except EmbedderError:
        return True
    return True
