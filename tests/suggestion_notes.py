"""A vault of a few notes, read by the build's own stages, for the tests of suggestions."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from eval_assets.suggestions.source import SourceVault, source_vault
from kb_assets.note_links.resolver import build_vault, resolve_links
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash
from resources.home import Home

OBSERVED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
LINK_COLUMNS = ["note_id", "version_id", "is_current", "aliases"]


def tables_of(notes: Mapping[str, str]) -> dict[str, pa.Table]:
    """Parse notes by path and resolve their links."""
    rows = [
        {
            "note_id": path,
            "observed_at": OBSERVED,
            "content_hash": bytes_hash(text.encode()),
            "file_time": None,
            "is_first_listing": True,
            "content": text.encode(),
        }
        for path, text in notes.items()
    ]
    parsed = parse_notes(VERSIONS.table(rows), NoteRules())
    files = pa.table({"path": list(notes), "is_note": [True] * len(notes)})
    links = resolve_links(
        parsed.notes, parsed.note_links_raw, build_vault(parsed.notes.select(LINK_COLUMNS), files)
    )
    return {"notes": parsed.notes, "note_links": links}


def vault_of(notes: Mapping[str, str], language: str = "en") -> SourceVault:
    """Return notes as the rules see them, all in one language."""
    tables = tables_of(notes)
    return source_vault(
        tables["notes"].to_pylist(), tables["note_links"].to_pylist(), lambda _: language
    )


def home_of(notes: Mapping[str, str], root: Path) -> Home:
    """Make a home that holds the notes' tables, without a build."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "kb.toml").write_text("")
    home = Home.open(root)
    for name, table in tables_of(notes).items():
        home.store.write(name, table, inputs={}, code_version="1")
    return home
