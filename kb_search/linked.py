"""The linked leg: notes a question names, and what they and the best notes found link to.

A name in the question is a sure start: what its note links to or mentions comes next, even without
a word of the question. The best notes of the base ranking are starts too, but no sure ones: from
them a link is followed only for what the question still lacks. A long note, or one of many links,
says little about each, and a start that everybody links to is no news in a question: all weigh
less.
Pure: the same view, question and base ranking give the same list, to the last bit.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_core.name_places import Found
from kb_search.fusion import K
from kb_search.note_graph import NoteGraph, NotesInView
from kb_search.question import question_terms
from kb_search.view import View

# Chosen together on development questions; docs/decisions/0011 says what else was tried.
BASE_NOTES = 100  # notes of the base ranking that are fused
_LEG_WEIGHT = 1.3  # above 1: a sure neighbour goes before what the base ranking alone has there
_LEG_POWER = 1.25  # of a weight: what is half sure counts for less than half
_NORM = 4  # towards the surer of the two rankings; 1 would add them up
_FEW_LINKS = 3  # links a start may have without each saying less
_SHORT_NOTE = 300  # keywords a note may have without each of its links saying less
_BACKWARDS = 0.3  # a link to a named note, beside one from it
_BASE_STARTS = 3  # notes of the base ranking whose links are followed
_BASE_SURE = 4.0  # how sure the first of them is; the next ones half and a third of it
_UNASKED = 0.3  # what a named note's link is worth without a word of the question
_MOST_JOINING = 20
# Nobody can tell which of a hub's hundred sources was meant. Bounds for small and large vaults.
_HUB_SHARE, _FEWEST_HUB, _MOST_HUB = 0.01, 20, 300


@dataclass(frozen=True)
class Joined:
    """A note of the leg, by the view's number, and how sure it is to be about it: 0 to 1."""

    note: int
    weight: float


class LinkedScope:
    """The links between the notes of a view."""

    def __init__(self, graph: NoteGraph, view: View) -> None:
        self._view = view
        self._numbers = view.notes
        self._graph: NotesInView = graph.within(self._numbers)

    def leg(self, question: str, base: Sequence[int]) -> list[Joined]:
        """Return the notes that join, best first: those named, then at most 20 others.

        `base` are the view's notes by number, best first.
        """
        named, places = self._graph.named_in(question)
        starts = {note: self._weight(note) for note in named}
        book = _Book(self._view)
        scores = book.scores(question_terms(question)) if starts else None
        best = {
            note: weight * (_UNASKED + (scores.of(self._number(note)) if scores else 0.0))
            for note, weight in starts.items()
        }
        first = [Joined(self._number(note), starts[note]) for note in _ordered(best)]
        ways = [*self._from_named(starts, _without(question, places), book)]
        ways += self._from_base(question, base, set(named), book)
        return [*first, *self._others(ways, set(named))]

    def _others(self, ways: Sequence["_Way"], named: set[int]) -> Iterator[Joined]:
        """Yield each note by the best way that leads to it; the best come first."""
        best: dict[int, _Way] = {}
        for way in ways:
            if way.note not in named and (way.note not in best or way.value > best[way.note].value):
                best[way.note] = way
        order = _ordered({note: way.value for note, way in best.items()})
        for note in order[:_MOST_JOINING]:
            yield Joined(self._number(note), best[note].weight)

    def _from_named(self, starts: dict[int, float], rest: str, book: "_Book") -> Iterator["_Way"]:
        asked = book.scores(question_terms(rest) if starts and rest.strip() else [])
        for start, sure in starts.items():
            forwards = self._graph.targets(start)
            weight = sure * self._said(start, len(forwards))
            for note in forwards.tolist():
                yield _Way(note, weight, weight * self._worth(asked, note))
            backwards = self._graph.sources(start)
            for note in backwards.tolist() if len(backwards) <= self._hub else ():
                weight = sure * _BACKWARDS * self._said(note, len(backwards))
                yield _Way(note, weight, weight * self._worth(asked, note))

    def _said(self, writer: int, links: int) -> float:
        """Return how much one of `links` says where `writer` is the note that holds it."""
        length = float(self._view.note_lengths[self._number(writer)])
        return min(1.0, _FEW_LINKS / max(links, 1)) * min(1.0, _SHORT_NOTE / max(length, 1.0))

    def _worth(self, asked: "_Scores", note: int) -> float:
        return (_UNASKED + asked.of(self._number(note))) / (1 + _UNASKED)

    def _from_base(
        self, question: str, base: Sequence[int], named: set[int], book: "_Book"
    ) -> Iterator["_Way"]:
        terms = question_terms(question)
        for place, number in enumerate(base[:_BASE_STARTS], start=1):
            start = self._by_number.get(number)
            # The question's terms that the note does not hold.
            lacking = [term for term in terms if not book.scores([term]).of(number)]
            if start is None or start in named or not lacking:
                continue
            brought = book.scores(lacking)
            targets = self._graph.targets(start)
            weight = self._weight(start) * self._said(start, len(targets)) * _BASE_SURE / place
            for note in targets.tolist():
                value = weight * brought.of(self._number(note))
                if value > 0:
                    yield _Way(note, min(1.0, value), value)

    def _weight(self, note: int) -> float:
        """Return how much naming a note says: log(N / (n + 1)) / log(N), n notes link to it."""
        size = self._graph.size
        if size < 2:
            return 1.0
        return max(0.0, math.log(size / (len(self._graph.sources(note)) + 1)) / math.log(size))

    @property
    def _hub(self) -> int:
        return min(_MOST_HUB, max(_FEWEST_HUB, int(self._graph.size * _HUB_SHARE)))

    def _number(self, note: int) -> int:
        return self._numbers[self._graph.id_of(note)]

    @cached_property
    def _by_number(self) -> dict[int, int]:
        return {self._numbers[each]: note for note, each in self._graph.in_view()}


@dataclass(frozen=True)
class _Way:
    """A way to a note: how sure it is, and by how much it goes before others."""

    note: int
    weight: float
    value: float


class _Book:
    """The scores one question asks for, each made once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._made: dict[tuple[str, ...], _Scores] = {}

    def scores(self, terms: Sequence[str]) -> "_Scores":
        """Return how well notes fit these terms."""
        key = tuple(terms)
        if key not in self._made:
            self._made[key] = _Scores(self._view, key)
        return self._made[key]


class _Scores:
    """How well notes fit some keywords: the share of what the best of the view has."""

    def __init__(self, view: View, terms: tuple[str, ...]) -> None:
        self._scores = view.note_scores(terms) if terms else None
        self._best = float(self._scores.max(initial=0.0)) if self._scores is not None else 0.0

    def of(self, number: int) -> float:
        """Return a note's share, from 0 to 1."""
        if self._scores is None or not self._best:
            return 0.0
        return float(self._scores[number]) / self._best


def fused_with(base: Sequence[int], leg: Sequence[Joined], k: int = K) -> list[tuple[int, float]]:
    """Fuse a base ranking with the leg: reciprocal ranks, the leg's scaled by its weights.

    The two terms of a note are not added up but joined by a norm near their maximum: plain sums
    lifted many half-sure neighbours over what both words and meaning had found.
    """
    scores = {note: 1 / (k + rank) for rank, note in enumerate(base, start=1)}
    for rank, each in enumerate(leg, start=1):
        added = _LEG_WEIGHT * each.weight**_LEG_POWER / (k + rank)
        if added:
            before = scores.get(each.note, 0.0)
            scores[each.note] = (before**_NORM + added**_NORM) ** (1 / _NORM)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))


def _ordered(values: dict[int, float]) -> list[int]:
    return sorted(values, key=lambda note: (-values[note], note))


def _without(question: str, places: Sequence[Found]) -> str:
    """Leave out what was a name: every note that repeats it would look asked for."""
    kept, at = [], 0
    for place in places:
        kept.append(question[at : place.start])
        at = place.end
    return " ".join([*kept, question[at:]])
