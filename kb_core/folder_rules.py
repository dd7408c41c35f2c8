"""What kb.toml's folder rules say of a note, by its path alone: the nearest folder's rule. Pure.

Reading notes asks here, and handing passages over asks again: the rules may have changed since.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads pydantic, which a question may not need
    from kb_core.settings import FolderRule


def rules_for(note_id: str, rules: "Sequence[FolderRule]") -> "list[FolderRule]":
    """Return the folder rules that hold for a note, the nearest folder first."""
    holding = [rule for rule in rules if _is_below(note_id, rule.path)]
    return sorted(holding, key=lambda rule: -len(rule.path.strip("/")))


def ruled_tenant(note_id: str, rules: "Sequence[FolderRule]", default: str) -> str:
    """Name whose note this is, unless it says so itself."""
    return next((rule.tenant for rule in rules_for(note_id, rules) if rule.tenant), default)


def ruled_readers(note_id: str, rules: "Sequence[FolderRule]") -> list[str]:
    """List who may read a note, sorted, unless it says so itself; empty: all of its tenant."""
    ruled = (rule.readers for rule in rules_for(note_id, rules))
    return sorted(set(next((each for each in ruled if each is not None), ())))


def is_ruled_private(note_id: str, rules: "Sequence[FolderRule]") -> bool:
    """Tell whether a note's folder is private, which nothing in the note lifts."""
    ruled = (rule.private for rule in rules_for(note_id, rules))
    return bool(next((each for each in ruled if each is not None), False))


def is_listed(note_id: str, allowed: Sequence[str]) -> bool:
    """Tell whether a note's folder is among those that may be sent to a hosted model.

    A listed folder covers what is below it. An empty entry covers the notes at the vault's root
    alone, so that a slip of the pen never opens the whole vault.
    """
    folders = (folder.strip("/") for folder in allowed)
    return any(
        note_id.startswith(f"{folder}/") if folder else "/" not in note_id for folder in folders
    )


def _is_below(note_id: str, folder: str) -> bool:
    path = folder.strip("/")
    return not path or note_id.startswith(f"{path}/")
