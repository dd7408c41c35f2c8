"""Read what a folder's chunks say in structured form. Safe to repeat, costs nothing."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from kb_assets.extractions.extraction import CONTRACTS, VERSION, extract
from kb_assets.outcome import Outcome, are_held, input_hashes, run_tables
from kb_core.ontology import Ontology, read_ontology
from resources.home import Home

NAMES = tuple(contract.name for contract in CONTRACTS)
_READ = ("notes", "note_links_raw", "chunks")


def run(home: Home, partition: str) -> Outcome:
    """Extract from every kept version of the folder's notes.

    Raises SettingsError when the home's data/ontology.toml cannot be used. The counts of what was
    left out are there when something was done.
    """
    counts: dict[str, float] = {}
    ontology = ontology_of(home)

    def make() -> dict[str, pa.Table]:
        notes, links, chunks = (home.store.read(name, partition) for name in _READ)
        found = extract(notes, links, chunks, ontology)
        counts.update(found.counts)
        return dict(found.tables)

    made = run_tables(
        home,
        "extractions",
        partition,
        names=NAMES,
        inputs=_inputs(home, partition, ontology),
        code_version=VERSION,
        make=make,
    )
    return replace(made, counts=counts)


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, NAMES, partition, _inputs(home, partition, ontology_of(home)), VERSION)


def ontology_of(home: Home) -> Ontology:
    """Read the ontology that holds for a home: the package's, and its own additions."""
    return read_ontology(ontology_file(home))


def ontology_file(home: Home) -> Path:
    """Return where a home's own ontology stands, if it has one."""
    return home.data / "ontology.toml"


def _inputs(home: Home, partition: str, ontology: Ontology) -> dict[str, str]:
    return {**input_hashes(home, _READ, partition), "ontology": ontology.digest}
