"""Who reads each chunk's prose: a model that answered, or the rules, and why. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kb_knowledge.records import RULES
from resources.llm import CUT, REFUSED
from resources.paid_store import Stored

Place = tuple[str, str]  # version, chunk

# Who read a chunk, and why no model did.
READ, WAITING, BARRED, LEFT = "read", "waiting", "barred", "left"
REFUSED_BY_MODEL, CUT_OFF, UNUSABLE, FAILED = "refused", "cut", "unusable", "failed"
NOT_READ = (WAITING, BARRED, LEFT, REFUSED_BY_MODEL, CUT_OFF, UNUSABLE, FAILED)


@dataclass(frozen=True)
class Answers:
    """What a model was asked about the chunks of a folder, and what it said."""

    keys: Mapping[Place, str] = field(default_factory=dict)
    answers: Mapping[str, Stored] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


class Reading(NamedTuple):
    """What becomes of one chunk's prose."""

    state: str
    answer: Stored | None = None  # where a model's answer is to be heard

    @property
    def extractor(self) -> str:
        """Return whose rows stand for the chunk's prose."""
        return self.answer.label if self.answer else RULES


@dataclass(frozen=True)
class Prose:
    """Who reads what of a folder. As it is: rules read everything."""

    left: frozenset[str] = frozenset()  # versions that are not worth reading
    barred: frozenset[Place] = frozenset()
    answers: Answers | None = None  # None: no model is chosen

    def of(self, place: Place) -> Reading:
        """Return what becomes of a chunk's prose, before its answer was heard."""
        if place[0] in self.left:
            return Reading(LEFT)
        if self.answers is None:
            return Reading(READ)
        if place in self.barred:
            return Reading(BARRED)
        key = self.answers.keys.get(place)
        if key is None:
            return Reading(READ)  # nothing to ask about: no letter stands in it
        if key in self.answers.failed:
            return Reading(FAILED)
        answer = self.answers.answers.get(key)
        if answer is None:
            return Reading(WAITING)
        states = {CUT: CUT_OFF, REFUSED: REFUSED_BY_MODEL}
        if answer.stop in states:
            return Reading(states[answer.stop])
        return Reading(READ, answer)
