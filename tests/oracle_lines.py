"""One line of a note with a place in it, and the leaves that lines make: see oracle_blocks."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

Range = tuple[int, int]

PROSE, CELL, FENCE, INDENTED, HTML, TABLE = "prose", "cell", "fence", "indented", "html", "table"


@dataclass
class Leaf:
    """A block without blocks in it. `pieces` are the ranges of its text, one a line."""

    kind: str
    pieces: list[Range] = field(default_factory=list)
    start: int = 0
    end: int = 0
    is_heading: bool = False
    mark: str = ""  # what opened a fence or heading; the last line of prose
    last: re.Pattern[str] | None = None  # what ends an HTML block
    columns: int = 0


class Line:
    """One line with a place in it, counted in characters and in columns of tab stops."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.at = 0
        self.column = 0
        self.rest_of_tab = 0

    def skip(self, columns: int) -> None:
        while columns > 0 and self.at < len(self.text):
            if self.text[self.at] != "\t":
                self.at, self.column, columns = self.at + 1, self.column + 1, columns - 1
                continue
            width = self.rest_of_tab or 4 - self.column % 4
            taken = min(width, columns)
            self.column, columns, self.rest_of_tab = self.column + taken, columns - taken, 0
            if taken == width:
                self.at += 1
            else:
                self.rest_of_tab = width - taken

    @property
    def first(self) -> int:
        """The place of the first character that is no blank."""
        at = self.at
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        return at

    @property
    def indent(self) -> int:
        column = self.column
        for at in range(self.at, self.first):
            width = self.rest_of_tab if at == self.at and self.rest_of_tab else 4 - column % 4
            column += width if self.text[at] == "\t" else 1
        return column - self.column

    @property
    def rest(self) -> str:
        return self.text[self.first :]

    @property
    def is_blank(self) -> bool:
        return not self.rest.strip()

    def piece(self) -> Range:
        first = self.first
        return self.start + first, self.start + first + len(self.text[first:].rstrip(" \t"))

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def cells(row: str) -> list[Range]:
    """Return the ranges of a row's cells, without the blanks around them."""
    bars = [at for at, char in enumerate(row) if char == "|" and row[at - 1 : at] != "\\"]
    edges = [-1, *bars, len(row)]
    found = [(start + 1, end) for start, end in pairwise(edges)]
    if found and not row[slice(*found[0])].strip():
        found = found[1:]
    if found and not row[slice(*found[-1])].strip():
        found = found[:-1]
    return [_trimmed(row, start, end) for start, end in found]


def _trimmed(row: str, start: int, end: int) -> Range:
    while start < end and row[start] in " \t":
        start += 1
    while end > start and row[end - 1] in " \t":
        end -= 1
    return start, end
