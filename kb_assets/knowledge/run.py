"""Store the links between entities, what is claimed of them, and the index questions read.

Safe to repeat.
"""

from collections.abc import Mapping

from kb_assets.outcome import Outcome, are_held, outcome
from kb_assets.vault_knowledge import VERSION as KNOWLEDGE_VERSION
from kb_assets.vault_knowledge import knowledge_of_vault, sources_of, table_of
from kb_core.contracts import CONTRACTS
from kb_knowledge.records import Knowledge
from kb_search import knowledge_index
from kb_search.knowledge_index import INDEX, knowledge_arrays
from resources.home import Home
from resources.tables import WHOLE, Pointer

STAGE = "knowledge"
TABLES = ("links", "claims", "claim_relations")
VERSION = f"1.{KNOWLEDGE_VERSION}.{knowledge_index.VERSION}"


def run(home: Home) -> Outcome:
    """Bring links, claims and their index up to date with everything that was read."""
    sources = sources_of(home)
    inputs = sources.inputs
    held = [home.store.holds(name, WHOLE, inputs, VERSION) for name in (*TABLES, INDEX)]
    pointers = [pointer for pointer in held if pointer]
    if len(pointers) == len(held):
        return _outcome(pointers, is_cached=True)
    with home.leases.hold(f"{STAGE}/{WHOLE}"):
        known = knowledge_of_vault(sources, keep=False)
        pointers = [*_write_tables(home, inputs, known), _write_index(home, inputs, known)]
    return _outcome(pointers, is_cached=False)


def is_fresh(home: Home) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, [*TABLES, INDEX], WHOLE, sources_of(home).inputs, VERSION)


def _write_tables(home: Home, inputs: Mapping[str, str], known: Knowledge) -> list[Pointer]:
    rows = dict(zip(TABLES, (known.links, known.claims, known.relations), strict=True))
    return [
        home.store.write(
            name, table_of(CONTRACTS[name], rows[name]), inputs=inputs, code_version=VERSION
        )
        for name in TABLES
    ]


def _write_index(home: Home, inputs: Mapping[str, str], known: Knowledge) -> Pointer:
    return home.store.write_arrays(
        INDEX,
        knowledge_arrays(known),
        partition=WHOLE,
        rows=len(known.links) + len(known.claims),
        inputs=inputs,
        code_version=VERSION,
        meta={"counts": dict(sorted(known.counts.items()))},
    )


def _outcome(pointers: list[Pointer], *, is_cached: bool) -> Outcome:
    links, claims, relations, index = pointers
    counts = {
        "links": links.rows,
        "claims": claims.rows,
        "claim_relations": relations.rows,
        "not_placed": sum(index.meta["counts"].values()),  # by reason, in the index's own account
    }
    return outcome(STAGE, WHOLE, pointers, is_cached=is_cached, counts=counts)
