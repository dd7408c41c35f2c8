"""Find a note's blocks: headings, paragraphs, and what nobody should cut. Pure, linear.

A block is a run of lines. ATX and setext headings count, also those of reStructuredText with
underlines of ``~``, ``^``, ``'`` or ``"``; never inside a fence (of either kind, any length, also
in a list), a quote, indented code, HTML, a ``%%`` comment or ``$$`` formulas. Rules are those
of CommonMark with these exceptions: a comment that is never closed hides nothing, an underlined
paragraph of more than three lines or 200 characters is text, and a heading inside a list item does
not divide the note. Offsets count characters of the text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST_HEADING = 200  # characters; it is repeated in every breadcrumb below it

_HTML_BLOCKS = (
    "address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset"
    "|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li"
    "|link|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
# Only lines that could end a paragraph are looked at. Each pattern starts with the line break
# before the line, which lets the engine jump from break to break: 5 times faster than "^".
_EVENT = re.compile(
    rf"""\n(?:
      (?P<blank>[ \t]*+(?=\n|\Z))
    | (?P<heading>(?P<indent>[ ]{{0,3}})(?P<hashes>\#{{1,6}})(?=[ \t\n]|\Z)(?P<title>[^\n]*+))
    | (?P<underline>[ ]{{0,3}}(?P<mark>=++|-++|~{{4,}}+|'{{4,}}+|\^{{4,}}+|"{{4,}}+)
        [ \t]*+(?=\n|\Z))
    | (?P<fence>(?P<lead>[ \t]*+(?P<marker>(?:[-*+]|\d{{1,9}}[.)])[ \t]++)*+)
        (?P<ticks>`{{3,}}+(?=[^`\n]*+(?:\n|\Z))|~{{3,}}+))
    | (?P<opener>[ ]{{0,3}}(?P<token><!--|%%|\$\$|<(?:pre|script|style|textarea)(?=[\s>])))
    | (?P<html>[ ]{{0,3}}</?(?:{_HTML_BLOCKS})(?=[\s/>]))
    | (?P<rule>[ ]{{0,3}}(?:(?:\*[ \t]*+){{3,}}+|(?:_[ \t]*+){{3,}}+)(?=\n|\Z))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_BLANK = re.compile(r"\n[ \t]*+(?=\n|\Z)")
_ITEM = re.compile(r"\n[ \t]*+(?:[-*+]|\d{1,9}[.)])(?=[ \t\n])")
_NOT_PLAIN = re.compile(r" {4}|\t| {0,3}[>|]")
_ONLY_MARKS = re.compile(r"([=~^'\"-])\1*")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_CLOSERS = {
    "<!--": re.compile("-->"),
    "%%": re.compile("%%"),
    "$$": re.compile(r"\$\$"),
    "<pre": re.compile("</pre>", re.IGNORECASE),
    "<script": re.compile("</script>", re.IGNORECASE),
    "<style": re.compile("</style>", re.IGNORECASE),
    "<textarea": re.compile("</textarea>", re.IGNORECASE),
}
_LEVELS = {"=": 1, "-": 2}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines: `start` is its first character, `end` the one after its last."""

    start: int
    end: int
    level: int = 0  # of a heading, from 1; 0 is no heading
    title: str = ""  # of a heading, as written, at most 200 characters
    is_solid: bool = False  # a fence, comment or formula: cut at lines only, if it must be


def read_blocks(text: str) -> list[Block]:
    """Return the blocks in order. Blank lines belong to none, every other line to one."""
    return _Scan(text).run()


class _Scan:
    """One pass over a text. Positions inside count from the line break put in front of it."""

    def __init__(self, text: str) -> None:
        # Same length, so offsets hold for the original.
        flat = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
        self.text = "\n" + flat
        self.blocks: list[Block] = []
        self.open = 1  # where the paragraph being read began
        self.was_list = False  # whether the block before `open` belongs to a list
        self.has_item = False  # whether the paragraph being read holds a list item
        self.item_seen = 0  # up to where it was searched for one
        self.unclosed: set[str] = set()

    def run(self) -> list[Block]:
        position = 0
        while event := _EVENT.search(self.text, position):
            # `lastgroup` is the alternative: the groups inside close before it does.
            position = getattr(self, f"_{event.lastgroup}")(event)
        self._close(len(self.text) + 1)
        return self.blocks

    def _blank(self, event: re.Match[str]) -> int:
        self._close(event.start() + 1)
        return self._go_on(event.end())

    def _heading(self, event: re.Match[str]) -> int:
        line = event.start() + 1
        if event["indent"] and self._in_list(line):
            return event.end()
        title = _CLOSING_HASHES.sub("", event["title"][:LONGEST_HEADING]).strip()
        return self._add_heading(line, event.end(), len(event["hashes"]), title)

    def _underline(self, event: re.Match[str]) -> int:
        line, mark = event.start() + 1, event["mark"]
        title = self._title_above(line, mark)
        if title:
            return self._add_heading(self.open, event.end(), _LEVELS.get(mark[0], 3), title)
        if mark[0] == "~":
            return self._solid_fence(line, event.end(), mark, False)
        if mark.startswith("---"):
            return self._rule(event)
        return event.end()

    def _fence(self, event: re.Match[str]) -> int:
        line, lead = event.start() + 1, event["lead"]
        in_list = bool(event["marker"]) or (bool(lead) and self._in_list(line))
        if not in_list and ("\t" in lead or len(lead) > 3):
            return event.end()  # indented code that shows a fence
        return self._solid_fence(line, event.end(), event["ticks"], in_list)

    def _opener(self, event: re.Match[str]) -> int:
        found = self._find_closer(event["token"].lower(), event.end())
        if found < 0:
            return event.end()
        line_end = self.text.find("\n", found)
        return self._add_solid(event.start() + 1, line_end if line_end >= 0 else len(self.text))

    def _html(self, event: re.Match[str]) -> int:
        self._close(event.start() + 1)
        blank = _BLANK.search(self.text, event.end())
        self._close((blank.start() if blank else len(self.text)) + 1)
        return blank.start() if blank else len(self.text)

    def _rule(self, event: re.Match[str]) -> int:
        self._close(event.end() + 1)
        return self._go_on(event.end())

    def _title_above(self, line: int, mark: str) -> str:
        """Return the title that the mark on this line underlines, or nothing."""
        if not self.open < line <= self.open + LONGEST_HEADING:
            return ""
        above = self.text[self.open : line - 1]
        if _NOT_PLAIN.match(above) or self._in_list(line):
            return ""
        lines = [part.strip() for part in above.split("\n")]
        title = " ".join(part for part in lines if not _ONLY_MARKS.fullmatch(part))
        if mark[0] in "=-":
            return title if len(lines) <= 3 else ""
        # As wide as its one line: else the mark opens a fence, or means nothing.
        is_fitting = len(title) - 1 <= len(mark) <= 2 * len(title) + 3
        return title if len(lines) == 1 and is_fitting else ""

    def _solid_fence(self, line: int, after: int, ticks: str, in_list: bool) -> int:
        closing = _closing_fence(ticks[0], len(ticks), in_list).search(self.text, after)
        end = closing.end() if closing else len(self.text)
        if closing and closing["outside"] is not None:
            end = closing.start()
        at = self._add_solid(line, end)
        self.was_list = in_list
        return at

    def _find_closer(self, token: str, after: int) -> int:
        # A closer that was looked for in vain once is not looked for again: linear.
        found = None if token in self.unclosed else _CLOSERS[token].search(self.text, after)
        if not found:
            self.unclosed.add(token)
            return -1
        if token == "$$" and self.text.find("\n\n", after, found.start()) >= 0:
            return -1  # a formula has no blank line: two prices in dollars, far apart
        return found.end()

    def _in_list(self, upto: int) -> bool:
        """Return whether a line at `upto` that is indented belongs to a list item."""
        if self.item_seen < upto and not self.has_item:
            start = max(self.item_seen, self.open) - 1
            self.has_item = _ITEM.search(self.text, start, upto) is not None
            self.item_seen = upto
        return self.has_item or (self.was_list and self.text[self.open : self.open + 1] in " \t")

    def _add_heading(self, start: int, end: int, level: int, title: str) -> int:
        self._close(start)
        self.blocks.append(Block(start - 1, end - 1, level, title))
        self.was_list = False
        return self._go_on(end)

    def _add_solid(self, start: int, end: int) -> int:
        self._close(start)
        self.blocks.append(Block(start - 1, end - 1, is_solid=True))
        return self._go_on(end)

    def _close(self, line: int) -> None:
        """End the paragraph being read before this line."""
        if self.open < line:
            self.was_list = self._in_list(line)
            self.blocks.append(Block(self.open - 1, line - 2))
        self.open = line
        self.has_item = False

    def _go_on(self, line_end: int) -> int:
        """Begin the next paragraph on the line after this one."""
        self.open = line_end + 1
        return line_end


@lru_cache(maxsize=64)
def _closing_fence(tick: str, length: int, in_list: bool) -> re.Pattern[str]:
    indent = r"[ \t]*+" if in_list else " {0,3}"
    # A list item, and the fence in it, ends where a line is no longer indented.
    outside = r"(?=[^ \t\n])" if in_list else r"(?!)"
    return re.compile(rf"\n(?:{indent}{tick}{{{length},}}[ \t]*+(?=\n|\Z)|(?P<outside>{outside}))")
