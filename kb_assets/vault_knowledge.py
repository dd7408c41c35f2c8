"""What the whole vault says, put together once for the stages that store it. No Dagster.

The stages are made from the same inputs: whichever runs first reads and resolves, the next one
finds the result here, in the same process, by the hashes of what it was made from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from kb_core import names
from kb_core.collecting import without_collecting
from kb_core.contract import Contract
from kb_core.ids import json_hash
from kb_knowledge import knowledge as rules
from kb_knowledge.knowledge import knowledge_of
from kb_knowledge.records import Knowledge
from kb_search.evidence import MADE_FROM, evidence_of_files
from resources.home import Home
from resources.tables import Pointer, TableStore

VERSION = f"{rules.VERSION}.{names.VERSION}"

HUB_CHUNKS = "settings/hub_chunks"  # among what it was made from

_held: dict[str, Knowledge] = {}  # the last one, by its inputs; a pure function of them


@dataclass(frozen=True)
class Sources:
    """The very files that the vault's knowledge is made from: a folder may move on meanwhile."""

    store: TableStore
    pointers: Mapping[str, Mapping[str, Pointer]]  # by folder and table
    hub_chunks: int = 0  # 0: by the number of chunks

    @property
    def inputs(self) -> dict[str, str]:
        """Their hashes, by table and folder, and the setting unless it is the default."""
        hashes = {
            f"{name}/{partition}": pointer.hash
            for partition, tables in self.pointers.items()
            for name, pointer in tables.items()
        }
        return hashes | ({HUB_CHUNKS: str(self.hub_chunks)} if self.hub_chunks else {})


def sources_of(home: Home) -> Sources:
    """Return what every folder that was read holds now."""
    store = home.store
    return Sources(
        store,
        {
            partition: {
                name: pointer for name in MADE_FROM if (pointer := store.pointer(name, partition))
            }
            for partition in store.partitions("chunks")
        },
        home.settings.graph.hub_chunks,
    )


def knowledge_of_vault(sources: Sources, *, keep: bool) -> Knowledge:
    """Return what the whole vault says; `keep` it for the stage that comes next."""
    key = json_hash([VERSION, sources.inputs])
    found = _held.get(key) or _make(sources)
    _held.clear()
    if keep:
        _held[key] = found
    return found


def _make(sources: Sources) -> Knowledge:
    files = {
        partition: {
            name: sources.store.root / pointer.files["table"] for name, pointer in tables.items()
        }
        for partition, tables in sources.pointers.items()
    }
    with without_collecting():
        return knowledge_of(evidence_of_files(files), sources.hub_chunks or None)


def table_of(contract: Contract, rows: Sequence[Any]) -> pa.Table:
    """Return rows as a table of a contract, sorted by its key."""
    columns = [
        pa.array([_plain(value) for value in map(_getter(field.name), rows)], field.type)
        for field in contract.schema
    ]
    table = pa.Table.from_arrays(columns, schema=contract.schema)
    return table.sort_by([(name, "ascending") for name in contract.key])


def _getter(name: str) -> Callable[[Any], Any]:
    return attrgetter(name)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
