"""Find the blocks of a note line by line, slowly: the lower half of the oracle in oracle_notes.

Written from the CommonMark and GFM rules, with Obsidian's footnotes; it shares no code with what
it judges. A text gives leaves: runs of prose as ranges of characters, a line each, and code and
HTML as whole ranges. Rules it takes where readers differ:

- A table may begin with the last line of a paragraph, as below the title of a callout; an
  indented line below it is a row.
- A bar ends a cell, even inside code or a link, unless a backslash stands before it; cells beyond
  the header's are not shown.
- A footnote's definition may interrupt a paragraph and goes on over lines indented by four.
"""

import re
from dataclasses import dataclass

from tests.oracle_lines import CELL, FENCE, HTML, INDENTED, PROSE, TABLE, Leaf, Line, cells

_ATX = re.compile(r"#{1,6}(?=[ \t]|$)")
_SETEXT = re.compile(r"(=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$")
_FENCE = re.compile(r"(`{3,})(?=[^`]*$)|(~{3,})")
_ITEM = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?=[ \t]|$)")
_BOX = re.compile(r"\[[ xX]\][ \t]+")  # of a task; no part of a table's header
_NOTE = re.compile(r"\[\^([^\[\]\s]+)\]:")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
OPEN_TAG = rf"<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>"
CLOSE_TAG = r"</[A-Za-z][A-Za-z0-9-]*\s*>"
_BLOCK_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|"
    "hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
# How an HTML block begins, and what its last line holds; None: it ends before a blank line.
_HTML = [
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.I),
        re.compile(r"</(?:script|pre|style|textarea)>", re.I),
    ),
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile("<![A-Za-z]"), re.compile(">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_NAMES})(?:\s|/?>|$)", re.I), None),
    (re.compile(rf"(?:{OPEN_TAG}|{CLOSE_TAG})\s*$"), None),
]
_ALONE = 6  # the place of the one kind that cannot interrupt a paragraph


@dataclass
class _Container:
    kind: str  # quote, item, footnote
    width: int = 0
    is_empty: bool = False


class Blocks:
    """The leaves of a text, in order, and the names its footnotes define."""

    def __init__(self, text: str) -> None:
        self.leaves: list[Leaf] = []
        self.footnotes: set[str] = set()
        self._open: list[_Container] = []
        self._leaf: Leaf | None = None
        start = 0
        for line in re.split("\n", text):
            self._take(Line(line, start))
            start += len(line) + 1
        self._close_leaf()

    def _take(self, line: Line) -> None:
        depth = self._matched(line)
        is_whole = depth == len(self._open)
        if is_whole and self._goes_on(line):
            return
        has_started = False
        while not line.is_blank:
            may_interrupt = not (is_whole and not has_started and self._is_prose_open())
            if line.indent >= 4:
                if has_started or not self._is_prose_open():
                    self._begin(depth, has_started)
                    self._leaf = Leaf(INDENTED, [], line.start + line.at, line.end)
                    return
                break
            if not self._starts_container(line, depth, has_started, may_interrupt):
                if self._starts_leaf(line, depth, has_started, is_whole):
                    return
                break
            has_started = True
        self._prose(line, depth, has_started, is_whole)

    def _matched(self, line: Line) -> int:
        for depth, each in enumerate(self._open):
            if each.kind == "quote":
                if line.indent > 3 or not line.rest.startswith(">"):
                    return depth
                self._skip_quote_mark(line)
            elif line.is_blank:
                if each.is_empty:
                    return depth
            elif line.indent >= each.width:
                line.skip(each.width)
            else:
                return depth
        return len(self._open)

    @staticmethod
    def _skip_quote_mark(line: Line) -> None:
        line.skip(line.indent + 1)
        if line.text[line.at : line.at + 1] in (" ", "\t"):
            line.skip(1)

    def _is_prose_open(self) -> bool:
        return self._leaf is not None and self._leaf.kind == PROSE

    def _goes_on(self, line: Line) -> bool:
        """Let code, HTML or a table take the line."""
        leaf = self._leaf
        if leaf is None or leaf.kind == PROSE:
            return False
        if leaf.kind == FENCE:
            leaf.end = line.end
            mark = line.rest.rstrip(" \t")
            is_closer = line.indent < 4 and set(mark) == {leaf.mark[0]}
            if is_closer and len(mark) >= len(leaf.mark):
                self._close_leaf()
            return True
        if leaf.kind == INDENTED:
            return self._goes_on_indented(leaf, line)
        if leaf.kind == HTML:
            return self._goes_on_html(leaf, line)
        return self._goes_on_table(leaf, line)

    @staticmethod
    def _goes_on_indented(leaf: Leaf, line: Line) -> bool:
        if line.is_blank:
            return True
        if line.indent < 4:
            return False
        leaf.end = line.end
        return True

    def _goes_on_html(self, leaf: Leaf, line: Line) -> bool:
        if leaf.last is None and line.is_blank:
            return False
        leaf.end = line.end
        if leaf.last and leaf.last.search(line.text[line.at :]):
            self._close_leaf()
        return True

    def _goes_on_table(self, leaf: Leaf, line: Line) -> bool:
        if line.is_blank or (line.indent < 4 and _begins_block(line.rest)):
            return False
        self._add_cells(line, leaf.columns)
        leaf.end = line.end
        return True

    def _begin(self, depth: int, has_started: bool) -> None:
        """Close what the new block ends."""
        self._close_leaf()
        if not has_started:
            del self._open[depth:]
        if self._open:
            self._open[-1].is_empty = False

    def _starts_container(
        self, line: Line, depth: int, has_started: bool, may_interrupt: bool
    ) -> bool:
        rest = line.rest
        made: _Container | None = None
        if rest.startswith(">"):
            self._skip_quote_mark(line)
            made = _Container("quote")
        elif _RULE.match(rest) or self._is_underline(rest, may_interrupt):
            return False
        elif note := _NOTE.match(rest):
            self.footnotes.add(note[1].casefold())
            line.skip(line.indent + note.end())
            made = _Container("footnote", 4)
        elif item := _ITEM.match(rest):
            made = self._item(line, item, may_interrupt)
        if made is None:
            return False
        self._begin(depth, has_started)
        self._open.append(made)
        return True

    @staticmethod
    def _is_underline(rest: str, may_interrupt: bool) -> bool:
        return not may_interrupt and bool(_SETEXT.match(rest))

    @staticmethod
    def _item(line: Line, item: re.Match[str], may_interrupt: bool) -> _Container | None:
        after = item.string[item.end() :]
        if not may_interrupt and (not after.strip() or (item[1] and int(item[1]) != 1)):
            return None
        width = line.indent + item.end()
        line.skip(width)
        spaces = line.indent
        if not after.strip():
            line.at = len(line.text)
            return _Container("item", width + 1, is_empty=True)
        spaces = spaces if spaces < 5 else 1
        line.skip(spaces)
        return _Container("item", width + spaces)

    def _starts_leaf(self, line: Line, depth: int, has_started: bool, is_whole: bool) -> bool:
        continues = is_whole and not has_started and self._is_prose_open()
        if continues and (self._starts_table(line) or self._underlines(line)):
            return True
        leaf = self._block(line, can_stand_alone=not (not has_started and self._is_prose_open()))
        if leaf is None:
            return False
        self._begin(depth, has_started)
        self._leaf = leaf
        is_closed = leaf.kind == PROSE or (leaf.kind == HTML and leaf.last and leaf.mark)
        if is_closed:
            self._close_leaf()
        return True

    @staticmethod
    def _block(line: Line, can_stand_alone: bool) -> Leaf | None:
        rest, at = line.rest, line.start + line.first
        if heading := _ATX.match(rest):
            text = re.sub(r"(?:^|[ \t]+)#+[ \t]*$", "", rest[heading.end() :]).strip(" \t")
            start = at + heading.end()
            start += len(rest[heading.end() :]) - len(rest[heading.end() :].lstrip(" \t"))
            return Leaf(
                PROSE, [(start, start + len(text))], at, line.end, is_heading=True, mark="#"
            )
        if fence := _FENCE.match(rest):
            return Leaf(FENCE, [], at, line.end, mark=fence[0])
        if _RULE.match(rest):
            return Leaf(PROSE, [], at, line.end)
        for kind, (begins, ends) in enumerate(_HTML):
            if begins.match(rest) and (kind != _ALONE or can_stand_alone):
                is_over = ends is not None and bool(ends.search(rest))
                return Leaf(HTML, [], at, line.end, mark="over" if is_over else "", last=ends)
        return None

    def _underlines(self, line: Line) -> bool:
        if not _SETEXT.match(line.rest) or self._leaf is None:
            return False
        self._leaf.is_heading = True
        self._close_leaf()
        return True

    def _starts_table(self, line: Line) -> bool:
        leaf = self._leaf
        if leaf is None or not leaf.pieces or not _DELIMITERS.match(line.rest):
            return False
        box = _BOX.match(leaf.mark)
        header = leaf.mark[box.end() :] if box else leaf.mark
        columns = len(cells(line.rest))
        if "|" not in header.replace("\\|", "") or len(cells(header)) != columns:
            return False
        start = leaf.pieces.pop()[0] + len(leaf.mark) - len(header)
        self._close_leaf()
        self._leaf = Leaf(TABLE, [], start, line.end, columns=columns)
        self._add_cells(Line(header, start), columns)
        return True

    def _add_cells(self, line: Line, columns: int) -> None:
        offset = line.start + line.first
        for start, end in cells(line.rest)[:columns]:
            self.leaves.append(Leaf(CELL, [(offset + start, offset + end)]))

    def _prose(self, line: Line, depth: int, has_started: bool, is_whole: bool) -> None:
        if line.is_blank:
            if not has_started:
                self._close_leaf()
                del self._open[depth:]
            return
        is_lazy = not is_whole and not has_started
        if self._is_prose_open() and not has_started:
            assert self._leaf is not None
            self._leaf.pieces.append(line.piece())
            self._leaf.mark = line.rest
            return
        if is_lazy or has_started or self._leaf is not None:
            self._begin(depth, has_started)
        if self._open:
            self._open[-1].is_empty = False
        start, end = line.piece()
        self._leaf = Leaf(PROSE, [(start, end)], mark=line.rest)

    def _close_leaf(self) -> None:
        if self._leaf is not None and (self._leaf.pieces or self._leaf.kind != PROSE):
            self.leaves.append(self._leaf)
        self._leaf = None


def _begins_block(rest: str) -> bool:
    """Say whether a line ends a table because another block begins."""
    item = _ITEM.match(rest)
    is_item = bool(item and item.string[item.end() :].strip() and item[1] in (None, "1"))
    starts = rest.startswith(">") or _ATX.match(rest) or _FENCE.match(rest) or _RULE.match(rest)
    html = any(begins.match(rest) for begins, _ in _HTML[:_ALONE])
    return bool(starts or is_item or html or _NOTE.match(rest))
