"""Find `#tags` as Obsidian reads them, in prose and in properties. Pure, linear.

A tag starts a line or follows white space, an emphasis mark, the bar of a table cell or another
tag; punctuation before it blocks it (`(#x)` and `page#x` are no tags). It holds at least one
letter or symbol: `#1984` and `#2024/01` are numbers. Case does not count, and a `/` at the end
belongs to nothing.
"""

import re
from collections.abc import Iterable

from kb_assets.notes.spans import Spans

# ASCII marks that end a tag; everything beyond ASCII is looked at once it is decoded.
_CANDIDATE = re.compile(rb"#([^\s#'\"!$%&()*+,.:;<=>?@^`{|}~\[\]\\\x00-\x1f]+)")
# General and supplemental punctuation but the emoji joiner; full-width and CJK punctuation.
_END = re.compile(
    r"[\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\ufe30-\ufe4f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\x85\xa0\s]"
)
_MEANING = re.compile(r"[^0-9/_-]")
_SEPARATORS = re.compile(r"[\s,]+")


def find_tags(data: bytes, hidden: Spans, tables: Spans) -> list[str]:
    """Return the tags in a text's prose, in order of first appearance."""
    found: dict[str, None] = {}
    last_end = -1
    for candidate in _CANDIDATE.finditer(data):
        at = candidate.start()
        if hidden.covers(at) or not (at == last_end or _may_start(data, at, tables)):
            continue
        raw = _cut(candidate[1].decode("utf-8", "replace"))
        # In `_#urgent_` the mark at the end closes the emphasis.
        tag = _cleaned(raw.rstrip("_") if data[at - 1 : at] == b"_" else raw)
        if tag:
            found[tag] = None
            last_end = at + 1 + len(raw.encode())
    return list(found)


def property_tags(values: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the tags of a `tags` property: (value, is_whole) pairs, with or without `#`.

    A plain text may hold several, parted by commas or blanks.
    """
    parts = (
        part
        for value, is_whole in values
        for part in ([value] if is_whole else _SEPARATORS.split(value))
    )
    tags = (_cleaned(_cut(part.strip().lstrip("#"))) for part in parts)
    return list(dict.fromkeys(tag for tag in tags if tag))


def _may_start(data: bytes, at: int, tables: Spans) -> bool:
    before = data[at - 1 : at]
    if not before or before in b" \t\n\r\x0b\x0c*_~=":
        return True
    if before == b"|":
        return tables.covers(at)
    # A no-break or ideographic space, as bytes.
    return data[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:].isspace()


def _cut(raw: str) -> str:
    end = _END.search(raw)
    return raw[: end.start()] if end else raw


def _cleaned(raw: str) -> str | None:
    tag = raw.strip("/").lower()
    return tag if _MEANING.search(tag) else None
