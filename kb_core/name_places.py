"""Where in a text a name may stand: at the edges of words, outside of addresses. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kb_core.names import LONGEST_NAME, is_unspaced

_ADDRESS_BEFORE = "/@#\\$"  # of an address, a handle, a tag or a path
_ADDRESS_AFTER = "/@\\"
_JOINS = "-.&+"  # join a word to the next: `node.js` does not speak of Node


class Found(NamedTuple):
    """One occurrence: characters of the text, and which name it is."""

    start: int
    end: int
    name: int


def stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether what stands there is a name of its own, and no part of a word or an address."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if _is_inside(before, text[start]) or _is_inside(after, text[end - 1]):
        return False
    if before in _ADDRESS_BEFORE or after in _ADDRESS_AFTER:
        return False
    joined_before = before in _JOINS and start > 1 and text[start - 2].isalnum()
    joined_after = after in _JOINS and end + 1 < len(text) and text[end + 1].isalnum()
    return not (joined_before or joined_after)


def without_overlaps(found: Iterable[Found]) -> list[Found]:
    """Return what was found in order; of two that overlap, the earlier, then the longer."""
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end, each.name)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def places(text: str) -> Iterator[tuple[int, int]]:
    """Yield every place in a short text where a name could stand.

    Their number grows with the text times the longest name: for questions, not for notes.
    """
    edges = [at for at in range(len(text) + 1) if _is_edge(text, at)]
    for first, start in enumerate(edges):
        for end in edges[first + 1 :]:
            if end - start > LONGEST_NAME:
                break
            is_trimmed = not (text[start].isspace() or text[end - 1].isspace())
            if is_trimmed and stands_alone(text, start, end):
                yield start, end


def _is_edge(text: str, at: int) -> bool:
    return at in (0, len(text)) or not _is_inside(text[at - 1], text[at])


def _is_inside(outside: str, edge: str) -> bool:
    """Tell whether a name's edge lies inside a word."""
    if not (outside.isalnum() or outside == "_") or not edge.isalnum():
        return False
    return not (is_unspaced(outside) or is_unspaced(edge))
