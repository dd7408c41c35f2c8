"""Questions on tables: the row's label and the column's name ask, the cell answers. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eval_assets.suggestions.drafts import Draft, facts_of
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.parts import Table
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import ignored, key_name, templates
from eval_assets.suggestions.values import has_figure, is_askable, is_clause, is_name
from eval_assets.suggestions.wording import is_unspaced, plain
from kb_core.dates import parse_date
from kb_core.text import fold

_PLAIN_COLUMN = re.compile(r"[A-Za-z][a-z]{2,}(?: [a-z]{2,}){0,3}")
_ROW_NUMBER = re.compile(r"[#\d.()]{1,4}")
_LETTERS = re.compile(r"[^\W\d_]")
_SYMBOLS = re.compile(r"[*%$^=<>~#@?]")
_MOST_ROWS = 60
_LONGEST_ROW_NAME = 60
_ENOUGH_DATES = 3


class Cell(NamedTuple):
    """One cell with what it is a cell of; the quote reaches from the row's label to the cell."""

    column: str
    row: str
    value: str
    quote: str


def table_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield a draft for each cell that its row and column name, and for the newest of each."""
    for note in vault.notes:
        name = names.of(note) if note.tables else None
        if name is None:
            continue
        repeated = Counter(
            fold(plain(row[0])) for table in note.tables for row in table.rows if row
        )
        for table in note.tables:
            if 2 <= len(table.columns) <= 8 and 2 <= len(table.rows) <= _MOST_ROWS:
                yield from _cells(vault, note, name, table, repeated)
                yield from _newest(note, name, table)


def _cells(
    vault: SourceVault, note: SourceNote, name: str, table: Table, repeated: Counter[str]
) -> Iterator[Draft]:
    wording = templates(note.language)
    for cell in _askable_cells(note, table):
        if repeated[fold(cell.row)] > 1:
            continue
        plain_column = (
            _PLAIN_COLUMN.fullmatch(cell.column)
            and not cell.column.endswith("s")
            and vault.words[cell.column.split()[0]] <= vault.words[cell.column.split()[0].lower()]
            and wording.text("cell")
        )
        kind = "cell" if plain_column else "cell_quoted"
        column = cell.column.lower() if plain_column else cell.column
        question = wording.word(kind, name=name, column=column, row=cell.row)
        if question:
            yield _draft(note, wording.code, "table", cell, question)


def _askable_cells(note: SourceNote, table: Table) -> Iterator[Cell]:
    for row in table.rows:
        label = plain(row[0])
        if not _is_row_name(label):
            continue
        for at in range(1, len(row)):
            cell = Cell(table.columns[at], label, plain(row[at]), _quote(note, row, at))
            if _is_worth_asking(cell):
                yield cell


def _newest(note: SourceNote, name: str, table: Table) -> Iterator[Draft]:
    """Where the rows are days, the last day's cell is the newest value of its column."""
    days = [parse_date(plain(row[0])) for row in table.rows]
    if len(days) < _ENOUGH_DATES or None in days or len(set(days)) < len(days):
        return
    wording = templates(note.language)
    row = max(table.rows, key=lambda each: parse_date(plain(each[0])) or "")
    for at in range(1, len(row)):
        cell = Cell(table.columns[at], plain(row[0]), plain(row[at]), _quote(note, row, at))
        others = {plain(each[at]) for each in table.rows}
        question = wording.word("newest_cell", name=name, column=cell.column)
        if question and len(others) > 1 and _is_worth_asking(cell) and has_figure(cell.value):
            yield _draft(note, wording.code, "newest_row", cell, question)


def _draft(note: SourceNote, language: str, rule: str, cell: Cell, question: str) -> Draft:
    return Draft(
        rule=rule,
        topic=f"{key_name(cell.column)}/{key_name(cell.row)}",
        category="temporal" if rule == "newest_row" else "single_fact",
        language=language,
        question=question,
        answer=cell.value,
        facts=facts_of(note.note_id, [cell.quote]),
        reason="One cell of a table says it."
        if rule == "table"
        else "The last day's row of a table says it; the other rows are older.",
        weight=1.0 if has_figure(cell.value) else 0.7,
    )


def _is_row_name(label: str) -> bool:
    return (
        2 <= len(label) <= _LONGEST_ROW_NAME
        and (len(_LETTERS.findall(label)) > 2 or is_unspaced(label) or bool(parse_date(label)))
        and not _SYMBOLS.search(label)
        and not _ROW_NUMBER.fullmatch(label)
        and is_askable(label)
        and not is_clause(label)
    )


def _is_worth_asking(cell: Cell) -> bool:
    folded = key_name(cell.column)
    if (
        len(folded) < 3
        or _SYMBOLS.search(cell.column)
        or folded in ignored("labels")
        or len(cell.column) > 40
    ):
        return False
    if not is_askable(cell.value) or is_clause(cell.value) or fold(cell.value) in fold(cell.row):
        return False
    is_full_name = is_name(cell.value) and len(cell.value.split()) > 1
    return bool(cell.quote) and (has_figure(cell.value) or is_full_name)


def _quote(note: SourceNote, row: Sequence[str], at: int) -> str:
    """Return the row as far as the cell, as it stands in the note; "" where that is too long."""
    pattern = r"\s*\|\s*".join(re.escape(cell) for cell in row[: at + 1])
    found = re.search(pattern, note.folded)
    return found[0] if found and 8 <= len(found[0]) <= 240 else ""
