"""Which claims of an entity a question asks for, and whether an entity is as it asks. Pure.

A state or a year in the question is a condition where several things are asked about ("which of
her proposals were withdrawn"), and else what is asked ("was it withdrawn").
"""

import re
from collections.abc import Iterable, Sequence

from kb_core.dates import is_later, parse_date
from kb_core.errors import ContractError
from kb_core.names import name_key
from kb_knowledge.claims import LOG
from kb_knowledge.records import SUPERSEDED, UNDATED, UNSTATED, Claim
from kb_knowledge.timeline import state_at
from kb_search.asked import Asked
from kb_search.knowledge_graph import KnowledgeGraph

STATUS = "status"
_BESIDE = re.compile(r"\s(?:[^\W\d]+\s){0,3}")  # "created in the year 2019"


class ClaimsAsked:
    """The claims that one question is about."""

    def __init__(self, graph: KnowledgeGraph, asked: Asked) -> None:
        self._graph = graph
        self._names = {cue.name for cue in asked.attributes}
        self._states = set(asked.states)
        if "now" in asked.traits and asked.links:  # how it stands: its state says so, too
            self._names.add(STATUS)
        self.attributes = frozenset(self._names)  # asked for; a state may be a mere condition
        if self._states:
            self._names.add(STATUS)
        self._conditions = _dated_attributes(asked)
        self._years = tuple(date.text for date in asked.dates) if self._conditions else ()
        self._at = "" if self._conditions or not asked.dates else asked.dates[0].text
        self._today = asked.today
        self._in_force: dict[tuple[int, str, str], frozenset[str]] = {}

    @property
    def is_dated(self) -> bool:
        """Tell whether the question is about how things stood on a day."""
        return bool(self._at)

    @property
    def has_conditions(self) -> bool:
        """Tell whether a state or a year decides what is meant."""
        return bool(self._states or self._years)

    def holding(self, entities: Iterable[int], excluded: int = -1) -> set[int]:
        """Return the entities that are in a state and of a year the question names.

        A condition that none of them has anything to do with is not about them.
        """
        found = set(entities) - {excluded}
        if self._states and any(self._graph.claims_of(each, {STATUS}) for each in found):
            found = {each for each in found if self._is_in_state(each)}
        if self._years and any(self._graph.claims_of(each, self._conditions) for each in found):
            found = {each for each in found if self._is_of_year(each)}
        return found

    def asked_of(self, entity: int, only_conditions: bool = False) -> list[int]:
        """Return the claims the question asks of an entity: those that hold on its day."""
        names = self._names
        if only_conditions:
            names = ({STATUS} if self._states else set()) | self._conditions
        lines = self._graph.claims_of(entity, names) if names else []
        if not lines:
            return []
        if self.is_dated:
            return self._held(lines)
        current = self._standing(lines)
        own = [each for each in current if self._is_own(each, entity)]
        found = own or current or lines
        return [each for each in found if not self.is_off(each)] or found

    def is_over(self, line: int) -> bool:
        """Tell whether another row of the same table or log has come into force since."""
        begins = self.claim(line).valid_from or ""
        return self.is_off(line) and not is_later(begins, self._today)

    def is_off(self, line: int) -> bool:
        """Tell whether another row of the same table or log is in force today.

        Rows that one note states side by side, each from its own day, supersede each other by no
        later date of writing: today decides which of them holds.
        """
        claim = self.claim(line)
        if not claim.valid_from or not self._today or self.is_dated:
            return False
        key = (self._graph.line(line).entities[0], claim.attribute, claim.note_id)
        if key not in self._in_force:  # once a series: a log may have thousands of rows
            self._in_force[key] = self._held_today(*key)
        held = self._in_force[key]
        return bool(held) and claim.claim_id not in held

    def _held_today(self, entity: int, attribute: str, note_id: str) -> frozenset[str]:
        """Return the claims of one note's series that are in force today, by id."""
        rows = [self.claim(each) for each in self._graph.claims_of(entity, {attribute})]
        series = [each for each in rows if each.valid_from and each.note_id == note_id]
        held = state_at([each for each in series if not is_outdated(each)], self._today)
        return frozenset(each.claim_id for each in held)

    def _standing(self, lines: Sequence[int]) -> list[int]:
        """Return what is not outdated; beside a dated log, what has no date says nothing of now."""
        current = [each for each in lines if not is_outdated(self.claim(each))]
        dated = [each for each in current if self.claim(each).state != UNDATED]
        has_log = any(self.claim(each).basis == LOG for each in dated)
        return dated if has_log else current

    def _held(self, lines: Sequence[int]) -> list[int]:
        claims = {self.claim(each): each for each in lines}
        return [claims[each] for each in state_at(list(claims), self._at)]

    def _is_own(self, line: int, entity: int) -> bool:
        return self.claim(line).note_id in self._graph.entity(entity).note_ids

    def _is_in_state(self, entity: int) -> bool:
        lines = self._graph.claims_of(entity, {STATUS})
        claims = [self.claim(each) for each in lines]
        present = [each for each in claims if not is_outdated(each)]
        own = [each for each in present if each.note_id in self._graph.entity(entity).note_ids]
        return any(name_key(each.value) in self._states for each in own or present)

    def _is_of_year(self, entity: int) -> bool:
        lines = self._graph.claims_of(entity, self._conditions)
        dates = [parse_date(self.claim(each).value) or "" for each in lines]
        return any(date.startswith(year) for date in dates for year in self._years)

    def claim(self, number: int) -> Claim:
        """Return the claim of a line. Raises ContractError for the line of a link."""
        claim = self._graph.line(number).claim
        if claim is None:
            raise ContractError(
                f"Line {number} is a link, no claim. Fix the index that numbers it."
            )
        return claim


def is_outdated(claim: Claim) -> bool:
    """Tell whether a claim was superseded, or is stated no more."""
    return claim.state in (SUPERSEDED, UNSTATED)


def _dated_attributes(asked: Asked) -> set[str]:
    """Return the attributes that a date of the question belongs to: `created in 2019`.

    A date behind a name says as of when: `the status of X on 2019-05-01`.
    """
    return {
        cue.name
        for cue in asked.attributes
        for date in asked.dates
        if _BESIDE.fullmatch(asked.question[cue.end : date.start])
        and not any(cue.end <= name.start < date.start for name in asked.named)
    }
