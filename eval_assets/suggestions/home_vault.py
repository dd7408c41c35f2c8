"""The present notes of a home's vault, as the last build read them. Writes nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from eval_assets.suggestions.source import LINK_COLUMNS, NOTE_COLUMNS, SourceVault, source_vault
from eval_assets.suggestions.templates import FALLBACK, languages
from kb_core.errors import NotBuiltError
from resources.home import Home

UNCLEAR = "unclear"  # what a language guesser says where it cannot tell


def vault_of(home: Home, language_name: Callable[[str], str]) -> SourceVault:
    """Read the notes and links that questions are drafted from.

    `language_name` gives a text's language by its English name, or `unclear`. Raises NotBuiltError
    for a home whose notes were never read.
    """
    notes = _rows(home, "notes", NOTE_COLUMNS)
    links = _rows(home, "note_links", LINK_COLUMNS)
    codes = {**languages(), UNCLEAR: ""}
    return source_vault(notes, links, lambda text: codes.get(language_name(text), FALLBACK))


def texts_of(home: Home) -> dict[str, list[tuple[bool, str]]]:
    """Return for each note every version's text, and whether it is the present one.

    Raises NotBuiltError for a home whose notes were never read.
    """
    found: dict[str, list[tuple[bool, str]]] = {}
    for row in _rows(home, "notes", ("note_id", "is_current", "text")):
        found.setdefault(row["note_id"], []).append((row["is_current"], row["text"]))
    return found


def _rows(home: Home, name: str, columns: tuple[str, ...]) -> list[Mapping[str, Any]]:
    store = home.store
    if not store.partitions("notes"):
        raise NotBuiltError("No notes were read yet. Run `kb build` first.")
    rows: list[Mapping[str, Any]] = store.read_all(name, list(columns)).to_pylist()
    return rows
