"""Parse a folder's journaled note versions into tables. Safe to repeat."""

from kb_assets.notes.parser import VERSION, NoteRules, parse_notes
from kb_assets.outcome import Outcome, run_tables
from resources.history import History
from resources.home import Home
from resources.vault import LocalVault

NAMES = ("notes", "note_links_raw", "note_tags", "findings")


def run(home: Home, partition: str) -> Outcome:
    """Parse every kept version of every note of the folder."""
    history = History(home.data / "history")
    daily = LocalVault(home.vault_path, home.settings.vault).daily_format()
    rules = NoteRules.from_settings(home.settings, [daily] if daily else [])
    return run_tables(
        home,
        "notes",
        partition,
        names=NAMES,
        inputs={"history": history.state(partition), "rules": rules.digest()},
        code_version=VERSION,
        make=lambda: vars(parse_notes(history.read(partition), rules)),
    )
