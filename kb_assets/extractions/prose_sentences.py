"""Find the sentences of a note's running text. Pure, linear.

Paragraphs and list items are read; headings, code, tables, quotes, comments, tasks, markup of other
kinds and lines that begin with a date are not. A passage `Label: text` keeps its label apart.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kb_assets.extractions.note_text import NoteText

_LINE = re.compile(rb"[^\n]*\n?")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>[^\n]{0,200})")
_UNDERLINE = re.compile(r"[ \t]*([=\-~^\"'*+#.`_:])\1{2,}[ \t]*$|[ \t]*(?:=+[ \t]+)+=+[ \t]*$")
_BARRED = re.compile(
    r" {0,8}(?:[>|<]|\.\.(?:\s|$)|:[\w -]{1,40}:|\+[-=+]{2,}|\{\{|\{%|!\[|%%|\$\$)"
)
_WIDE = re.compile(r"\S[ \t]{3,}\S")  # columns
_ITEM = re.compile(r"(?P<mark> {0,8}(?:[-*+•]|[0-9]{1,4}[.)])[ \t]{1,4})(?P<task>\[.\][ \t])?")
_DATED = re.compile(r"[*_~`(\[]{0,4}[0-9]{4}[-/.年][0-9]{1,2}|[0-9]{1,2}[:.][0-9]{2}\s")
_LABEL = re.compile(
    r"(?:[\[(（]?[0-9:/.\-]{4,20}[\])）]?[ ]{1,2})?(?:\*\*|__)?"
    r"(?P<label>[^\W\d_][^\n:：*_|<>\[\]{}.!?。]{0,40}?)(?:\*\*|__)?[ ]?[:：](?:\*\*|__)?"
    r"(?=\s|$|[^\x00-\x7f])"
)
_FIELD = re.compile(r"::(?=[ \t]|\[\[)")
_END = re.compile(
    r"[.!?…]{1,6}[\"'”’)\]*_]{0,4}(?=\s)|[。！？；][\"”’」』）]{0,2}|;(?=\s)|[.!?]{1,6}$"
)
_SHORT_WORDS = """
    e.g i.e mr mrs ms dr prof st no vs etc inc ltd co corp approx fig sec jan feb mar apr jun jul
    aug sep sept oct nov dec cf al resp ca pp vol
"""
_ABBREVIATIONS = frozenset(_SHORT_WORDS.split())
_MOST_LABEL_WORDS = 4
_INDENT = 3
_SHORTEST = 5  # characters
LONGEST_SENTENCE = 600


class Passage(NamedTuple):
    """A paragraph, a list item or a heading."""

    start: int  # byte of the text behind its mark and its label
    text: str  # as it stands, with a blank for every line break
    label: str  # lower case; empty where it has none
    is_heading: bool = False


class Sentence(NamedTuple):
    """A sentence or, where a semicolon ends it, a half of one."""

    start: int  # byte
    end: int
    text: str


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def passages(note: NoteText) -> Iterator[Passage]:
    """Yield a note's paragraphs, list items and headings in order."""
    held: list[_Line] = []
    is_skipping = False  # until the next blank line
    for line in _lines(note):
        kind = _kind(line, held)
        if kind in ("blank", "heading", "item", "barred"):
            yield from _passage(note, held)
            held = []
        if kind in ("barred", "drop"):
            held, is_skipping = [], True
        elif kind == "blank" or kind == "underline":
            held, is_skipping = [], False
        elif kind == "heading":
            yield Passage(line.end, "", _heading(line), is_heading=True)
        elif kind == "item" or not is_skipping:
            is_skipping = False
            held.append(line)
    yield from _passage(note, held)


def sentences(passage: Passage) -> Iterator[Sentence]:
    """Cut a passage where its sentences end."""
    text, at, byte = passage.text, 0, passage.start
    ends = [found.end() for found in _END.finditer(text) if _is_end(text, found)]
    for end in [*ends, len(text)]:
        whole = text[at:end]
        size = len(whole.encode())
        bare = whole.strip()
        if len(bare) >= _SHORTEST and not _FIELD.search(bare):
            lead = len(whole) - len(whole.lstrip())  # blanks are of one byte each or few
            start = byte + len(whole[:lead].encode())
            yield Sentence(start, start + len(bare.encode()), bare)
        at, byte = end, byte + size


def _lines(note: NoteText) -> Iterator[_Line]:
    """Yield the lines; one in code or in a comment comes as an empty one."""
    hidden = iter(_comments(note))
    span = next(hidden, None)
    for found in _LINE.finditer(note.data, note.body_start):
        start, end = found.span()
        if start == end:
            return
        while span and span[1] <= start:
            span = next(hidden, None)
        is_hidden = bool(span and span[0] < end) or note.is_code(start)
        text = "" if is_hidden else found[0].decode("utf-8", "replace").rstrip("\n")
        yield _Line(start, end, text)


def _comments(note: NoteText) -> Iterator[tuple[int, int]]:
    """Yield where comments stand; one that nothing closes goes to the end."""
    spans = []
    for opening, closing in ((b"<!--", b"-->"), (b"%%", b"%%")):
        at = note.data.find(opening, note.body_start)
        while at >= 0:
            end = note.data.find(closing, at + len(opening))
            end = len(note.data) if end < 0 else end + len(closing)
            spans.append((at, end))
            at = note.data.find(opening, end)
    yield from sorted(spans)


def _kind(line: _Line, held: list[_Line]) -> str:
    text = line.text
    if not text.strip():
        return "blank"
    if _HEADING.match(text):
        return "heading"
    if _UNDERLINE.match(text):
        return "underline"
    if _BARRED.match(text) or _WIDE.search(text):
        return "barred"
    if _ITEM.match(text):
        return "item"
    is_indented = len(text) - len(text.lstrip()) >= _INDENT
    is_of_item = bool(held) and bool(_ITEM.match(held[0].text))
    return "drop" if is_indented and not is_of_item else "text"


def _heading(line: _Line) -> str:
    found = _HEADING.match(line.text)
    return found["text"].strip(" #*_:：").lower() if found else ""


def _passage(note: NoteText, held: list[_Line]) -> Iterator[Passage]:
    if not held:
        return
    mark = _ITEM.match(held[0].text)
    lead = mark.end() if mark else len(held[0].text) - len(held[0].text.lstrip())
    start = held[0].start + len(held[0].text[:lead].encode())
    text = note.data[start : held[-1].end].decode("utf-8", "replace").replace("\n", " ")
    if (mark and mark["task"]) or _DATED.match(text):
        return
    label = _LABEL.match(text)
    if label is None or len(label["label"].split()) > _MOST_LABEL_WORDS:
        yield Passage(start, text, "")
        return
    size = len(text[: label.end()].encode())
    yield Passage(start + size, text[label.end() :], label["label"].strip().lower())


def _is_end(text: str, found: re.Match[str]) -> bool:
    """Tell whether a full stop ends a sentence, and no abbreviation or initial."""
    if not found[0].startswith("."):
        return True
    word = text[max(0, found.start() - 12) : found.start()].rpartition(" ")[2].strip("(\"'*_")
    after = text[found.end() : found.end() + 3].lstrip()
    is_short = word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())
    return not is_short and not after[:1].islower()
