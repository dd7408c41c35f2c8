"""Where a Markdown link or image points: an address, or a note of the vault. Pure."""

import re
from urllib.parse import unquote

from kb_assets.notes.wikilinks import Target, split_target

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def markdown_target(address: str, *, is_email: bool = False) -> Target:
    """Read a destination whose escapes are gone; that of an address stays as it is.

    >>> tuple(markdown_target("My%20Note.md#A%20b")), tuple(markdown_target("https://x.y/#a"))
    (('My Note.md', 'A b', None), ('https://x.y/#a', None, None))
    """
    if is_email:
        return Target(f"mailto:{address}", None, None)
    if is_address(address):
        return Target(address, None, None)
    # Split before decoding: an encoded "#" is part of a name.
    found = split_target(address)
    return Target(_decoded(found.note) or "", _decoded(found.heading), _decoded(found.block))


def is_address(target: str) -> bool:
    """Say whether a Markdown destination names a scheme. One letter is a drive, not a scheme."""
    return bool(_SCHEME.match(target)) or target.startswith("//")


def _decoded(text: str | None) -> str | None:
    """Decode percents; what makes no UTF-8 was not encoded and is somebody's name."""
    if not text or "%" not in text:
        return text
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
