"""A note version as this stage reads it: its bytes, its chunks and its links. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_FENCE = re.compile(rb"^[ \t>]{0,12}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
CHAT = "chat"


class Piece(NamedTuple):
    """One chunk of the version: where it stands and when it was written."""

    chunk_id: str
    start: int  # bytes of the note
    end: int
    written_date: str | None
    is_dated: bool  # by a heading above it
    text: str = ""  # what is read of it
    breadcrumb: str = ""


class LinkRow(NamedTuple):
    """One link as the note has it."""

    start: int
    end: int
    target: str
    display: str | None
    is_address: bool


@dataclass(frozen=True)
class NoteText:
    """One kept version of a note."""

    version_id: str
    note_id: str
    title: str
    aliases: tuple[str, ...]
    kind: str
    properties: tuple[tuple[str, str], ...]  # names and values, in order
    data: bytes  # the whole note, every line ended by a line feed, not a byte moved
    body_start: int
    pieces: tuple[Piece, ...]  # in order
    links: tuple[LinkRow, ...]  # of the text, in order

    def piece_at(self, byte: int) -> int | None:
        """Return which chunk holds a byte, or None."""
        at = bisect_right(self._starts, byte) - 1
        return at if at >= 0 and byte < self.pieces[at].end else None

    def links_between(self, start: int, end: int) -> Sequence[LinkRow]:
        """Return the links that begin in a range."""
        first = bisect_right(self._link_starts, start - 1)
        return self.links[first : bisect_right(self._link_starts, end - 1)]

    def is_code(self, byte: int) -> bool:
        """Tell whether a byte stands inside a fence."""
        at = bisect_right(self._fences, (byte, len(self.data))) - 1
        return at >= 0 and byte < self._fences[at][1]

    @property
    def is_chat(self) -> bool:
        """Tell whether an assistant may have said what stands in the text."""
        return self.kind == CHAT

    @cached_property
    def values(self) -> Mapping[str, int]:
        """How many properties have each name."""
        found: dict[str, int] = {}
        for name, _ in self.properties:
            found[name] = found.get(name, 0) + 1
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.start for piece in self.pieces]

    @cached_property
    def _link_starts(self) -> list[int]:
        return [link.start for link in self.links]

    @cached_property
    def _fences(self) -> list[tuple[int, int]]:
        return list(_fences(self.data))


def as_bytes(text: str) -> bytes:
    """Return a text's bytes with one kind of line break, each byte in its place."""
    return text.replace("\r\n", " \n").replace("\r", "\n").encode()


def _fences(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where code fences begin and end; one that nothing closes goes to the end."""
    opened: tuple[int, bytes] | None = None
    for line in _FENCE.finditer(data):
        if opened is None:
            opened = (line.start(), line[1])
        elif line[1].startswith(opened[1]) and not line[2].strip():
            yield opened[0], line.end()
            opened = None
    if opened:
        yield opened[0], len(data)
