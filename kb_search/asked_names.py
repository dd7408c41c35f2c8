"""Whom a question names: quoted titles first, then numbers, then names in its text. Pure.

A quoted text that is a whole name beats every shorter name inside it. What the view does not hold
is never named, and leaves no other trace than that nothing is called so.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from kb_core.text import keyword_tokens
from kb_search.asked_words import Heard, Span, numbered_in, without_spans
from kb_search.knowledge_graph import KnowledgeGraph

_MEANS_WHOLE = 3  # carriers of one name; more are no name at all
_HALF = re.compile(r"\s+[–—-]\s+|[:：]\s+")
_BEHIND_NOT = 2  # characters between "not" and the name it leaves out


class Named(NamedTuple):
    """A name in the question and the entities that carry it."""

    start: int
    end: int
    entities: tuple[int, ...]
    is_quoted: bool


class Names:
    """The names of one view."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph

    def of(self, question: str, quoted: Sequence[Span]) -> list[Named]:
        """Return what a question names, in order; `quoted` is what stands in quotation marks."""
        found = [*self._quoted(quoted), *self._numbered(question)]
        taken = [*((span.start, span.end) for span in quoted), *((n.start, n.end) for n in found)]
        return sorted([*found, *self._plain(without_spans(question, taken))])

    def missing(self, question: str) -> tuple[str, ...]:
        """Return the numbers that nothing has, though others have theirs: `pep 2164`."""
        known = (each for each in numbered_in(question) if self._graph.knows_label(each.label))
        return tuple(each.name for each in known if not self._graph.named(each.name))

    def titled(self, spans: Sequence[Span], entities: Sequence[int]) -> list[Named]:
        """Name quoted texts by titles among some entities that have the same keywords.

        Marks and code signs inside a title are no matter.
        """
        titles = {each: self._title_keys(each) for each in entities} if spans else {}
        found = []
        for span in spans:
            key = tuple(keyword_tokens(span.text))
            fitting = tuple(each for each in entities if key and key in titles[each])
            if fitting:
                found.append(Named(span.start, span.end, fitting[:1], True))
        return found

    def _title_keys(self, entity: int) -> frozenset[tuple[str, ...]]:
        each = self._graph.entity(entity)
        titles = (each.name, *each.titles, *each.aliases)
        forms = (form for title in titles for form in (title, *_second_half(title)))
        return frozenset(tuple(keyword_tokens(form)) for form in forms)

    def _quoted(self, spans: Sequence[Span]) -> list[Named]:
        found = [(span, self._whole(span.text)) for span in spans]
        return [Named(span.start, span.end, carriers, True) for span, carriers in found if carriers]

    def _whole(self, text: str) -> tuple[int, ...]:
        """Return what a text is a name of, as a whole."""
        exact = self._graph.named(text)
        if exact:
            return exact if len(exact) <= _MEANS_WHOLE else ()
        found, places = self._graph.named_in(text)
        is_whole = len(places) == 1 and (places[0].start, places[0].end) == (0, len(text))
        return tuple(found) if is_whole else ()

    def _numbered(self, question: str) -> list[Named]:
        found = []
        for each in numbered_in(question):
            carriers = self._graph.named(each.name) if self._graph.knows_label(each.label) else ()
            if carriers:
                found.append(Named(each.start, each.end, carriers, False))
        return found

    def _plain(self, text: str) -> list[Named]:
        _, places = self._graph.named_in(text)
        found = [(at, self._graph.named_in(text[at.start : at.end])[0]) for at in places]
        return [Named(at.start, at.end, tuple(carriers), False) for at, carriers in found]


def without_excluded(
    named: Sequence[Named], heard: Sequence[Heard]
) -> tuple[list[Named], tuple[int, ...]]:
    """Part the names from those that the question says it does not mean: `not X`."""
    ends = [each.end for each in heard if any(m.kind == "but_not" for m in each.means)]
    out = [name for name in named if any(0 <= name.start - end <= _BEHIND_NOT for end in ends)]
    kept = [name for name in named if name not in out]
    return kept, tuple(dict.fromkeys(each for name in out for each in name.entities))


def _second_half(title: str) -> list[str]:
    return _HALF.split(title, maxsplit=1)[1:]
