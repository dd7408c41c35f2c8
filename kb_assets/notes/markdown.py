"""Read a note's body: links, tags, inline fields and headings. Pure, linear.

A Markdown parser gives the structure, so that nothing inside code, math, HTML or a comment is
taken for a link or a tag; what it does not know (tags, `%%comments%%`, fields) is read by passes
of our own over the same bytes. Ranges count bytes of the whole note's text.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyromark

from kb_assets.notes.comments import FILLER, hide_comments
from kb_assets.notes.inline_fields import Field, find_fields, header_block
from kb_assets.notes.spans import Span, Spans
from kb_assets.notes.tags import find_tags
from kb_assets.notes.wikilinks import Link, Target, split_target, split_wikilink

_OPTIONS = pyromark.Options
_PARSER = pyromark.Markdown(
    options=_OPTIONS.ENABLE_WIKILINKS
    | _OPTIONS.ENABLE_TABLES
    | _OPTIONS.ENABLE_FOOTNOTES
    | _OPTIONS.ENABLE_TASKLISTS
    | _OPTIONS.ENABLE_MATH
)
_HIDDEN_LEAVES = frozenset({"Code", "InlineMath", "DisplayMath", "InlineHtml"})
_HIDDEN_BLOCKS = frozenset({"CodeBlock", "HtmlBlock"})
_TEXT_LEAVES = frozenset({"Code", "InlineMath", "DisplayMath"})
_ID_AT_END = re.compile(r"\s\^[A-Za-z0-9-]+$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class Heading(NamedTuple):
    """A heading: its level from 1, its text as read, and its byte range in the note."""

    level: int
    text: str
    start: int
    end: int


class Body(NamedTuple):
    """What a note's body holds, each in order of appearance."""

    links: tuple[Link, ...]
    tags: tuple[str, ...]
    fields: tuple[Field, ...]
    headings: tuple[Heading, ...]


def read_body(text: str, before: int = 0) -> Body:
    """Read a body that starts `before` bytes into its note."""
    # Same length, one kind of line break: every pass below may look for "\n" alone.
    data = text.replace("\r\n", " \n").replace("\r", "\n").encode()
    walk = _Walk(data)
    if b"%%" in data:
        visible = hide_comments(data, Spans(walk.code))
        if visible != data:
            data = visible
            walk = _Walk(data)
    code = Spans(walk.code)
    fields = [*_header(data, walk.headings), *find_fields(data, code)]
    return Body(
        links=tuple(_moved(link, before) for link in walk.links),
        tags=tuple(_tags(data, walk)),
        fields=tuple(field._replace(start=field.start + before) for field in fields),
        headings=tuple(
            heading._replace(start=heading.start + before, end=heading.end + before)
            for heading in walk.headings
        ),
    )


class _Open(NamedTuple):
    """A heading or link that has started and not ended."""

    kind: str
    value: Mapping[str, Any]
    start: int
    texts: list[str]


class _Walk:
    """One pass over the parser's events."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.links: list[Link] = []
        self.headings: list[Heading] = []
        self.code: list[Span] = []  # code, math and HTML
        self.untagged: list[Span] = []  # parts of links that are no prose
        self.tables: list[Span] = []
        self._open: list[_Open] = []
        self._inner_end = 0
        for event, span in _PARSER.events_with_range(data.decode(), merge_text=True):
            self._take(event, span["start"], span["end"])
        self.links.sort(key=lambda link: (link.start, -link.end))

    def _take(self, event: Any, start: int, end: int) -> None:
        if isinstance(event, str):
            if event.endswith("Break"):
                self._add_text(" ", end)
            return
        ((kind, value),) = event.items()
        if kind == "Text":
            self._add_text(value, end)
        elif kind == "Start":
            self._start(value, start, end)
        elif kind == "End":
            self._end(value, end)
        elif kind in _HIDDEN_LEAVES:
            self.code.append((start, end))
            if kind in _TEXT_LEAVES:
                self._add_text(value, end)

    def _start(self, value: Any, start: int, end: int) -> None:
        if isinstance(value, str):
            if value in _HIDDEN_BLOCKS:
                self.code.append((start, end))
            return
        ((kind, detail),) = value.items()
        if kind in ("Heading", "Link", "Image"):
            self._open.append(_Open(kind, detail, start, []))
            self._inner_end = start
        elif kind in _HIDDEN_BLOCKS:
            self.code.append((start, end))
        elif kind == "Table":
            self.tables.append((start, end))

    def _end(self, value: Any, end: int) -> None:
        if value in ("Link", "Image"):
            self._end_link(self._open.pop(), end)
        elif isinstance(value, dict) and "Heading" in value:
            heading = self._open.pop()
            text = _ID_AT_END.sub("", " ".join("".join(heading.texts).split()))
            level = int(heading.value["level"][1:])
            self.headings.append(Heading(level, text, heading.start, end))

    def _add_text(self, text: str, end: int) -> None:
        if not self._open:
            return
        # The heading and the innermost two: images nest without limit, and text given to
        # every level of 30,000 of them would never end.
        for each in self._open if len(self._open) < 4 else (self._open[0], *self._open[-2:]):
            each.texts.append(text.replace(FILLER, ""))
        self._inner_end = end

    def _end_link(self, link: _Open, end: int) -> None:
        is_wikilink = isinstance(link.value["link_type"], dict)
        made = self._wikilink(link, end) if is_wikilink else _markdown_link(link, end)
        if made:
            self.links.append(made)
        self.untagged.append((link.start if is_wikilink else self._inner_end, end))
        self._inner_end = end

    def _wikilink(self, link: _Open, end: int) -> Link | None:
        raw = self.data[link.start : end].decode()
        target, display = split_wikilink(raw[raw.index("[[") + 2 : -2])
        found = split_target(target)
        if "\n" in target or not any(found):
            return None
        syntax = "embed" if link.kind == "Image" else "wikilink"
        return Link(syntax, *found, display, None, link.start, end)


def _markdown_link(link: _Open, end: int) -> Link | None:
    address = link.value["dest_url"]
    if link.value["link_type"] == "Email":
        address = f"mailto:{address}"
    if is_address(address):
        target = Target(address, None, None)
    else:
        # Split before decoding: an encoded "#" is part of a name.
        found = split_target(address)
        target = Target(unquote(found.note), _decoded(found.heading), _decoded(found.block))
    if not any(target):
        return None
    syntax = "image" if link.kind == "Image" else "markdown"
    display = " ".join("".join(link.texts).split()) or None
    return Link(syntax, *target, display, None, link.start, end)


def is_address(target: str) -> bool:
    """Say whether a Markdown destination names a scheme. One letter is a drive, not a scheme."""
    return bool(_SCHEME.match(target)) or target.startswith("//")


def _decoded(text: str | None) -> str | None:
    return unquote(text) if text else text


def _header(data: bytes, headings: list[Heading]) -> list[Field]:
    """Read the header block below a heading that opens the note."""
    if headings and not data[: headings[0].start].strip():
        return header_block(data, headings[0].end)
    return []


def _tags(data: bytes, walk: _Walk) -> list[str]:
    if b"#" not in data:
        return []
    return find_tags(data, Spans([*walk.code, *walk.untagged]), Spans(walk.tables))


def _moved(link: Link, before: int) -> Link:
    return link._replace(start=link.start + before, end=link.end + before)
