"""Say where each property of a note stands: front matter, header block, or inline. Pure, linear.

The notes stage has decided what is a property; here it is only found again, so that an inline
field can be given to the chunk it stands in.
"""

import re
from collections import defaultdict
from typing import NamedTuple

from kb_assets.extractions.note_text import NoteText

FRONT_MATTER, HEADER, FIELD = "property", "header", "field"

_TITLE = re.compile(rb"\s*(?:#{1,6}[ \t][^\n]*|[^\n]{1,500}\n[ \t]{0,3}(?:=+|-+)[ \t]*)\n\s*")
_HEADER_LINE = re.compile(
    rb"(?:\*\*)?([A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff _/-]{0,59}?)"
    rb"(?:\*\*:|:\*\*|:(?=[ \t\n])|(?:\*\*)?\xef\xbc\x9a)([^\n]*)(?:\n|\Z)"
)
_CONTINUED = re.compile(rb"[ \t]+[^\s][^\n]*(?:\n|\Z)")
_FEWEST_HEADER_LINES = 3
_MOST_HEADER_LINES = 200
_MARK = re.compile(rb"::(?=[ \t]|\[\[)[ \t]*")
_BEFORE_NAME = re.compile(rb"[\n\[(]")
_ITEM = re.compile(rb"[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_FARTHEST_NAME = 160  # bytes before the mark
_TASK = re.compile(_ITEM.pattern + rb"\[.\][ \t]")
_MOST_LOOKED_AT = 50  # fields of one name that a property is compared with
_COMPARED = 40  # characters of a value


class Placed(NamedTuple):
    """A property and where it stands."""

    name: str
    value: str
    basis: str
    start: int | None  # byte of an inline field; None: it speaks for the note
    is_of_item: bool = False  # of a task, not of the note


class _Mark(NamedTuple):
    start: int
    value: bytes
    is_of_item: bool


def placed_properties(note: NoteText) -> list[Placed]:
    """Return a note's properties in order, each with its place."""
    marks = _marks(note)
    first, count = _header(note)
    return [
        Placed(name, value, HEADER, None)
        if first <= at < first + count
        else _placed(name, value, marks)
        for at, (name, value) in enumerate(note.properties)
    ]


def _placed(name: str, value: str, marks: dict[str, list[_Mark]]) -> Placed:
    waiting = marks.get(name, [])
    wanted = value[:_COMPARED].encode()
    for at, mark in enumerate(waiting[:_MOST_LOOKED_AT]):
        if mark.value.startswith(wanted):
            del waiting[: at + 1]
            return Placed(name, value, FIELD, mark.start, mark.is_of_item)
    return Placed(name, value, FRONT_MATTER, None)


def _marks(note: NoteText) -> dict[str, list[_Mark]]:
    """File what may be inline fields by their names."""
    found: dict[str, list[_Mark]] = defaultdict(list)
    for mark in _MARK.finditer(note.data, note.body_start):
        near = note.data[max(note.body_start, mark.start() - _FARTHEST_NAME) : mark.start()]
        bare = _ITEM.sub(b"", _BEFORE_NAME.split(near)[-1], count=1)
        name = bare.strip(b" \t*_>]").decode("utf-8", "replace")
        line = note.data.rfind(b"\n", max(0, mark.start() - _FARTHEST_NAME), mark.start()) + 1
        value = note.data[mark.end() : mark.end() + 4 * _COMPARED]
        found[name].append(_Mark(mark.start(), value, bool(_TASK.match(note.data, line))))
    return found


def _header(note: NoteText) -> tuple[int, int]:
    """Return which properties are those of a header block below the title: first and number."""
    names = _header_names(note)
    if len(names) < _FEWEST_HEADER_LINES:
        return 0, 0
    stated = [name for name, _ in note.properties]
    for first in range(len(stated) - len(names), -1, -1):
        if stated[first] == names[0] and stated[first : first + len(names)] == names:
            return first, len(names)
    return 0, 0


def _header_names(note: NoteText) -> list[str]:
    """Return the names of the lines `Key: value` below the title that have a value."""
    title = _TITLE.match(note.data, note.body_start)
    at = title.end() if title else len(note.data)
    names: list[tuple[str, bool]] = []
    for _ in range(_MOST_HEADER_LINES):
        line = _HEADER_LINE.match(note.data, at)
        if line:
            names.append((line[1].decode("utf-8", "replace").strip(), bool(line[2].strip())))
        elif names and (line := _CONTINUED.match(note.data, at)):
            names[-1] = (names[-1][0], True)
        else:
            break
        at = line.end()
    return [name for name, has_value in names if has_value]
