"""Read the properties people write in a note's body. Pure, linear.

Two forms: Dataview fields (`key:: value` on a line, `[key:: value]` or `(key:: value)` inside
one), and a header block, at least three lines `Key: value` directly below the title, as in
mailing-list style proposals. A field beside a list marker or in brackets belongs to that item;
only a whole-line field and a header line speak for the note.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kb_assets.notes.spans import Spans

_KEY = rb"([A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff _/-]{0,59}?)"
_WHOLE_LINE = re.compile(
    rb"^[ \t>]{0,40}(?P<item>(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?"
    rb"(?:\*\*|__|\*|_)?" + _KEY + rb"(?:\*\*|__|\*|_)?::[ \t]+(?P<value>[^\s][^\n]*)$",
    re.MULTILINE,
)
# A blank or a wikilink must follow: `[Arc::drop](...)` and `(std::size_t)` are no fields.
_BRACKETED = re.compile(rb"(?:(?<!\[)\[|\()" + _KEY + rb"::(?=[ \t]|\[\[)")
_HEADER_LINE = re.compile(
    rb"(?:\*\*)?([A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff _/-]{0,59}?)"
    rb"(?:\*\*:|:\*\*|:|\xef\xbc\x9a)(?:[ \t]+([^\n]*))?(?:\n|\Z)"
)
_CONTINUED = re.compile(rb"[ \t]+([^\s][^\n]*)(?:\n|\Z)")
_BLANKS = re.compile(rb"[ \t\n]*")
_LONGEST_BRACKET = 1_000
_FEWEST_HEADER_LINES = 3
_MOST_HEADER_LINES = 60


class Field(NamedTuple):
    """One property in the body; `start` counts bytes of the body."""

    name: str
    value: str
    start: int
    is_of_note: bool


def find_fields(data: bytes, code: Spans) -> list[Field]:
    """Return the Dataview fields outside code, in order."""
    if b"::" not in data:
        return []
    found = [*_whole_lines(data, code), *_bracketed(data, code)]
    return sorted(found, key=lambda field: field.start)


def header_block(data: bytes, title_end: int) -> list[Field]:
    """Return the properties of the header block that follows the title, if there is one."""
    lines: list[Field] = []
    at = _skip_blanks(data, title_end)
    while len(lines) <= _MOST_HEADER_LINES:
        if line := _HEADER_LINE.match(data, at):
            lines.append(Field(_text(line[1]), _text(line[2] or b""), at, True))
        elif lines and (line := _CONTINUED.match(data, at)):
            last = lines.pop()
            lines.append(last._replace(value=f"{last.value} {_text(line[1])}".strip()))
        else:
            break
        at = line.end()
    # A chat's turns look the same, but its names come again.
    is_header = len(lines) >= _FEWEST_HEADER_LINES and len({x.name for x in lines}) == len(lines)
    return [line for line in lines if line.value] if is_header else []


def _whole_lines(data: bytes, code: Spans) -> Iterator[Field]:
    for line in _WHOLE_LINE.finditer(data):
        if not code.covers(line.start(2)):
            value = _text(line["value"])
            yield Field(_text(line[2]), value, line.start(2), not line["item"])


def _bracketed(data: bytes, code: Spans) -> Iterator[Field]:
    for opening in _BRACKETED.finditer(data):
        if code.covers(opening.start()):
            continue
        value = _balanced(data, opening.start(), opening.end())
        if value:
            yield Field(_text(opening[1]), value, opening.start(), False)


def _balanced(data: bytes, opening: int, start: int) -> str:
    """Return the text up to the bracket that closes the one at `opening`, on the same line."""
    left = data[opening : opening + 1]
    right = b"]" if left == b"[" else b")"
    depth = 1
    for at in range(start, min(len(data), start + _LONGEST_BRACKET)):
        char = data[at : at + 1]
        depth += (char == left) - (char == right)
        if depth == 0:
            return _text(data[start:at])
        if char == b"\n":
            break
    return ""


def _skip_blanks(data: bytes, at: int) -> int:
    found = _BLANKS.match(data, at)
    return found.end() if found else at


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()
