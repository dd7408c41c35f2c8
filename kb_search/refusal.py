"""Whether what was found can answer at all: a signal of the retrieval, without a language model.

Four signs that it cannot: a number is asked about that nothing has, though others have theirs; one
thing is named and lacks what others of its kind have; the kind of thing asked for ("what salary")
stands in no note; the words that matter are nowhere together and nothing found is near in meaning.
docs/decisions/0014 says how the bounds were chosen.
Pure.
"""

from dataclasses import dataclass
from typing import Literal

from kb_search.asked import Asked
from kb_search.graph_layer import GraphAnswer
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.signals import Signals

Behaviour = Literal["answer", "refuse", "ask_back"]

_OTHERS_OF_ITS_KIND = 10
_LEAST_COVERED = 0.2  # of the weight of the question's words, in the best passage
_NEAR_ENOUGH = 0.85  # cosine of the best passage; with the small embedder strangers have 0.81


@dataclass(frozen=True)
class Decision:
    """What an answerer should do, and why."""

    behaviour: Behaviour
    reason: str = ""


ANSWER = Decision("answer")


class Kinds:
    """Which kinds of things have which links and attributes in a view; each looked up once."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._counted: dict[tuple[str, str], bool] = {}

    def have(self, entity: int, name: str) -> bool:
        """Tell whether enough others of an entity's kind have a link type or an attribute."""
        kind = self._kind(entity)
        key = (kind, name)
        if not kind:
            return False
        if key not in self._counted:
            self._counted[key] = self._is_common(kind, name, entity)
        return self._counted[key]

    def _is_common(self, kind: str, name: str, but: int) -> bool:
        count = 0
        for each in range(self._graph.size):
            if each != but and self._has(each, name) and self._kind(each) == kind:
                count += 1
                if count >= _OTHERS_OF_ITS_KIND:
                    return True
        return False

    def _has(self, entity: int, name: str) -> bool:
        return bool(self._graph.links_of(entity, {name}) or self._graph.claims_of(entity, {name}))

    def _kind(self, entity: int) -> str:
        """Return what the numbers of an entity count; empty for what has none.

        Notes that are numbered are records: what is not stated where the others state it is not so.
        Of any other note the text may say what its properties leave out.
        """
        labels = sorted(name.rpartition(" ")[0] for name in self._graph.entity(entity).identifiers)
        return labels[0] if labels else ""


def decide(asked: Asked, answer: GraphAnswer, kinds: Kinds, signals: Signals) -> Decision:
    """Decide whether to answer, to refuse or to ask back."""
    if asked.missing and not asked.named:
        return Decision("refuse", f"nothing here is called {asked.missing[0]!r}")
    if answer.lacking and all(kinds.have(asked.entities[0], name) for name in answer.lacking):
        lacking = " or ".join(answer.lacking)
        return Decision("refuse", f"what it names has no {lacking}; others of its kind have")
    if signals.absent and not asked.named:
        return Decision("refuse", f"no note speaks of any {signals.absent!r}")
    if _is_far(signals):
        return Decision("refuse", "no passage holds the words that matter, and none is near")
    return ANSWER


def _is_far(signals: Signals) -> bool:
    is_distant = signals.similarity is None or signals.similarity < _NEAR_ENOUGH
    return signals.covered < _LEAST_COVERED and is_distant
