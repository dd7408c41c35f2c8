"""Read what a folder's chunks say. Pure: tables in, tables out.

Observations are made per chunk and of every kept version, from what somebody wrote as structure:
properties, header blocks, inline fields, dated log lines, dated tables; and from prose, by what a
language model answered about the chunk, or by cue words where it did not. Equal input gives equal
rows in equal order; what is left out is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.answer_text import UnusableAnswerError
from kb_assets.extractions import model_answers
from kb_assets.extractions import prose as prose_rules
from kb_assets.extractions.log_lines import read_log_lines
from kb_assets.extractions.model_answers import say_answer
from kb_assets.extractions.note_text import LinkRow, NoteText, Piece, as_bytes
from kb_assets.extractions.observations import Row, Said
from kb_assets.extractions.placing import placed_properties
from kb_assets.extractions.properties import read_frame, read_properties
from kb_assets.extractions.prose import PROSE_LEFT, read_prose
from kb_assets.extractions.readings import LEFT, NOT_READ, READ, UNUSABLE, Prose, Reading
from kb_assets.extractions.tables import read_tables
from kb_core.knowledge_contracts import CLAIM_OBSERVATIONS, LINK_OBSERVATIONS, MENTIONS
from kb_core.link_targets import is_address
from kb_core.ontology import Ontology
from kb_core.reading_contracts import READINGS
from kb_knowledge.records import RULES, STRUCTURE
from resources.paid_store import Stored

# Raise it when equal chunks would say something else.
VERSION = f"4.{model_answers.VERSION}.{prose_rules.VERSION}"

LEFT_OUT = (
    *("properties_left", "long_values", "long_lines", "table_rows_cut", "rows_cut"),
    *PROSE_LEFT,
)
OBSERVED = (MENTIONS, LINK_OBSERVATIONS, CLAIM_OBSERVATIONS)
CONTRACTS = (*OBSERVED, READINGS)
_NOTE_COLUMNS = [
    *("version_id", "note_id", "version", "title", "aliases", "kind"),
    *("properties", "text", "body_start"),
]
_PIECE_COLUMNS = [
    *("version_id", "ordinal", "chunk_id", "byte_start", "byte_end"),
    *("written_date", "written_basis", "text", "breadcrumb"),
]
_LINK_COLUMNS = ["version_id", "syntax", "target", "display", "byte_start", "byte_end"]


class Extracted(NamedTuple):
    """The stage's tables by name, and how much was left out, by reason."""

    tables: Mapping[str, pa.Table]
    counts: Mapping[str, int]


_RULES_READ_ALL = Prose()


def extract(
    notes: pa.Table,
    links: pa.Table,
    chunks: pa.Table,
    ontology: Ontology,
    prose: Prose = _RULES_READ_ALL,
) -> Extracted:
    """Return what the chunks of a folder say; `prose` says who reads which.

    Takes tables of the contracts `notes`, `note_links_raw` and `chunks`; gives those of
    `mentions`, `link_observations`, `claim_observations` and `readings`, whose checks they pass.
    """
    rows: dict[str, list[Row]] = {contract.name: [] for contract in CONTRACTS}
    counts: Counter[str] = Counter(dict.fromkeys(LEFT_OUT, 0))
    for note in _notes(notes, links, chunks):
        said = _structure_of(note, ontology)
        rows[READINGS.name] += _read_prose(said, note, ontology, prose, counts)
        counts.update(said.counts)
        for contract in OBSERVED:
            rows[contract.name].extend(said.rows(contract.name))
    counts.update(_states(rows[READINGS.name]))
    tables = {contract.name: contract.table(rows[contract.name]) for contract in CONTRACTS}
    return Extracted(tables, dict(counts))


def _read_prose(
    said: Said, note: NoteText, ontology: Ontology, prose: Prose, counts: Counter[str]
) -> list[Row]:
    """Add what the prose of a version says; return who read each of its chunks."""
    readings = [prose.of((note.version_id, piece.chunk_id)) for piece in note.pieces]
    dropped = [0] * len(readings)
    for piece, reading in enumerate(readings):
        if reading.answer is not None:
            readings[piece], dropped[piece] = _hear(
                said, note, piece, reading.answer, ontology, counts
            )
    by_rules = [
        piece
        for piece, reading in enumerate(readings)
        if reading.answer is None and reading.state != LEFT
    ]
    read_prose(said, note, by_rules, ontology)
    return [
        {
            "version_id": note.version_id,
            "chunk_id": note.pieces[piece].chunk_id,
            "note_id": note.note_id,
            "extractor": reading.extractor,
            "state": reading.state,
            "dropped": dropped[piece],
        }
        for piece, reading in enumerate(readings)
    ]


def _hear(
    said: Said,
    note: NoteText,
    piece: int,
    answer: Stored,
    ontology: Ontology,
    counts: Counter[str],
) -> tuple[Reading, int]:
    """Add what holds of an answer; rules read the chunk if the whole is unsound."""
    text = note.pieces[piece]
    said.extractor = answer.label
    try:
        heard = say_answer(said, note, piece, text.text, answer.text, ontology, text.breadcrumb)
    except UnusableAnswerError:
        return Reading(UNUSABLE), 0
    finally:
        said.extractor = STRUCTURE
    left = {name: n for name, n in heard.counts.items() if not name.startswith("accepted_")}
    counts.update({f"model_{name}": number for name, number in heard.counts.items()})
    return Reading(READ, answer), sum(left.values())


def _states(readings: Sequence[Row]) -> Counter[str]:
    """Count the chunks by who read them, and why no model did where one was to."""
    found = Counter(dict.fromkeys((f"chunks_{state}" for state in NOT_READ), 0))
    found.update(f"chunks_{row['state']}" for row in readings if row["state"] != READ)
    found["chunks_by_rules"] = sum(row["extractor"] == RULES for row in readings)
    found["chunks_by_model"] = len(readings) - found["chunks_by_rules"]
    return found


def _structure_of(note: NoteText, ontology: Ontology) -> Said:
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
    return Piece(
        row["chunk_id"],
        row["byte_start"],
        row["byte_end"],
        row["written_date"],
        is_dated,
        row["text"],
        row["breadcrumb"],
    )


def _link(row: Row) -> LinkRow:
    outside = is_address(row["target"], row["syntax"])
    return LinkRow(row["byte_start"], row["byte_end"], row["target"], row["display"], outside)
