"""Find many names in a text at once, by the rules of `kb_core.names`. Pure, linear in the text.

Names of one word are looked for as they are written, the others in folded text: capitals decide
early, so that a note called `Project` does not make a match of every project.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from kb_core.names import folded, is_one_word, is_unspaced

_BLANKS = str.maketrans(dict.fromkeys("\t\n\r\x0b\x0c\xa0\u2028\u2029\u3000", " "))
_ADDRESS_BEFORE = "/@#\\$"  # of an address, a handle, a tag or a path
_ADDRESS_AFTER = "/@\\"
_JOINS = "-.&+"  # join a word to the next: `node.js` does not speak of Node


class Found(NamedTuple):
    """One occurrence: characters of the text, and the place of the name among the names."""

    start: int
    end: int
    name: int


class NameFinder:
    """Finds the names of a vault."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        """Take folded names with their forms; a found name is told by its place here."""
        words: dict[str, int] = {}
        phrases: dict[str, int] = {}
        for place, (name, forms) in enumerate(names.items()):
            if is_one_word(name):
                words.update((unicodedata.normalize("NFC", form), place) for form in forms)
            else:
                phrases[name] = place
        self._words = _Patterns(words)
        self._phrases = _Patterns(phrases)

    def find(self, text: str) -> list[Found]:
        """Return the names in a composed text, in order; of two that overlap, the longer."""
        plain = text.translate(_BLANKS) if not text.isascii() else _without_breaks(text)
        found = [*self._words.find(plain), *self._phrases.find(folded(plain))]
        return list(_longest_first_found(each for each in found if _stands_alone(plain, each)))


class _Patterns:
    def __init__(self, patterns: Mapping[str, int]) -> None:
        self._places = list(patterns.values())
        self._automaton = AhoCorasick(list(patterns)) if patterns else None

    def find(self, text: str) -> Iterator[Found]:
        if self._automaton is None:
            return
        places = self._places
        for pattern, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            yield Found(start, end, places[pattern])


def _without_breaks(text: str) -> str:
    """Do what the table of blanks does, many times as fast where a text has few kinds of them."""
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


def _stands_alone(text: str, found: Found) -> bool:
    start, end = found.start, found.end
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if _is_inside(before, text[start]) or _is_inside(after, text[end - 1]):
        return False
    if before in _ADDRESS_BEFORE or after in _ADDRESS_AFTER:
        return False
    joined_before = before in _JOINS and start > 1 and text[start - 2].isalnum()
    joined_after = after in _JOINS and end + 1 < len(text) and text[end + 1].isalnum()
    return not (joined_before or joined_after)


def _is_inside(outside: str, edge: str) -> bool:
    """Tell whether a name's edge lies inside a word."""
    if not (outside.isalnum() or outside == "_") or not edge.isalnum():
        return False
    return not (is_unspaced(outside) or is_unspaced(edge))


def _longest_first_found(found: Iterable[Found]) -> Iterator[Found]:
    end = 0
    for each in sorted(found, key=lambda each: (each.start, -each.end, each.name)):
        if each.start >= end:
            yield each
            end = each.end
