"""Read tables with a column of dates: each row states values since its date. Pure, linear.

`| Product | from | price |`: what stands in the first other column is spoken of where all of that
column are links or names, else the note itself is, if the dates stand first. Nothing is read from
a table without dates.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_assets.extractions.note_text import NoteText
from kb_assets.extractions.observations import LONGEST_VALUE, Said
from kb_assets.extractions.properties import SELF_REFERENCE, SUGGESTION
from kb_assets.extractions.references import Named, is_nothing, linked, plain
from kb_core.dates import parse_date
from kb_core.names import is_nameable, name_key
from kb_core.ontology import Ontology
from kb_core.property_names import property_key
from kb_knowledge.records import NAME, SELF, Reference

MOST_ROWS = 200  # of the tables in one chunk
_RULE = re.compile(rb"^[ \t>]{0,20}\|?[ \t]*:?-[-| \t:]*$", re.MULTILINE)
_CELLS = re.compile(r"(?<!\\)\|")
_LONGEST_ROW = 4_000  # bytes
_MOST_COLUMNS = 30
_LONGEST_HEAD = 40
_YEAR = 4
_MOST_WORDS = 6  # of a name


class _Row(NamedTuple):
    start: int  # byte
    text: str
    cells: list[str]


def read_tables(said: Said, note: NoteText, modality: str, ontology: Ontology) -> None:
    """Add the claims of a note's dated tables; `modality` is how the note's values are meant."""
    meant = SUGGESTION if note.is_chat else modality
    used: dict[int, int] = {}
    end = note.body_start
    for rule in _RULE.finditer(note.data, note.body_start):
        is_first = rule.start() >= end and b"|" in rule[0]
        head = _row_before(note, rule.start()) if is_first else None
        if head is None or note.is_code(rule.start()):
            continue
        rows = list(_rows_after(note, rule.end(), len(head.cells)))
        end = rows[-1].start if rows else rule.end()
        _read(said, note, head.cells, rows, (meant, ontology), used)


def _read(
    said: Said,
    note: NoteText,
    heads: Sequence[str],
    rows: Sequence[_Row],
    meant: tuple[str, Ontology],
    used: dict[int, int],
) -> None:
    dated = _date_column(heads, rows, meant[1])
    if dated is None:
        return
    about = _subject_column(heads, rows, dated)
    if dated and about is None:
        return  # what stands first is what the row is about, and it is no name
    for row in rows:
        date, piece = parse_date(plain(row.cells[dated])), note.piece_at(row.start)
        if date is None or piece is None:
            continue
        used[piece] = used.get(piece, 0) + 1
        if used[piece] > MOST_ROWS:
            said.counts["table_rows_cut"] += 1
            continue
        subject = _subject(row.cells[about]) if about is not None else SELF_REFERENCE
        if subject:
            values = [at for at in range(len(heads)) if at not in (dated, about)]
            _say(said, piece, subject, (heads, row, values), (date, *meant))


def _say(
    said: Said,
    piece: int,
    subject: Reference,
    found: tuple[Sequence[str], _Row, Sequence[int]],
    meant: tuple[str, str, Ontology],
) -> None:
    heads, row, columns = found
    date, modality, ontology = meant
    stated = False
    for at in columns:
        value, key = plain(row.cells[at]), property_key(plain(heads[at]))
        if not key or is_nothing(value):
            continue
        if len(value) > LONGEST_VALUE or len(key) > _LONGEST_HEAD:
            said.counts["long_values"] += 1
            continue
        stated = True
        pair = (ontology.attribute(key), value)
        said.claim(piece, subject, pair, row.text, "table", modality, (date, None))
    if stated and subject.kind != SELF:
        said.mention(piece, subject, "", "value", subject.text)


def _date_column(heads: Sequence[str], rows: Sequence[_Row], ontology: Ontology) -> int | None:
    """Return the first column in which everything is a date; years alone need a fitting head."""
    for at, head in enumerate(heads):
        dates = [parse_date(cell) for row in rows if (cell := plain(row.cells[at]))]
        is_told = name_key(plain(head)) in ontology.date_columns
        is_fine = any(date and len(date) > _YEAR for date in dates) or (is_told and dates)
        if dates and all(dates) and is_fine:
            return at
    return None


def _subject_column(heads: Sequence[str], rows: Sequence[_Row], dated: int) -> int | None:
    """Return the first other column if it names what the rows are about."""
    first = next((at for at in range(len(heads)) if at != dated), None)
    if first is None or len(heads) < 3:
        return None
    cells = [row.cells[first] for row in rows]
    return first if all(_subject(cell) for cell in cells) else None


def _subject(cell: str) -> Reference | None:
    links: list[Named] = linked(cell)
    if links:
        return links[0].reference if len(links) == 1 else None
    text = plain(cell)
    is_name = is_nameable(text) and len(text.split()) <= _MOST_WORDS and not text[0].isdigit()
    return Reference(NAME, text) if is_name else None


def _row_before(note: NoteText, at: int) -> _Row | None:
    start = note.data.rfind(b"\n", max(0, at - _LONGEST_ROW), max(0, at - 1)) + 1
    line = note.data[start : max(start, at - 1)]
    row = _row(start, line) if start >= note.body_start and b"|" in line else None
    return row if row and 2 <= len(row.cells) <= _MOST_COLUMNS else None


def _rows_after(note: NoteText, at: int, columns: int) -> Iterator[_Row]:
    while at + 1 < len(note.data):
        start = at + 1
        at = note.data.find(b"\n", start)
        at = len(note.data) if at < 0 else at
        line = note.data[start:at]
        if b"|" not in line or len(line) > _LONGEST_ROW:
            return
        row = _row(start, line)
        cells = [*row.cells, *[""] * columns][:columns]
        yield row._replace(cells=cells)


def _row(start: int, line: bytes) -> _Row:
    text = line.decode("utf-8", "replace").strip().lstrip("> ")
    inner = text.removeprefix("|").removesuffix("|")
    cells = [cell.replace("\\|", "|").strip() for cell in _CELLS.split(inner)]
    return _Row(start, text, cells)
