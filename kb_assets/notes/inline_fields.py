"""Read the properties people write in a note's body. Pure, linear.

Two forms: Dataview fields (`key:: value` on a line, `[key:: value]` or `(key:: value)` inside
one), and a header block, at least three lines `Key: value` directly below the title, as in
mailing-list style proposals. A field beside a list marker or in brackets belongs to that item;
only a whole-line field and a header line speak for the note.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from kb_assets.notes.comments import FILLER
from kb_assets.notes.spans import Spans

_KEY = rb"([A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff _/-]{0,59}?)"
# A blank or a wikilink must follow: `[Arc::drop](...)` and `std::size_t` are no fields.
_MARK = re.compile(rb"::(?=[ \t]|\[\[)")
_WHOLE_LINE = re.compile(
    rb"(?:[ \t>]{1,40}|(?P<item>(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,8})){0,12}+(?:\[.\][ \t]{1,8})?"
    rb"(?:\*\*|__|\*|_)?" + _KEY + rb"(?:\*\*|__|\*|_)?::[ \t]+(?P<value>[^\s][^\n]*)"
)
_BRACKETED = re.compile(rb"(?<!\[)[\[(]" + _KEY + rb"::")
_HEADER_LINE = re.compile(
    rb"(?:\*\*)?([A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff _/-]{0,59}?)"
    # After a full-width colon nobody writes a blank.
    rb"(?:(?:\*\*:|:\*\*|:)(?:[ \t]+([^\n]*))?"
    rb"|(?:\*\*)?\xef\xbc\x9a(?:\*\*)?[ \t]*([^\n]*))(?:\n|\Z)"
)
_CONTINUED = re.compile(rb"[ \t]+([^\s][^\n]*)(?:\n|\Z)")
_BRACKETS = re.compile(rb"[\[\]()\n]")
_BLANKS = re.compile(rb"[ \t\n]*")
_FARTHEST_START = 160  # bytes from a line's start to its `::`, indent and key included
_FEWEST_HEADER_LINES = 3
_MOST_HEADER_LINES = 200  # lines that go on with a value included


class Field(NamedTuple):
    """One property in the body; `start` counts bytes of the body."""

    name: str
    value: str
    start: int
    is_of_note: bool


def find_fields(data: bytes, code: Spans) -> list[Field]:
    """Return the Dataview fields outside code, in order."""
    marks = [mark.start() for mark in _MARK.finditer(data) if not code.covers(mark.start())]
    closings = _closings(data) if marks else {}
    found = (_whole_line(data, at) or _bracketed(data, at, closings) for at in marks)
    return [field for field in found if field]


def header_block(data: bytes, title_end: int) -> list[Field]:
    """Return the properties of the header block that follows the title, if there is one."""
    lines: list[Field] = []
    at = _skip_blanks(data, title_end)
    for _ in range(_MOST_HEADER_LINES):
        if line := _HEADER_LINE.match(data, at):
            lines.append(Field(_text(line[1]), _text(line[2] or line[3] or b""), at, True))
        elif lines and (line := _CONTINUED.match(data, at)):
            last = lines.pop()
            lines.append(last._replace(value=f"{last.value} {_text(line[1])}".strip()))
        else:
            break
        at = line.end()
    # A chat's turns look the same, but its names come again.
    is_header = len(lines) >= _FEWEST_HEADER_LINES and len({x.name for x in lines}) == len(lines)
    return [line for line in lines if line.value] if is_header else []


def _whole_line(data: bytes, mark: int) -> Field | None:
    """Read the line whose first `::` this is."""
    start = data.rfind(b"\n", max(0, mark - _FARTHEST_START), mark) + 1
    line = _WHOLE_LINE.match(data, start) if start or mark < _FARTHEST_START else None
    if not line or not line.end(2) <= mark < line.start("value"):
        return None
    return Field(_text(line[2]), _text(line["value"]), line.start(2), not line["item"])


def _bracketed(data: bytes, mark: int, closings: Mapping[int, int]) -> Field | None:
    """Read the field in brackets whose `::` this is."""
    first = max(0, mark - _FARTHEST_START)
    opening = max(data.rfind(left, first, mark) for left in (b"[", b"("))
    field = _BRACKETED.match(data, opening) if opening >= 0 else None
    value = _text(data[mark + 2 : closings.get(opening, mark)])
    return Field(_text(field[1]), value, opening, False) if field and value else None


def _closings(data: bytes) -> dict[int, int]:
    """Pair every bracket with the one that closes it on the same line, in one pass."""
    pairs: dict[int, int] = {}
    open_at: dict[bytes, list[int]] = {b"[": [], b"(": []}
    for mark in _BRACKETS.finditer(data):
        char = mark[0]
        if char in open_at:
            open_at[char].append(mark.start())
        elif char == b"\n":
            open_at = {b"[": [], b"(": []}
        elif before := open_at[b"[" if char == b"]" else b"("]:
            pairs[before.pop()] = mark.start()
    return pairs


def _skip_blanks(data: bytes, at: int) -> int:
    found = _BLANKS.match(data, at)
    return found.end() if found else at


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace(FILLER, "").strip()
