"""Turn Markdown into what a reader sees. Pure, linear.

Links become their display text, embeds and images go, and so do comments, block ids and inline
properties, which are kept as properties of the note.
"""

import re
from collections.abc import Sequence

from kb_assets.chunks.blocks import Block

# Every repetition is bounded: a line of 200,000 brackets must not be slow.
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]{0,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_LINK = re.compile(r"(!?)\[([^\[\]\n]{0,400})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,1000}+\)")
_COMMENT = re.compile(r"%%(?:[^%]|%(?!%))*+%%|<!--(?:[^-<]|-(?!->)|<(?!!--))*+-->")
# A value follows after a space: `std::vector` is no property.
_FIELD_LINE = re.compile(
    r"^[ \t]*+(?:[-*+][ \t]+)?[^\n:\[\]()`]{1,60}::[ \t][^\n]*+\n?", re.MULTILINE
)
_FIELD = re.compile(r"[\[(][^\n:\[\]()`]{1,60}::[^\n\[\]()]{0,400}[\])]")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]{1,60}[ \t]*$", re.MULTILINE)
_HIDING = ("%%", "<!--")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")


def display_text(text: str) -> str:
    """Return text with its links as a reader sees them.

    >>> display_text("[[people/ana|Ana]] met [[Bo#Work]] at [Acme](https://acme.example)")
    'Ana met Bo at Acme'
    """
    if "[" not in text:
        return text
    return _LINK.sub(_shown_link, _WIKILINK.sub(_shown_wikilink, text))


def _shown_wikilink(found: re.Match[str]) -> str:
    embed, target, display = found.groups()
    if embed:
        return ""
    # `\|` divides a link inside a table row.
    return display or target.rstrip("\\").partition("#")[0].strip() or target.strip("#^")


def _shown_link(found: re.Match[str]) -> str:
    return "" if found[1] else found[2]


def clean_prose(body: str, blocks: Sequence[Block]) -> str:
    """Return a note's text as prose. Code and formulas stay as they are."""
    shown: list[str] = []
    at = 0
    for block in blocks:
        if block.is_solid and not body[block.start : block.end].lstrip().startswith(_HIDING):
            shown.append(_clean(body[at : block.start]))
            shown.append(body[block.start : block.end])
            at = block.end
    shown.append(_clean(body[at:]))
    return _BLANK_LINES.sub("\n\n", "".join(shown)).strip()


def _clean(text: str) -> str:
    text = _COMMENT.sub("", text)
    text = _BLOCK_ID.sub("", _FIELD.sub("", _FIELD_LINE.sub("", text)))
    return display_text(text)
