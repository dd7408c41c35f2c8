"""Cut a note's body into headings, paragraphs, list items and tables. Pure, linear.

Only what is prose or a table comes out: code, quotations, directives, HTML and indented literal
text are left out, because nothing in them is a statement of the note. Texts keep their markup, with
blanks folded, so that a quote taken from them occurs in the note.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from eval_assets.suggestions.wording import plain

_FENCE = re.compile(r"\s{0,12}(```+|~~~+|\$\$)")
_ATX = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_UNDERLINE = re.compile(r"(=|-|~|\^|'|\"|\+|\*)\1{2,}\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[.\]\s+)?(?=\S)")
_ROW = re.compile(r"\s*\|")
_RULE_ROW = re.compile(r"[\s|:+-]+$")
_SKIPPED = re.compile(
    r"\s*(?:>|<|\?\?\?|\.\. |\.\.$|:::|!!!|\{%|\{\{|%%|!\[|\[\^?[\w.-]+\]:|___|\*\*\*$|---)"
)
_LITERAL_NEXT = re.compile(r"(?:::|\.\. .*)$")
_LEVELS = {"=": 1, "-": 2}  # other underlines are deeper
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Part:
    """A heading, a paragraph or a list item, with the headings above it (plain text)."""

    kind: Literal["heading", "paragraph", "item"]
    text: str  # with markup, blanks folded; of a heading plain
    trail: tuple[str, ...]
    depth: int = 0  # of a heading its level, of an item its indent


@dataclass(frozen=True)
class Table:
    """A table: plain column names, and for each row its cells with markup."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    trail: tuple[str, ...]


@dataclass
class _Cutter:
    """Walk the lines once; what is being collected ends when another thing begins."""

    title: str
    parts: list[Part] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    trail: list[tuple[int, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    kind: Literal["paragraph", "item"] = "paragraph"
    depth: int = 0
    fence: str = ""
    literal: bool = False  # indented text below `::` is shown as it is

    def read(self, lines: list[str]) -> None:
        for line in lines:
            if not (self._in_fence(line) or self._in_literal(line)):
                self._take(line)
        self._close()

    def _in_fence(self, line: str) -> bool:
        mark = _FENCE.match(line)
        if self.fence:
            if mark and mark[1].startswith(self.fence):
                self.fence = ""
            return True
        if mark:
            self._close()
            self.fence = mark[1]
        return bool(mark)

    def _in_literal(self, line: str) -> bool:
        if self.literal and line.strip() and not line[0].isspace():
            self.literal = False
        return self.literal

    def _take(self, line: str) -> None:
        if not line.strip():
            self._close()
        elif found := _ATX.match(line):
            self._close()
            self._heading(len(found[1]), found[2])
        elif self._is_underline(line):
            self._underlined(line)
        elif _ROW.match(line):
            self._close_text()
            self.rows.append(line)
        else:
            self._take_text(line)

    def _is_underline(self, line: str) -> bool:
        return (
            bool(_UNDERLINE.match(line))
            and self.kind == "paragraph"
            and len(self.lines) == 1
            and len(line.strip()) >= min(4, len(self.lines[0]))
        )

    def _underlined(self, line: str) -> None:
        text = self.lines.pop()
        self._close()
        self._heading(_LEVELS.get(line[0], 3), text)

    def _take_text(self, line: str) -> None:
        self._close_rows()
        if item := _ITEM.match(line):
            self._close()
            self.kind, self.depth = "item", len(item[1].expandtabs(4))
            line = line[item.end() :]
        elif not self.lines and (_SKIPPED.match(line) or line.startswith(("    ", "\t"))):
            self._skip(line)
            return
        self.lines.append(line.strip())

    def _skip(self, line: str) -> None:
        if _LITERAL_NEXT.search(line.rstrip()):
            self.literal = True

    def _heading(self, level: int, text: str) -> None:
        shown = plain(text)
        self.trail = [(above, name) for above, name in self.trail if above < level]
        if shown == plain(self.title) or not shown:
            return
        self.parts.append(Part("heading", shown, self._above(), level))
        self.trail.append((level, shown))

    def _above(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.trail)

    def _close(self) -> None:
        self._close_rows()
        self._close_text()

    def _close_text(self) -> None:
        text = " ".join(" ".join(self.lines).split())
        if text:
            self.parts.append(Part(self.kind, text, self._above(), self.depth))
            self.literal = text.endswith("::")
        self.lines, self.kind, self.depth = [], "paragraph", 0

    def _close_rows(self) -> None:
        rows, self.rows = self.rows, []
        if len(rows) >= 3 and _RULE_ROW.match(rows[1]):
            columns = tuple(plain(cell) for cell in _cells(rows[0]))
            body = (tuple(_cells(row)) for row in rows[2:])
            whole = tuple(row for row in body if len(row) == len(columns))
            self.tables.append(Table(columns, whole, self._above()))


def cut_into_parts(body: str, title: str) -> tuple[tuple[Part, ...], tuple[Table, ...]]:
    """Return the body's parts and its tables, each in order; the title's heading is left out."""
    cutter = _Cutter(title)
    cutter.read(body.replace("\r\n", "\n").split("\n"))
    return tuple(cutter.parts), tuple(cutter.tables)


def _cells(row: str) -> Iterator[str]:
    for cell in _CELL.split(row.strip().strip("|")):
        yield " ".join(cell.split())
