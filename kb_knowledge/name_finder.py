"""Find many names in a text at once, by the rules of `kb_core.names`. Pure, linear in the text.

Names of one word are looked for as they are written, the others in folded text: capitals decide
early, so that a note called `Project` does not make a match of every project.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from ahocorasick_rs import AhoCorasick

from kb_core.name_places import Found, stands_alone, without_overlaps
from kb_core.names import folded, is_one_word

_BLANKS = "\t\n\r\x0b\x0c\xa0\u2028\u2029\u3000"


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
        plain = _with_one_blank(text)
        found = [*self._words.find(plain), *self._phrases.find(folded(plain))]
        alone = (each for each in found if stands_alone(plain, each.start, each.end))
        return without_overlaps(alone)


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


def _with_one_blank(text: str) -> str:
    """Make every blank a space. One search each: `translate` takes a hundred times as long."""
    for blank in _BLANKS:
        text = text.replace(blank, " ")
    return text
