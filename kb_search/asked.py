"""What a question asks for: whom it names, which links and attributes, in which state, as of when.

Read by rules from the words alone and from what the view holds: nothing outside it is ever named.
Pure: the same question and view give the same reading.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kb_core.names import name_key
from kb_search.asked_names import Named, Names, without_excluded
from kb_search.asked_words import (
    Heard,
    Meaning,
    Phrases,
    Span,
    dates_in,
    quoted_spans,
    without_spans,
)
from kb_search.knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:  # question time reads the words once and hands them in
    from kb_core.ontology import Cues

# "was replaced" turns a verb round: its subject is what it happened to.
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|got|get|gets)\s+(?:\w+\s+)?$", re.I)
_PARTICIPLE = re.compile(r"\w+(?:ed|en)", re.I)
# Between a name and what is asked of it: "X's author", "the author of X" say whose it is.
_OWNS_BEHIND = re.compile(r"[\"“”»」』]?['’]s?\s*(?:\w+\s*)?", re.I)
_OWNS_BEFORE = re.compile(r"\s*(?:\w+\s+)?(?:of|for|von|des|der)\s+(?:the\s+)?[\"“„«「『]?", re.I)
_OWNER = re.compile(r"[\"“”»」』]?['’]s?\s+\w")
_NEAR = re.compile(r"[\s\"“”„»«「」『』]*(?:the|a|an|does|did|do|has|have|had|is|was)?"
                   r"[\s\"“”„»«「」『』]*", re.I)  # fmt: skip


class Direction(NamedTuple):
    """Which end of a link the named one is, as the words have it."""

    is_source: bool
    is_sure: bool  # the words stand beside the name


class Cue(NamedTuple):
    """A word that asks for a link type or an attribute."""

    start: int
    end: int
    name: str
    is_forward: bool = True


@dataclass(frozen=True)
class Asked:
    """A question, read."""

    question: str
    named: tuple[Named, ...] = ()
    excluded: tuple[int, ...] = ()  # named to say that it is not meant
    missing: tuple[str, ...] = ()  # numbers that nothing has, though their label is known
    unknown: tuple[Span, ...] = ()  # quoted, and no name of anything
    links: tuple[Cue, ...] = ()
    attributes: tuple[Cue, ...] = ()
    states: tuple[str, ...] = ()  # every folded word for the states it names
    dates: tuple[Span, ...] = ()
    traits: frozenset[str] = frozenset()  # now, past, why, count, compare, chain
    today: str = ""  # the day it is asked, or asked as of; empty: not known

    @property
    def entities(self) -> tuple[int, ...]:
        """The entities named, in order, each once."""
        return tuple(dict.fromkeys(each for name in self.named for each in name.entities))

    def direction(self, named: Named, cue: Cue) -> Direction:
        """Tell which end of a cue's links the named one is likely to be."""
        is_before = named.end <= cue.start
        gap = (
            self.question[named.end : cue.start]
            if is_before
            else (self.question[cue.end : named.start])
        )
        owns = _OWNS_BEHIND if is_before else _OWNS_BEFORE
        if gap.strip() and owns.fullmatch(gap):
            return Direction(cue.is_forward, True)
        return Direction(cue.is_forward == is_before, bool(_NEAR.fullmatch(gap)))

    def is_owner(self, named: Named) -> bool:
        """Tell whether a name stands in the possessive: "X's proposals"."""
        return bool(_OWNER.match(self.question, named.end))

    def distance(self, named: Named, cue: Cue) -> int:
        """Return how far a cue stands from a name, in characters."""
        return max(named.start - cue.end, cue.start - named.end)


class Reader:
    """Reads questions about one view."""

    def __init__(self, graph: KnowledgeGraph, cues: Sequence["Cues"]) -> None:
        """Take the cue words of the languages that questions come in."""
        self._graph = graph
        self._names = Names(graph)
        self._phrases = Phrases(_filed(graph, cues))
        self._cues = cues

    def read(self, question: str) -> Asked:
        """Read a question."""
        quoted = quoted_spans(question)
        named = self._names.of(question, quoted)
        held = [(each.start, each.end) for each in named]
        bare = without_spans(question, [*held, *((each.start, each.end) for each in quoted)])
        heard = self._phrases.heard_in(bare)
        kept, excluded = without_excluded(named, heard)
        heard = [each._replace(means=self._meant(each.means, kept)) for each in heard]
        return Asked(
            question=question,
            named=tuple(kept),
            excluded=excluded,
            missing=self._names.missing(question),
            unknown=tuple(each for each in quoted if (each.start, each.end) not in held),
            links=tuple(_cues(question, heard, "link")),
            attributes=tuple(_cues(question, heard, "attribute")),
            states=self._states(heard),
            dates=dates_in(bare),
            traits=frozenset(m.kind for h in heard for m in h.means) - _NO_TRAITS,
        )

    def with_titles(self, asked: Asked, entities: Sequence[int]) -> Asked:
        """Name what was quoted in other signs than its title has, among some entities."""
        found = self._names.titled(asked.unknown, entities)
        places = {(each.start, each.end) for each in found}
        left = tuple(each for each in asked.unknown if (each.start, each.end) not in places)
        return replace(asked, named=tuple(sorted((*asked.named, *found))), unknown=left)

    def _meant(self, means: Sequence[Meaning], named: Sequence[Named]) -> tuple[Meaning, ...]:
        """Choose what a word means that may be a link, an attribute and a state: `replaced`.

        A state is said of what has one, so it asks no attribute. It is a link where something is
        named that has such links, or has a state of its own: `replaced “X”`.
        """
        kinds = {each.kind for each in means}
        if "state" not in kinds:
            return tuple(means)
        if "link" in kinds and any(self._may_link(each, means) for each in named):
            return tuple(each for each in means if each.kind != "state")
        return tuple(each for each in means if each.kind not in ("link", "attribute"))

    def _may_link(self, named: Named, means: Sequence[Meaning]) -> bool:
        types = {each.name for each in means if each.kind == "link"}
        return any(
            self._graph.links_of(each, types) or self._graph.claims_of(each, {"status"})
            for each in named.entities
        )

    def _states(self, heard: Sequence[Heard]) -> tuple[str, ...]:
        names = {means.name for each in heard for means in each.means if means.kind == "state"}
        words = {
            word for cues in self._cues for name in names for word in cues.states.get(name, ())
        }
        return tuple(sorted(map(name_key, names | words)))


_NO_TRAITS = frozenset({"link", "attribute", "state", "but_not"})


def _filed(graph: KnowledgeGraph, cues: Sequence["Cues"]) -> Mapping[str, list[Meaning]]:
    """File every cue word, and the view's own attributes by their names."""
    found: dict[str, list[Meaning]] = {}
    own = ((each.replace("_", " "), Meaning("attribute", each)) for each in graph.attributes)
    for words, meaning in (*own, *(each for of in cues for each in _meanings(of))):
        found.setdefault(words, []).append(meaning)
    return found


def _meanings(cues: "Cues") -> Iterator[tuple[str, Meaning]]:
    for name, (forward, inverse) in cues.links.items():
        yield from ((words, Meaning("link", name, True)) for words in forward)
        yield from ((words, Meaning("link", name, False)) for words in inverse)
    for kind, filed in (("attribute", cues.attributes), ("state", cues.states)):
        for name, listed in filed.items():
            yield from ((words, Meaning(kind, name)) for words in listed)
    for kind in _TRAITS:
        yield from ((words, Meaning(kind)) for words in getattr(cues, kind))


_TRAITS = ("now", "past", "why", "count", "compare", "chain", "but_not")


def _cues(question: str, heard: Sequence[Heard], kind: str) -> list[Cue]:
    found = []
    for each in heard:
        is_turned = kind == "link" and _is_passive(question, each)
        for means in each.means:
            if means.kind == kind:
                is_forward = means.is_forward != is_turned
                found.append(Cue(each.start, each.end, means.name, is_forward))
    return list(dict.fromkeys(found))


def _is_passive(question: str, cue: Heard) -> bool:
    """Tell whether a single participle is turned round by a form of "be" before it."""
    word = question[cue.start : cue.end]
    if not _PARTICIPLE.fullmatch(word):
        return False
    return bool(_PASSIVE.search(question[max(0, cue.start - 24) : cue.start]))
