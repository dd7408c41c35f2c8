"""Store what the vault speaks of, and which chunks do. Safe to repeat."""

import pyarrow as pa

from kb_assets.outcome import Outcome, are_held, run_tables
from kb_assets.vault_knowledge import VERSION as KNOWLEDGE_VERSION
from kb_assets.vault_knowledge import Sources, knowledge_of_vault, sources_of, table_of
from kb_core.contracts import CONTRACTS
from resources.home import Home
from resources.tables import WHOLE

TABLES = ("entities", "entity_mentions", "merge_ledger")
VERSION = f"1.{KNOWLEDGE_VERSION}"  # raise it when equal knowledge would give other tables


def run(home: Home) -> Outcome:
    """Bring the entities up to date with everything that was read."""
    sources = sources_of(home)
    return run_tables(
        home,
        "entities",
        WHOLE,
        names=TABLES,
        inputs=sources.inputs,
        code_version=VERSION,
        make=lambda: _tables(sources),
    )


def is_fresh(home: Home) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, TABLES, WHOLE, sources_of(home).inputs, VERSION)


def _tables(sources: Sources) -> dict[str, pa.Table]:
    known = knowledge_of_vault(sources, keep=True)
    rows = dict(zip(TABLES, (known.entities, known.mentions, known.merges), strict=True))
    return {name: table_of(CONTRACTS[name], rows[name]) for name in TABLES}
