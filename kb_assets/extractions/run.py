"""Read what a folder's chunks say: their structure by rules, their prose by a model or by rules.

Safe to repeat. A model is asked where that may be done now; until it has answered, and where it
never does, rules read the prose. Which of them read a chunk stands in `readings`.
"""

from pathlib import Path

from kb_assets.asking.chunk_requests import PROMPT_VERSION
from kb_assets.asking.work import AskedChunks, of_chunks
from kb_assets.extractions.extraction import CONTRACTS, VERSION, Extracted, extract
from kb_assets.extractions.readings import Answers, Prose
from kb_assets.outcome import Outcome, are_held, input_hashes, outcome
from kb_assets.paid_work import Done, ask, reader_inputs, reader_of
from kb_assets.workbench import Workbench
from kb_core.ontology import Ontology, home_ontology
from resources.home import Home
from resources.tables import Pointer

STAGE = "extractions"
NAMES = tuple(contract.name for contract in CONTRACTS)
_READ = ("notes", "note_links_raw", "chunks")


def run(bench: Workbench, partition: str) -> tuple[Outcome, str]:
    """Extract from every kept version of the folder's notes.

    Returns what was made and, if a model could not be asked, one sentence that says why. Raises
    SettingsError when the home's data/ontology.toml cannot be used. The counts of what was left
    out are there when something was done.
    """
    home = bench.home
    ontology = ontology_of(home)
    inputs = _inputs(home, partition, ontology)
    held = [home.store.holds(name, partition, inputs, VERSION) for name in NAMES]
    pointers = [pointer for pointer in held if pointer]
    if len(pointers) == len(held) and not bench.may_pay:
        return outcome(STAGE, partition, pointers, is_cached=True), ""
    prose, done, problem = _ask(bench, partition, ontology)
    found = _extract(home, partition, ontology, prose)
    with home.leases.hold(f"{STAGE}/{partition}"):
        written = [_write(home, partition, name, found, inputs) for name in NAMES]
    is_same = [each.hash for each in written] == [each.hash for each in pointers]
    counts = {**done.counts, **found.counts}
    made = outcome(STAGE, partition, written, is_cached=is_same, counts=counts)
    return made, problem or done.problem


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run that asks nobody would find nothing to do."""
    return are_held(home, NAMES, partition, _inputs(home, partition, ontology_of(home)), VERSION)


def ontology_of(home: Home) -> Ontology:
    """Read the ontology that holds for a home: the package's, and its own additions."""
    return home_ontology(home.data)


def ontology_file(home: Home) -> Path:
    """Return where a home's own ontology stands, if it has one."""
    return home.data / "ontology.toml"


def _ask(bench: Workbench, partition: str, ontology: Ontology) -> tuple[Prose, Done, str]:
    """Return who reads which chunk's prose, what came of asking, and why nobody was asked."""
    home = bench.home
    left = _left(home, partition)
    reader, problem = reader_of(home)
    if reader is None:
        return Prose(left=left), Done(), problem
    chunks = home.store.read("chunks", partition)
    asked: AskedChunks = of_chunks(home, chunks, left, reader, ontology)
    done = ask(bench, partition, reader, asked.work)
    answers = Answers(asked.keys, done.answers, done.failed)
    return Prose(left=left, barred=asked.barred, answers=answers), done, problem


def _extract(home: Home, partition: str, ontology: Ontology, prose: Prose) -> Extracted:
    notes, links, chunks = (home.store.read(name, partition) for name in _READ)
    return extract(notes, links, chunks, ontology, prose)


def _left(home: Home, partition: str) -> frozenset[str]:
    """Return the versions of conversations that are not worth reading."""
    if home.store.pointer("triage", partition) is None:
        return frozenset()
    rows = home.store.read("triage", partition, ["version_id", "is_kept"]).to_pylist()
    return frozenset(row["version_id"] for row in rows if not row["is_kept"])


def _write(
    home: Home, partition: str, name: str, found: Extracted, inputs: dict[str, str]
) -> Pointer:
    return home.store.write(
        name, found.tables[name], partition=partition, inputs=inputs, code_version=VERSION
    )


def _inputs(home: Home, partition: str, ontology: Ontology) -> dict[str, str]:
    reader, _ = reader_of(home)
    return {
        **input_hashes(home, (*_READ, "triage"), partition),
        **reader_inputs(reader, PROMPT_VERSION),
        "ontology": ontology.digest,
    }
