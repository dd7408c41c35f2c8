"""Read a run of prose character by character: the upper half of the oracle in oracle_notes.

Written from the CommonMark rules for code spans, autolinks, HTML, images and links, from
Obsidian's help for wikilinks and math, and from what was observed on Obsidian 1.13.7. No parser
stands behind it. Rules it takes where readers differ:

- What opens first wins: a bracket inside code, math or a tag of HTML is no bracket.
- `]]` closes the nearest `[[`; a single `]` closes no wikilink; links never hold links, and what
  looks like an embed of one is no image either.
- A dollar opens math before a character if the next one closes it: after a character, and not
  before a digit.
"""

import html
import re
from dataclasses import dataclass, field

from tests.oracle_blocks import CLOSE_TAG, OPEN_TAG
from tests.oracle_destinations import (
    ENTITY,
    PUNCTUATION,
    after_blanks,
    folded,
    read_target,
    title_end,
)

FILLER = "\x01"  # stands where a comment stood

_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\x00-\x1f]*)>")
_EMAIL = re.compile(r"<([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)>")
_TAG = re.compile(
    rf"{OPEN_TAG}|{CLOSE_TAG}|<!-->|<!--->|<!--[\s\S]*?-->|<\?[\s\S]*?\?>"
    r"|<![A-Za-z][^>]*>|<!\[CDATA\[[\s\S]*?\]\]>"
)
_EMPHASIS = re.compile(
    r"(?:\*\*(?=\S)([^*]*?[^*\s])\*\*|\*(?=\S)([^*]*?[^*\s])\*"
    r"|(?<!\w)__(?=\S)(.*?[^_\s])__(?!\w)|(?<!\w)_(?=\S)(.*?[^_\s])_(?!\w))"
)


@dataclass
class Found:
    """A link. Ranges are places in the run."""

    kind: str  # wikilink, embed, markdown, image
    start: int
    end: int
    target: str
    display: str
    prose: tuple[int, int]  # the part of it that is prose
    has_bar: bool = False


@dataclass
class Run:
    """What a run of prose holds."""

    links: list[Found] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)  # code, math, HTML
    text: str = ""  # as a reader sees it


@dataclass
class _Opener:
    at: int
    is_image: bool
    is_double: bool
    is_active: bool = True

    @property
    def inner(self) -> int:
        return self.at + (2 if self.is_image else 1)


class Scanner:
    """Reads one run. `refs` are the link definitions of the note, by folded label."""

    def __init__(self, text: str, refs: dict[str, str], footnotes: set[str]) -> None:
        self.text = text
        self.refs = refs
        self.footnotes = footnotes
        self.run = Run()
        self._openers: list[_Opener] = []
        self._pieces: list[tuple[int, int, str]] = []  # what reads otherwise than it is written

    def scan(self) -> Run:
        at = 0
        while at < len(self.text):
            at = self._step(at)
        self.run.text = self._shown(0, len(self.text))
        self.run.links.sort(key=lambda link: (link.start, -link.end))
        return self.run

    def _step(self, at: int) -> int:
        char = self.text[at]
        steps = {
            "\\": self._escape, "`": self._code, "$": self._math, "<": self._angle,
            "[": self._open, "!": self._bang, "]": self._close, "&": self._entity,
        }  # fmt: skip
        return steps[char](at) if char in steps else at + 1

    def _escape(self, at: int) -> int:
        after = self.text[at + 1 : at + 2]
        if after in PUNCTUATION and after:
            self._pieces.append((at, at + 2, after))
            return at + 2
        return at + 1

    def _code(self, at: int) -> int:
        width = _run_of(self.text, at, "`")
        closer = at + width
        while (closer := self.text.find("`", closer)) >= 0:
            found = _run_of(self.text, closer, "`")
            if found == width:
                inner = self.text[at + width : closer].replace("\n", " ")
                if inner.strip(" ") and inner[0] == inner[-1] == " ":
                    inner = inner[1:-1]
                return self._hide(at, closer + width, inner)
            closer += found
        return at + width

    def _math(self, at: int) -> int:
        width = min(2, _run_of(self.text, at, "$"))
        if width == 2:
            closer = self._unescaped("$$", at + 2)
            if closer > at + 2:
                return self._hide(at, closer + 2, self.text[at + 2 : closer])
            return at + 1
        if not self.text[at + 1 : at + 2].strip():
            return at + 1
        closer = self._unescaped("$", at + 1)
        before, after = self.text[closer - 1], self.text[closer + 1 : closer + 2]
        if closer > at + 1 and before.strip() and not after.isdigit():
            return self._hide(at, closer + 1, self.text[at + 1 : closer])
        return at + 1

    def _unescaped(self, mark: str, at: int) -> int:
        while (at := self.text.find(mark, at)) >= 0:
            before = len(self.text[:at]) - len(self.text[:at].rstrip("\\"))
            if before % 2 == 0:
                return at
            at += 1
        return -1

    def _angle(self, at: int) -> int:
        for pattern, prefix in ((_AUTOLINK, ""), (_EMAIL, "mailto:")):
            if found := pattern.match(self.text, at):
                self.run.links.append(
                    Found("markdown", at, found.end(), prefix + found[1], found[1], (at, at))
                )
                self._pieces.append((at, found.end(), found[1]))
                return found.end()
        tag = _TAG.match(self.text, at)
        return self._hide(at, tag.end(), "") if tag else at + 1

    def _hide(self, start: int, end: int, shown: str) -> int:
        self.run.hidden.append((start, end))
        self._pieces.append((start, end, shown))
        return end

    def _entity(self, at: int) -> int:
        found = ENTITY.match(self.text, at)
        if found and html.unescape(found[0]) != found[0]:
            self._pieces.append((at, found.end(), html.unescape(found[0])))
            return found.end()
        return at + 1

    def _open(self, at: int) -> int:
        self._openers.append(_Opener(at, False, self.text[at + 1 : at + 2] == "["))
        return at + 1

    def _bang(self, at: int) -> int:
        if self.text[at + 1 : at + 2] == "[":
            self._openers.append(_Opener(at, True, self.text[at + 2 : at + 3] == "["))
            return at + 2
        return at + 1

    def _close(self, at: int) -> int:
        if self.text[at + 1 : at + 2] == "]" and (end := self._wikilink(at)):
            return end
        if not self._openers:
            return at + 1
        opener = self._openers.pop()
        if not opener.is_active:
            return at + 1
        label = self.text[opener.inner : at]
        if label.startswith("^") and label[1:].casefold() in self.footnotes:
            self._pieces.append((opener.at, at + 1, ""))
            return at + 1
        found = self._destination(at + 1) or self._reference(at + 1, label)
        if not found:
            return at + 1
        target, end = found
        kind = "image" if opener.is_image else "markdown"
        shown = self._shown(opener.inner, at)
        self._add(opener, Found(kind, opener.at, end, target, shown, (opener.inner, at)))
        self._pieces.append((opener.at, end, shown))
        return end

    def _wikilink(self, at: int) -> int:
        """Close the nearest `[[`; 0 if there is none or it names nothing."""
        found = [opener for opener in self._openers if opener.is_double]
        if not found or not found[-1].is_active:
            return 0
        opener = found[-1]
        inner = self.text[opener.inner + 1 : at]
        target, bar, display = inner.partition("|")
        if not target or "[[" in inner:
            opener.is_double = False
            opener.is_active = "[[" not in inner
            return 0
        kind = "embed" if opener.is_image else "wikilink"
        nowhere = (opener.at, opener.at)
        link = Found(kind, opener.at, at + 2, target, display, nowhere, bool(bar))
        shown = self._shown(opener.inner + 1 + len(target + bar) * bool(bar), at)
        del self._openers[self._openers.index(opener) :]
        self._add(opener, link)
        self._pieces.append((opener.at, at + 2, shown))
        return at + 2

    def _add(self, opener: _Opener, link: Found) -> None:
        self.run.links.append(link)
        if not opener.is_image:
            for other in self._openers:
                other.is_active = other.is_active and other.is_image

    def _destination(self, at: int) -> tuple[str, int] | None:
        """Read `(where "title")`."""
        if self.text[at : at + 1] != "(":
            return None
        start = after_blanks(self.text, at + 1)
        target, end = read_target(self.text, start)
        if end < 0:
            return None
        after = after_blanks(self.text, end)
        if after > end and (title := title_end(self.text, after)) > 0:
            after = after_blanks(self.text, title)
        return (target, after + 1) if self.text[after : after + 1] == ")" else None

    def _reference(self, at: int, label: str) -> tuple[str, int] | None:
        following = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]").match(self.text, at)
        if following and following[1].strip():
            target = self.refs.get(folded(following[1]))
            return (target, following.end()) if target is not None else None
        end = following.end() if following else at
        is_label = not re.search(r"(?<!\\)[\[\]]", label) and label.strip()
        target = self.refs.get(folded(label)) if is_label else None
        return (target, end) if target is not None else None

    def _shown(self, start: int, end: int) -> str:
        """Return what a reader sees of a part: no marks, no escapes, no addresses."""
        out, at = [], start
        for first, last, shown in sorted(self._pieces, key=lambda piece: (piece[0], -piece[1])):
            if at <= first and last <= end:
                out += [self.text[at:first], _kept(shown)]
                at = last
        text = "".join([*out, self.text[at:end]])
        for _ in range(2):  # strong in emphasis
            text = _EMPHASIS.sub(lambda found: next(filter(None, found.groups())), text)
        text = text.translate(_RESTORED)
        return " ".join(text.replace(FILLER, "").split())


# Marks that were escaped or stood in code are no emphasis: they are carried past it in disguise.
_DISGUISED = {ord(mark): chr(0xE000 + ord(mark)) for mark in "*_"}
_RESTORED = {ord(disguise): chr(mark) for mark, disguise in _DISGUISED.items()}


def _kept(text: str) -> str:
    return text.translate(_DISGUISED)


def _run_of(text: str, at: int, char: str) -> int:
    end = at
    while end < len(text) and text[end] == char:
        end += 1
    return end - at
