"""The small grammar of `[[note#heading^block|shown]]`, shared by all that meets links. Pure."""

import re
from typing import NamedTuple

_LINK = r"\[\[[^\[\]\r\n]+\]\]"
_BARE_LINK = re.compile(_LINK)
_LINK_LIST = re.compile(rf"{_LINK}(?:\s*,\s*{_LINK})*\s*,?")


class Target(NamedTuple):
    """Where a link points: a note (empty: this one), a heading in it, a block in it."""

    note: str
    heading: str | None
    block: str | None


class Link(NamedTuple):
    """A link as it stands in a note. The range counts bytes of the text it was read from."""

    syntax: str  # wikilink, embed, markdown, image, property
    target: str
    heading: str | None
    block: str | None
    display: str | None
    property: str | None
    start: int
    end: int


def split_target(raw: str) -> Target:
    """Split a link's target at its first `#`.

    A chain of headings stays one text, `Plan#Costs`; a block id follows `^`.

    >>> tuple(split_target("Note#Plan#Costs")), tuple(split_target("#^b1"))
    (('Note', 'Plan#Costs', None), ('', None, 'b1'))
    """
    note, _, rest = raw.partition("#")
    before, caret, block = rest.rpartition("#^") if "#^" in rest else _leading_block(rest)
    headings = [part.strip() for part in before.split("#")]
    heading = "#".join(part for part in headings if part)
    return Target(note.strip(), heading or None, (block.strip() or None) if caret else None)


def _leading_block(rest: str) -> tuple[str, str, str]:
    return ("", "^", rest[1:]) if rest.startswith("^") else (rest, "", "")


def split_wikilink(inner: str) -> tuple[str, str | None]:
    """Split what stands between the brackets into target and shown text.

    In a table the bar is written `\\|`; the backslash belongs to neither.
    """
    target, bar, display = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    return target, " ".join(display.split()) or None


def bare_link(text: str, at: int) -> str | None:
    """Return the wikilink that starts at a character, or None."""
    found = _BARE_LINK.match(text, at)
    return found[0] if found else None


def split_links(value: str) -> list[str]:
    """Return the links of a value that is nothing but links; else nothing.

    >>> split_links("[[A]], [[B]]"), split_links("see [[A]]")
    (['[[A]]', '[[B]]'], [])
    """
    if not value.startswith("[[") or not _LINK_LIST.fullmatch(value):
        return []
    return _BARE_LINK.findall(value)
