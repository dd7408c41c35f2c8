"""Which entity is meant where somebody names one to start from. Pure.

By id, note path, title, alias or identifier, exactly: nothing that is merely alike is ever taken.
What names none or several is asked back, with what it could mean among what the view holds.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass

from kb_knowledge.records import Entity
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.policy import fold_name

_ENTITY_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Start:
    """What a name stands for: one entity, or the candidates to choose from, by id."""

    text: str
    number: int | None
    candidates: tuple[int, ...] = ()  # empty: nothing is called so

    @property
    def is_asked_back(self) -> bool:
        """Tell whether the name has to be said more exactly."""
        return self.number is None

    def among(self, may_name: Callable[[int], bool]) -> "Start":
        """Return what the name stands for among the entities that may be named."""
        carriers = self.candidates if self.number is None else (self.number,)
        kept = tuple(each for each in carriers if may_name(each))
        return Start(self.text, kept[0]) if len(kept) == 1 else Start(self.text, None, kept)


def start_of(graph: KnowledgeGraph, text: str, kinds: Collection[str] = ()) -> Start:
    """Find the one entity of some kinds, or of any, that is called exactly so."""
    wanted = folded_all(kinds)
    exact = _by_id_or_path(graph, unicodedata.normalize("NFC", text).strip())
    found = graph.named(text) if exact is None else (exact,)
    carriers = sorted(
        (each for each in found if is_of_kind(graph.entity(each), wanted)),
        key=lambda each: graph.entity(each).entity_id,
    )
    if len(carriers) == 1:
        return Start(text, carriers[0])
    return Start(text, None, tuple(carriers))


def folded_all(names: Collection[str]) -> frozenset[str]:
    """Fold several names."""
    return frozenset(fold_name(each) for each in names)


def is_of_kind(entity: Entity, kinds: Collection[str]) -> bool:
    """Tell whether an entity is of one of some folded kinds; none given: of any."""
    return not kinds or fold_name(entity.type) in kinds


def _by_id_or_path(graph: KnowledgeGraph, text: str) -> int | None:
    if _ENTITY_ID.fullmatch(text):
        found = graph.numbered(text)
        if found is not None:
            return found
    note = graph.entity_of_note(text)
    return graph.entity_of_note(f"{text}.md") if note is None else note
