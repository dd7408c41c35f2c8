"""Where a question says what it is after: quoted titles, numbers, dates and cue words. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kb_core.dates import find_date
from kb_core.names import folded, is_unspaced

# A title is quoted by the outer pair; what stands in other marks inside belongs to it.
_QUOTED = re.compile("“([^“”]{2,300})”|„([^„“”]{2,300})[“”]|«([^«»]{2,300})»|「([^「」]{2,300})」|"
                     "『([^『』]{2,300})』|《([^《》]{2,300})》|\"([^\"]{2,300})\"")  # fmt: skip
_NUMBERED = re.compile(r"(?<![\w-])([^\W\d_][\w-]{0,30})[\s#-]{0,3}0*(\d{1,9})(?![\w.])")
_YEAR = re.compile(r"(?<![\w-])(?:19|20|21)\d\d(?![\w-])")
_WORD = re.compile(r"\w+")
_LONGEST_CUE = 6  # words
_NO_WORD = "x"


class Span(NamedTuple):
    """A piece of the question, by its characters."""

    start: int
    end: int
    text: str


class Numbered(NamedTuple):
    """A label and a number: `PEP 566` is `pep 566`."""

    start: int
    end: int
    label: str
    name: str


class Meaning(NamedTuple):
    """What a cue word stands for."""

    kind: str  # link, attribute, state, now, past, why, count, compare, not, chain
    name: str = ""  # the type, attribute or state
    is_forward: bool = True  # of a link: the words go from its source to its target


class Heard(NamedTuple):
    """A cue that the question holds."""

    start: int
    end: int
    means: tuple[Meaning, ...]


def quoted_spans(question: str) -> list[Span]:
    """Return what stands in quotation marks, without them."""
    found = []
    for match in _QUOTED.finditer(question):
        group = next(at for at in range(1, 8) if match[at] is not None)
        found.append(Span(match.start(group), match.end(group), match[group]))
    return found


def without_spans(question: str, spans: Iterable[tuple[int, int]]) -> str:
    """Write over spans; every other character stays in its place.

    One word that is no cue and no name stands there: the words beside it are no phrase.
    """
    text = list(question)
    for start, end in spans:
        text[start:end] = _NO_WORD * (end - start)
    return "".join(text)


def numbered_in(question: str) -> Iterator[Numbered]:
    """Yield every word with a number behind it: it may be what something is known by."""
    for match in _NUMBERED.finditer(question):
        label = folded(match[1]).rstrip("-")
        yield Numbered(match.start(), match.end(), label, f"{label} {match[2]}")


def dates_in(question: str) -> tuple[Span, ...]:
    """Return the question's date, or else its years, with their places where they are known."""
    date = find_date(question)
    if date:
        at = question.find(date)
        return (Span(max(at, 0), max(at, 0) + len(date) if at >= 0 else 0, date),)
    return tuple(Span(each.start(), each.end(), each[0]) for each in _YEAR.finditer(question))


class Phrases:
    """Cue phrases, filed for finding them in questions."""

    def __init__(self, phrases: Mapping[str, Sequence[Meaning]]) -> None:
        """File what each phrase means; phrases are compared folded, word by word."""
        self._spaced: dict[tuple[str, ...], tuple[Meaning, ...]] = {}
        self._unspaced: dict[str, tuple[Meaning, ...]] = {}
        for phrase, means in sorted(phrases.items()):
            if any(map(is_unspaced, phrase)):
                self._unspaced[folded(phrase)] = tuple(means)
                continue
            key = tuple(_WORD.findall(folded(phrase)))
            kept = self._spaced.get(key, ())
            self._spaced[key] = tuple(dict.fromkeys((*kept, *means)))

    def heard_in(self, question: str) -> list[Heard]:
        """Return the cues in order; one that lies inside a longer one is not heard."""
        text = folded(question)
        found = [*self._words(text), *self._signs(text)]
        return sorted(each for each in found if not any(_is_inside(each, other) for other in found))

    def _words(self, text: str) -> Iterator[Heard]:
        words = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
        for first in range(len(words)):
            for last in range(first, min(first + _LONGEST_CUE, len(words))):
                means = self._spaced.get(tuple(word for _, _, word in words[first : last + 1]))
                start, end = words[first][0], words[last][1]
                if means:
                    yield Heard(start, end, means)

    def _signs(self, text: str) -> Iterator[Heard]:
        for phrase, means in self._unspaced.items():
            at = text.find(phrase)
            while at >= 0:
                yield Heard(at, at + len(phrase), means)
                at = text.find(phrase, at + len(phrase))


def _is_inside(one: Heard, other: Heard) -> bool:
    is_within = other.start <= one.start and one.end <= other.end
    return is_within and other.end - other.start > one.end - one.start
