"""Read a note's body: links, tags, inline fields and headings. Pure, linear.

A Markdown parser gives the structure, so that nothing inside code, math, HTML or a comment is
taken for a link or a tag; what it does not know (tags, `%%comments%%`, fields) is read by passes
of our own over the same bytes. Ranges count bytes of the whole note's text.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyromark

from kb_assets.notes.addresses import markdown_target
from kb_assets.notes.comments import FILLER, hide_comments
from kb_assets.notes.dollars import masked, opens_nothing, unmasked
from kb_assets.notes.inline_fields import Field, find_fields, header_block
from kb_assets.notes.spans import Span, Spans
from kb_assets.notes.tags import find_tags
from kb_assets.notes.wikilinks import Link, split_target, split_wikilink

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
# Frames of prose that say nothing by themselves, where they begin or where they end.
_PROSE = frozenset({"Paragraph", "Item", "Strong", "Emphasis"})
_TEXT_LEAVES = frozenset({"Code", "InlineMath", "DisplayMath"})
_ID_AT_END = re.compile(r"\s\^[A-Za-z0-9-]+$")
# An embed that the parser took for the beginning of an image: `![[pic.png]]](page.md)`.
_LOST_EMBED = re.compile(rb"!\[\[([^\[\]\n]+)\]\]")
_LOST_LINK = re.compile(rb"!?\[\[([^\[\]\n]+)\]\]")
# What stands between such a link's bracket and its embed, up to where the search ends.
_OPENER = re.compile(rb"\[((?:[^\[\]\n]|\n(?![ \t]*\n))*+)\Z")
_FARTHEST_OPENER = 1_000  # bytes between the bracket of such a link and its embed
# A comment with code in it makes for one more reading; from the eighth on they share one.
_MOST_TURNS = 8


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
    data, walk = _without_comments(data, _walk(data))
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


def _without_comments(data: bytes, walk: "_Walk") -> tuple[bytes, "_Walk"]:
    """Hide the comments, from the first one on, and read what is left."""
    at = 0 if b"%%" in data else -1
    for turn in range(_MOST_TURNS):
        if at < 0:
            break
        visible, at = hide_comments(data, Spans(walk.code), at, stops=turn < _MOST_TURNS - 1)
        if visible != data:
            data, walk = visible, _walk(visible)
    return data, walk


def _walk(data: bytes) -> "_Walk":
    """Walk a text until no dollar opens math that ends before a digit."""
    shown = data
    rounds = 0
    while True:
        walk = _Walk(data, shown)
        dollars = opens_nothing(data, walk.math)
        if not dollars:
            return walk
        rounds += 1
        shown = masked(shown, dollars, rounds)


class _Open(NamedTuple):
    """A heading or link that has started and not ended."""

    kind: str
    value: Mapping[str, Any]
    start: int
    texts: list[str]


class _Walk:
    """One pass over the parser's events."""

    def __init__(self, data: bytes, shown: bytes) -> None:
        self.data = data
        self.is_masked = shown is not data
        self.links: list[Link] = []
        self.headings: list[Heading] = []
        self.code: list[Span] = []  # code, math and HTML
        self.math: list[Span] = []  # within lines
        self.untagged: list[Span] = []  # parts of links that are no prose
        self.tables: list[Span] = []
        self._open: list[_Open] = []
        self._inner_end = 0
        self._cell_end = 0
        opened = self._open
        events: Any = _PARSER.events_with_range(shown.decode(), merge_text=True)
        for event, span in events:
            # Most events are prose and the frames around it: they are let go without a call.
            if "Text" in event or event.__class__ is str:
                if opened:
                    self._take(event, span["start"], span["end"])
                continue
            frame = event.get("Start") or event.get("End")
            if not (frame in _PROSE if frame.__class__ is str else "List" in (frame or ())):
                self._take(event, span["start"], span["end"])
        self.links = sorted(dict.fromkeys(self.links), key=lambda link: (link.start, -link.end))

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
            self._hide(kind, value, start, end)

    def _hide(self, kind: str, value: str, start: int, end: int) -> None:
        self.code.append((start, end))
        if kind == "InlineMath":
            self.math.append((start, end))
        if kind in _TEXT_LEAVES:
            self._add_text(value, end)

    def _start(self, value: Any, start: int, end: int) -> None:
        if isinstance(value, str):
            if value in _HIDDEN_BLOCKS:
                self.code.append((start, end))
            elif value == "TableCell":
                self._cell_end = end
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
        elif value == "TableRow":
            # A row's cells beyond the table's columns are not shown.
            self.code.append((self._cell_end, end))
        elif isinstance(value, dict) and "Heading" in value:
            heading = self._open.pop()
            text = _ID_AT_END.sub("", " ".join("".join(heading.texts).split()))
            level = int(heading.value["level"][1:])
            self.headings.append(Heading(level, text, heading.start, end))

    def _add_text(self, text: str, end: int) -> None:
        if not self._open:
            return
        for each in self._inner():
            each.texts.append(self._seen(text))
        self._inner_end = end

    def _inner(self) -> list["_Open"]:
        """Return what takes part in a text: the heading and the innermost two.

        Images nest without limit, and text given to every level of 30,000 would never end.
        """
        return self._open if len(self._open) < 4 else [self._open[0], *self._open[-2:]]

    def _end_link(self, link: _Open, end: int) -> None:
        if link.value["link_type"] == "Collapsed":
            end += len("[]")  # which the parser leaves out
        is_wikilink = isinstance(link.value["link_type"], dict)
        found = self._lost(link, end) if link.kind == "Image" else []
        if not found:
            made = (
                self._wikilink(link.start, end) if is_wikilink else self._markdown_link(link, end)
            )
            found = [made] if made else []
        if not found and is_wikilink:
            # No name: it may hold code that reaches from one name into the next.
            self.code.append((link.start, end))
        self.links += found
        self.untagged.append((link.start if is_wikilink else self._inner_end, end))
        self._inner_end = end

    def _lost(self, image: _Open, end: int) -> list[Link]:
        """Return the links in what the parser took for an image, and which is none.

        It lets an embed that is closed open an image again: of `[![[a.png]]](b.md)` it leaves
        an image of b.md, of `![[a [[b]] c]]` an embed of nothing that exists.
        """
        if isinstance(image.value["link_type"], dict):
            lost = _LOST_LINK.finditer(self.data, image.start + 3, end - 2)
            return [link for found in lost if (link := self._wikilink(*found.span()))]
        embed = _LOST_EMBED.match(self.data, image.start, end)
        if not embed:
            return []
        made = [self._wikilink(*embed.span())]
        inner = embed[1].decode()
        shown = split_wikilink(inner)[1] or inner
        farthest = max(0, image.start - _FARTHEST_OPENER)
        opener = _OPENER.search(self.data, farthest, image.start)
        if opener:
            texts = [opener[1].decode("utf-8", "replace"), shown, *image.texts]
            whole = _Open("Link", image.value, opener.start(), texts)
            made.append(self._markdown_link(whole, end))
        self._mend_texts(len(image.texts), shown, has_opener=bool(opener))
        return [link for link in made if link]

    def _mend_texts(self, after: int, shown: str, *, has_opener: bool) -> None:
        """Put a lost embed into the heading around it, and take the link's bracket out."""
        for each in self._inner():
            at = max(0, len(each.texts) - after)
            before = range(at - 1, max(-1, at - 10), -1) if has_opener else ()
            found = next((n for n in before if "[" in each.texts[n]), None)
            if found is not None:
                head, _, tail = each.texts[found].rpartition("[")
                each.texts[found] = head + tail
            each.texts.insert(at, shown)

    def _wikilink(self, start: int, end: int) -> Link | None:
        raw = self.data[start:end].decode()
        if not raw.startswith(("[[", "![[")):
            return None  # part of an embed that was taken apart; `_lost` finds it whole
        target, display = split_wikilink(self._seen(raw[raw.index("[[") + 2 : -2]))
        found = split_target(target)
        if "\n" in target or "[[" in target or not any(found):
            return None
        syntax = "embed" if raw.startswith("!") else "wikilink"
        return Link(syntax, *found, display, None, start, end)

    def _markdown_link(self, link: _Open, end: int) -> Link | None:
        address = self._seen(link.value["dest_url"])
        target = markdown_target(address, is_email=link.value["link_type"] == "Email")
        if not any(target):
            return None
        syntax = "image" if link.kind == "Image" else "markdown"
        display = " ".join("".join(link.texts).split()) or None
        return Link(syntax, *target, display, None, link.start, end)

    def _seen(self, text: str) -> str:
        """Return a text of the parser's without what stands for comments and prices."""
        shown = text.replace(FILLER, "")
        return unmasked(shown) if self.is_masked else shown


def _header(data: bytes, headings: list[Heading]) -> list[Field]:
    """Read the header block below a heading that opens the note."""
    if headings and not data[: headings[0].start].strip():
        return header_block(data, headings[0].end)
    return []


def _tags(data: bytes, walk: _Walk) -> list[str]:
    if b"#" not in data:
        return []
    hidden = [*walk.code, *walk.untagged]
    if b"]:" in data:  # `[label]: #here` is no prose
        made = _PARSER.reference_definitions(data.decode()).values()
        hidden += [(each["span"]["start"], each["span"]["end"]) for each in made]
    return find_tags(data, Spans(hidden), Spans(walk.tables))


def _moved(link: Link, before: int) -> Link:
    return link._replace(start=link.start + before, end=link.end + before)
