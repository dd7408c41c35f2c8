"""Parse a folder's journaled note versions into tables. Safe to repeat."""

from kb_assets.notes.parser import VERSION, NoteTables, parse_notes
from kb_assets.notes.rules import read_rules
from kb_assets.outcome import Outcome, are_held, run_tables
from kb_core.errors import StoreError
from resources.history import History
from resources.home import Home

NAMES = ("notes", "note_links_raw", "note_tags", "findings")


def run(home: Home, partition: str) -> Outcome:
    """Parse the versions of the folder's notes that were not parsed yet."""
    rules = read_rules(home)
    return run_tables(
        home,
        "notes",
        partition,
        names=NAMES,
        inputs=_inputs(home, partition),
        code_version=VERSION,
        make=lambda: vars(
            parse_notes(
                _history(home).read(partition), rules, _before(home, partition, rules.digest())
            )
        ),
    )


def _before(home: Home, partition: str, rules: str) -> NoteTables | None:
    """Return what is stored, if this code and these rules made all of it in one go."""
    found = [home.store.pointer(name, partition) for name in NAMES]
    pointers = [pointer for pointer in found if pointer]
    states = {pointer.inputs.get("history") for pointer in pointers}
    is_ours = all(
        pointer.code_version == VERSION and pointer.inputs.get("rules") == rules
        for pointer in pointers
    )
    if len(pointers) < len(NAMES) or len(states) != 1 or not is_ours:
        return None
    try:
        return NoteTables(**{name: home.store.read(name, partition) for name in NAMES})
    except StoreError:
        return None  # damaged: everything is parsed, and what was damaged is written anew


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, NAMES, partition, _inputs(home, partition), VERSION)


def _inputs(home: Home, partition: str) -> dict[str, str]:
    return {"history": _history(home).state(partition), "rules": read_rules(home).digest()}


def _history(home: Home) -> History:
    return History(home.data / "history")
