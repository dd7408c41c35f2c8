"""Gather what the user decided about reading notes: kb.toml, and the vault's own daily format.

Reads one small file of the vault, nothing else, and writes nothing.
"""

from kb_assets.notes.parser import NoteRules
from resources.home import Home
from resources.vault import LocalVault


def read_rules(home: Home) -> NoteRules:
    """Return the rules for a home's notes; a vault without a daily format has none."""
    daily = LocalVault(home.vault_path, home.settings.vault).daily_format()
    return NoteRules.from_settings(home.settings, [daily] if daily else [])
