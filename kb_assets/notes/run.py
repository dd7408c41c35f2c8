"""Parse a folder's journaled note versions into tables. Safe to repeat."""

from kb_assets.notes.parser import VERSION, parse_notes
from kb_assets.notes.rules import read_rules
from kb_assets.outcome import Outcome, are_held, run_tables
from resources.history import History
from resources.home import Home

NAMES = ("notes", "note_links_raw", "note_tags", "findings")


def run(home: Home, partition: str) -> Outcome:
    """Parse every kept version of every note of the folder."""
    return run_tables(
        home,
        "notes",
        partition,
        names=NAMES,
        inputs=_inputs(home, partition),
        code_version=VERSION,
        make=lambda: vars(parse_notes(_history(home).read(partition), read_rules(home))),
    )


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, NAMES, partition, _inputs(home, partition), VERSION)


def _inputs(home: Home, partition: str) -> dict[str, str]:
    return {"history": _history(home).state(partition), "rules": read_rules(home).digest()}


def _history(home: Home) -> History:
    return History(home.data / "history")
