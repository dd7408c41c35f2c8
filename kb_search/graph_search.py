"""One question through the graph of a view: read, routed, walked, and put before the base ranking.

Pure but for what the view reads from its files: the same build, question and base ranking give the
same answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kb_core.names import folded, is_unspaced
from kb_core.ontology import Cues, cues, languages
from kb_core.text import keyword_tokens
from kb_search.asked import Asked, Reader
from kb_search.graph_layer import SEEDS, GraphAnswer, GraphLayer, KeptLine, Limits
from kb_search.hybrid import QueryVector, RankedNote
from kb_search.knowledge_graph import KnowledgeGraph, Line
from kb_search.line_gate import Shown, chunks_of, first_chunk, may_be_shown
from kb_search.line_scores import scores_by
from kb_search.line_vectors import LineVectors
from kb_search.refusal import ANSWER, Decision, Kinds, decide
from kb_search.route import Route, route
from kb_search.signals import NO_SIGNALS, SignalReader, Signals
from kb_search.view import View

_DEFAULT_LANGUAGE = "en"
_CHUNKS_PER_NOTE = 3
_DECIMALS = 9
_LOOKED_AT = 10  # notes whose passages tell how well the question is covered


@dataclass(frozen=True)
class Guided:
    """What came of a question."""

    ranked: tuple[RankedNote, ...]
    answer: GraphAnswer
    route: Route
    decision: Decision = ANSWER
    signals: Signals = NO_SIGNALS
    named: tuple[str, ...] = ()  # what the question names
    asked_for: tuple[str, ...] = ()  # the link types and attributes it asks for
    entries: tuple[str, ...] = ()  # what the graph was entered by


@dataclass(frozen=True)
class Way:
    """How the graph takes part."""

    is_routed: bool = False  # the router decides whether it does
    has_base: bool = True  # the base ranking follows its notes
    is_trimmed: bool = True  # lines have to be near the best one
    margin: float | None = None  # how near; None: as near as the embedder's profile says
    profile_margin: float | None = None


class GraphScope:
    """The graph of a view, ready for questions."""

    def __init__(self, graph: KnowledgeGraph, view: View, vectors: LineVectors | None) -> None:
        self.graph = graph
        self._view = view
        self._vectors = vectors
        self._layer = GraphLayer(graph)
        self._kinds = Kinds(graph)
        self._signals = SignalReader(view)
        self._readers: dict[tuple[str, ...], Reader] = {}

    def search(
        self,
        question: str,
        terms: Sequence[str],
        base: Sequence[RankedNote],
        vector: QueryVector | None,
        way: Way,
        shown: Shown,
        notes: int,
    ) -> Guided:
        """Return the ranking, lines and decision for a question with this base ranking."""
        ranks = [each.note_id for each in base]
        asked = replace(self.read(question, ranks), today=self._view.day)
        decided = route(asked, self.graph, ranks) if way.is_routed else _ALWAYS
        weights = self._view.keyword.weights(terms)
        scoring = scores_by(self._vectors, vector, weights, way.profile_margin)
        margin = scoring.margin if way.margin is None else way.margin
        limits = Limits(margin if way.is_trimmed else None)
        answer = self._layer.answer(asked, ranks, scoring.score, limits)
        answer = replace(answer, lines=may_be_shown(answer.lines, self._view, shown))
        signals = self._signals.of(question, terms, base, vector, weights)
        decision = decide(asked, answer, self._kinds, signals)
        ranked = list(base)
        if decided.uses_graph:
            ranked = shown.ranked(self._joined(answer, base, way.has_base))[:notes]
        else:
            answer = GraphAnswer(answer.entries, trimmed=answer.trimmed)
        # What may not be handed over is not told of either.
        told = None if shown.hands_over_all else {each.note_id for each in (*base, *ranked)}
        front = (note for note in answer.front if told is None or note in told)
        return Guided(
            ranked=tuple(ranked),
            answer=replace(answer, front=tuple(front)),
            route=decided,
            decision=decision,
            signals=signals,
            named=self._names(asked.entities, told),
            asked_for=_asked_for(asked),
            entries=self._names(answer.entries, told),
        )

    def read(self, question: str, base: Sequence[str] = ()) -> Asked:
        """Read a question; what it quotes may be named by the notes of the base ranking."""
        spoken = _languages(question)
        if spoken not in self._readers:
            self._readers[spoken] = Reader(self.graph, [cues(each) for each in spoken])
        reader = self._readers[spoken]
        asked = reader.read(question)
        seeds = (self.graph.entity_of_note(note) for note in base[:SEEDS])
        return reader.with_titles(asked, [each for each in seeds if each is not None])

    def _names(self, numbers: Sequence[int], told: set[str] | None) -> tuple[str, ...]:
        """Return the names of what no note is called, or notes that may be told of."""
        entities = [self.graph.entity(each) for each in numbers]
        return tuple(
            each.name
            for each in entities
            if told is None or not each.note_ids or not told.isdisjoint(each.note_ids)
        )

    def _joined(
        self,
        answer: GraphAnswer,
        base: Sequence[RankedNote],
        has_base: bool,
    ) -> list[RankedNote]:
        """Put the notes of the answer first, each with the chunks that say it."""
        front = list(answer.front)
        if not has_base:
            lines = [kept.line for kept in answer.lines]
            front += [note for line in lines for note in line.note_ids]
        found = {each.note_id: each for each in base}
        evidence = _evidence(answer.lines)
        first = [
            self._ranked(note, found.get(note), evidence.get(note, ()))
            for note in dict.fromkeys(front)
            if note in self._view.notes
        ]
        placed = {each.note_id for each in first}
        rest = [each for each in base if each.note_id not in placed] if has_base else []
        return [*first, *rest]

    def _ranked(self, note: str, found: RankedNote | None, evidence: Iterable[str]) -> RankedNote:
        """Return a note with its evidence before what the base ranking found in it."""
        own = found.chunks if found else ()
        held = {(id(each.folder), each.row): each for each in own}
        said = [
            held.get((id(each.folder), each.row), each)
            for each in chunks_of(self._view, note, evidence)
        ]
        chunks = said[: _CHUNKS_PER_NOTE - 1] if own else said
        chunks += [each for each in own if each not in chunks]
        chunks = chunks or [first_chunk(self._view, note)]
        return RankedNote(note, found.score if found else 0.0, tuple(chunks[:_CHUNKS_PER_NOTE]))


_ALWAYS = Route(True, ("asked for by name",))


def _asked_for(asked: Asked) -> tuple[str, ...]:
    return tuple(sorted({cue.name for cue in (*asked.links, *asked.attributes)}))


def _evidence(lines: Sequence[KeptLine]) -> dict[str, list[str]]:
    """Return the chunks behind what was asked for, by note."""
    found: dict[str, list[str]] = {}
    for kept in lines:
        if not kept.is_implied:
            continue
        for note in kept.line.note_ids:
            found.setdefault(note, []).extend(_chunks(kept.line))
    return found


def _chunks(line: Line) -> Sequence[str]:
    if line.link is not None:
        return line.link.chunk_ids
    return (line.claim.chunk_id,) if line.claim else ()


def _languages(question: str) -> tuple[str, ...]:
    """Return the languages a question may be in: by its script, or by words of one alone."""
    text = folded(question)
    words = set(keyword_tokens(text))
    found = [
        each
        for each in languages()
        if each != _DEFAULT_LANGUAGE and _is_spoken(cues(each), text, words)
    ]
    return (*found, _DEFAULT_LANGUAGE)


def _is_spoken(of: Cues, text: str, words: set[str]) -> bool:
    return any(hint in (text if any(map(is_unspaced, hint)) else words) for hint in of.hints)
