"""Read what a folder's chunks say in structured form. Pure: tables in, tables out.

Observations are made per chunk and of every kept version, from what somebody wrote as structure:
properties, header blocks, inline fields, dated log lines, dated tables. Nothing is guessed from
prose. Equal input gives equal rows in equal order; what is left out is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.extractions.log_lines import read_log_lines
from kb_assets.extractions.note_text import LinkRow, NoteText, Piece, as_bytes
from kb_assets.extractions.observations import Row, Said
from kb_assets.extractions.placing import placed_properties
from kb_assets.extractions.properties import read_frame, read_properties
from kb_assets.extractions.tables import read_tables
from kb_core.knowledge_contracts import CLAIM_OBSERVATIONS, LINK_OBSERVATIONS, MENTIONS
from kb_core.link_targets import is_address
from kb_core.ontology import Ontology

VERSION = "2"  # raise it when equal chunks would say something else

LEFT_OUT = ("properties_left", "long_values", "long_lines", "table_rows_cut", "rows_cut")
CONTRACTS = (MENTIONS, LINK_OBSERVATIONS, CLAIM_OBSERVATIONS)
_NOTE_COLUMNS = [
    *("version_id", "note_id", "version", "title", "aliases", "kind"),
    *("properties", "text", "body_start"),
]
_PIECE_COLUMNS = [
    *("version_id", "ordinal", "chunk_id", "byte_start", "byte_end"),
    *("written_date", "written_basis"),
]
_LINK_COLUMNS = ["version_id", "syntax", "target", "display", "byte_start", "byte_end"]


class Extracted(NamedTuple):
    """The stage's tables by name, and how much was left out, by reason."""

    tables: Mapping[str, pa.Table]
    counts: Mapping[str, int]


def extract(notes: pa.Table, links: pa.Table, chunks: pa.Table, ontology: Ontology) -> Extracted:
    """Return what the chunks of a folder say.

    Takes tables of the contracts `notes`, `note_links_raw` and `chunks`; gives those of
    `mentions`, `link_observations` and `claim_observations`, whose checks they pass.
    """
    rows: dict[str, list[Row]] = {contract.name: [] for contract in CONTRACTS}
    counts: Counter[str] = Counter(dict.fromkeys(LEFT_OUT, 0))
    for note in _notes(notes, links, chunks):
        said = _said_in(note, ontology)
        counts.update(said.counts)
        for name, found in rows.items():
            found.extend(said.rows(name))
    tables = {contract.name: contract.table(rows[contract.name]) for contract in CONTRACTS}
    return Extracted(tables, dict(counts))


def _said_in(note: NoteText, ontology: Ontology) -> Said:
    said = Said(note)
    placed = placed_properties(note)
    frame = read_frame(note, placed, ontology)
    read_properties(said, note, placed, frame, ontology)
    read_log_lines(said, note, ontology)
    read_tables(said, note, frame.modality, ontology)
    return said


def _notes(notes: pa.Table, links: pa.Table, chunks: pa.Table) -> Iterator[NoteText]:
    """Yield every version that has chunks, by note and version."""
    pieces = _by_version(chunks.select(_PIECE_COLUMNS), "ordinal")
    linked = _by_version(links.select(_LINK_COLUMNS), "byte_start")
    keys = list(zip(notes["note_id"].to_pylist(), notes["version"].to_pylist(), strict=True))
    for at in sorted(range(len(keys)), key=keys.__getitem__):
        row = notes.slice(at, 1).select(_NOTE_COLUMNS).to_pylist()[0]
        if row["version_id"] in pieces:
            version = row["version_id"]
            yield _note(row, pieces[version], linked.get(version, ()))


def _by_version(table: pa.Table, order: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        found[row["version_id"]].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: row[order])
    return found


def _note(row: Mapping[str, Any], pieces: Sequence[Row], links: Sequence[Row]) -> NoteText:
    return NoteText(
        version_id=row["version_id"],
        note_id=row["note_id"],
        title=row["title"],
        aliases=tuple(row["aliases"]),
        kind=row["kind"],
        properties=tuple((each["name"], each["value"]) for each in row["properties"]),
        data=as_bytes(row["text"]),
        body_start=row["body_start"],
        pieces=tuple(map(_piece, pieces)),
        links=tuple(_link(each) for each in links if each["syntax"] in ("wikilink", "markdown")),
    )


def _piece(row: Row) -> Piece:
    is_dated = row["written_basis"] == "heading"
    return Piece(row["chunk_id"], row["byte_start"], row["byte_end"], row["written_date"], is_dated)


def _link(row: Row) -> LinkRow:
    outside = is_address(row["target"], row["syntax"])
    return LinkRow(row["byte_start"], row["byte_end"], row["target"], row["display"], outside)
