"""Notes as texts in, what the extraction says of them out: through the real parser and chunker."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.extractions.extraction import Extracted, extract
from kb_assets.notes.parser import NoteRules, NoteTables, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash
from kb_core.ontology import Ontology, read_ontology
from kb_core.tokens import RegexTokenCounter

FIRST = dt.datetime(2025, 6, 1, 12, tzinfo=dt.UTC)
LIMITS = Limits(whole_note_tokens=1500, largest_tokens=1000, smallest_tokens=100, overlap_chars=200)
SMALL = Limits(whole_note_tokens=30, largest_tokens=20, smallest_tokens=1, overlap_chars=0)
ONTOLOGY = read_ontology()

Row = dict[str, Any]


def parsed(notes: Mapping[str, str | list[str]]) -> NoteTables:
    """Parse notes; a list is a note's versions, one a day."""
    rows = []
    for note_id, texts in notes.items():
        for day, text in enumerate([texts] if isinstance(texts, str) else texts):
            rows.append(
                {
                    "note_id": note_id,
                    "observed_at": FIRST + dt.timedelta(days=day),
                    "content_hash": bytes_hash(text.encode()),
                    "file_time": None,
                    "is_first_listing": day == 0,
                    "content": text.encode(),
                    "source": None,
                }
            )
    return parse_notes(VERSIONS.table(rows), NoteRules())


def cut(tables: NoteTables, limits: Limits = LIMITS) -> pa.Table:
    """Cut parsed notes into chunks."""
    return chunk_notes(tables.notes, limits, RegexTokenCounter())


def extracted(
    notes: Mapping[str, str | list[str]], ontology: Ontology = ONTOLOGY, limits: Limits = LIMITS
) -> Extracted:
    """Extract from notes."""
    tables = parsed(notes)
    return extract(tables.notes, tables.note_links_raw, cut(tables, limits), ontology)


def said_in(text: str, path: str = "Note.md", **options: Any) -> dict[str, list[Row]]:
    """Extract from one note: its rows by table."""
    found = extracted({path: text}, **options)
    return {name: table.to_pylist() for name, table in found.tables.items()}


def links_in(text: str, path: str = "Note.md", **options: Any) -> list[tuple[str, str, str, str]]:
    """Extract from one note: source, type, target and modality of each link."""
    rows = said_in(text, path, **options)["link_observations"]
    return [(shown(row, "source"), row["type"], shown(row, "target"), row["modality"])
            for row in rows]  # fmt: skip


def claims_in(text: str, path: str = "Note.md", **options: Any) -> list[tuple[str, str, str, str]]:
    """Extract from one note: subject, attribute, value and modality of each claim."""
    rows = said_in(text, path, **options)["claim_observations"]
    return [(shown(row, "subject"), row["attribute"], row["value"], row["modality"])
            for row in rows]  # fmt: skip


def shown(row: Row, role: str) -> str:
    """Write a reference: `self`, `note Mara Lind`, `number pep 566`."""
    return f"{row[role + '_kind']} {row[role]}".strip()
