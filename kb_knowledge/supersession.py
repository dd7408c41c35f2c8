"""Which claims hold, which were superseded and by what, and which contradict each other. Pure.

The rules, for claims about one attribute of one entity:

- What an edit replaced is superseded by what its note then said, from the day that was seen.
- Else a later written date with another value supersedes: never the day a value holds from, nor a
  weak date or none. What is itself no longer stated supersedes nothing, and a plan, an opinion, a
  hypothesis or a suggestion never a fact.
- Values that one note states side by side are a set: it supersedes what is not in it.
- Where dated log lines tell an attribute's history, a note's head line counts from the day it was
  seen: it says how things stand, not how they stood when the note was begun. One that was seen
  only after the instant asked about says nothing of then, and is undated.
- What is no longer stated and was not superseded is `no longer stated`. What has no date to be
  ordered by is `undated`. Of the rest, two notes of the same date that differ are in conflict.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from kb_knowledge.claims import Context, Draft, Statement
from kb_knowledge.records import (
    CONFLICTS_WITH,
    CURRENT,
    SUPERSEDED,
    SUPERSEDED_BY,
    UNDATED,
    UNSTATED,
    Claim,
    Relation,
)
from kb_knowledge.timeline import AFTER

MOST_DISPUTED = 20  # claims of one attribute that are compared pair by pair
_PLAN = "plan"


class Ordered(NamedTuple):
    """Claims with their states, how they relate, and how many were not compared."""

    claims: list[Claim]
    relations: list[Relation]
    not_compared: int


def ordered(drafts: Iterable[Draft], as_of: int | None = None) -> Ordered:
    """Order claims by their dates. Returns claims and relations sorted by id.

    `as_of`: the instant asked about, in microseconds since 1970; None: now.
    """
    groups: dict[tuple[str, str], list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.context.entity_id, draft.context.attribute].append(draft)
    done = Ordered([], [], 0)
    for group in groups.values():
        if len(group) == 1:  # most are: there is nothing to order
            done.claims.append(_alone(group[0]))
            continue
        found = _Group(sorted(group, key=lambda each: each.claim.claim_id), as_of).ordered()
        done.claims.extend(found.claims)
        done.relations.extend(found.relations)
        done = done._replace(not_compared=done.not_compared + found.not_compared)
    return Ordered(sorted(done.claims), sorted(done.relations), done.not_compared)


def _seen(draft: Draft, as_of: int | None) -> str | None:
    is_later = as_of is not None and draft.first.observed_at > as_of
    return None if is_later else draft.seen


def _alone(draft: Draft) -> Claim:
    if not draft.is_standing:
        return _in_state(draft, UNSTATED, draft.ended)
    return _in_state(draft, CURRENT if draft.strong_date else UNDATED)


def _in_state(draft: Draft, state: str, until: str | None = None) -> Claim:
    return Claim(*draft.claim[:-2], state, until)


class _Entry(NamedTuple):
    """What supersedes: the claims of one date in one context, and all that is said beside them."""

    date: str
    context: Context
    drafts: list[Draft]
    values: frozenset[str]


class _Group:
    """The claims about one attribute of one entity."""

    def __init__(self, drafts: Sequence[Draft], as_of: int | None) -> None:
        self._drafts = drafts
        has_log = any(each.context.is_log and each.is_standing for each in drafts)
        self._dates = {
            each.claim.claim_id: _seen(each, as_of)
            if has_log and each.is_head
            else each.strong_date
            for each in drafts
        }

    def ordered(self) -> Ordered:
        by_edit = self._superseded_by_edit() if any(each.next for each in self._drafts) else {}
        rest = [each for each in self._drafts if each.claim.claim_id not in by_edit]
        superseded = {**by_edit, **self._superseded_by_date(rest)}
        claims, relations = [], []
        for each in self._drafts:
            claim_id = each.claim.claim_id
            if claim_id in superseded:
                other, until = superseded[claim_id]
                claims.append(_in_state(each, SUPERSEDED, until))
                relations.append(Relation(claim_id, other, SUPERSEDED_BY))
            elif not each.is_standing:
                claims.append(_in_state(each, UNSTATED, each.ended))
            else:
                state = CURRENT if self._dates[claim_id] else UNDATED
                claims.append(_in_state(each, state))
        open_ = [
            each for each in rest if each.is_standing and each.claim.claim_id not in superseded
        ]
        conflicts, not_compared = self._conflicts(open_)
        return Ordered(claims, [*relations, *conflicts], not_compared)

    def _superseded_by_edit(self) -> dict[str, tuple[str, str]]:
        """Return what an edit replaced, with what replaced it and the day.

        What a version newly states replaces what it dropped: the same value (of another time, or
        no plan any more) before any other, of the same time before another, a fact before a plan.
        """
        came: dict[tuple[str | Context | None, ...], Draft] = {}
        for each in sorted(self._drafts, key=_rank):
            for likeness in _likenesses(each):
                key = (each.context, each.first.version_id, *likeness, _weight(each))
                came.setdefault(key, each)
        found = {}
        for each in self._drafts:
            if each.next is not None:
                keys = product(_likenesses(each), ("", _weight(each)))
                at = (each.context, each.next.version_id)
                replacing = (came.get((*at, *likeness, weight)) for likeness, weight in keys)
                other = next(filter(None, replacing), None)
                if other:
                    found[each.claim.claim_id] = other.claim.claim_id, each.ended
        return found

    def _superseded_by_date(self, drafts: Sequence[Draft]) -> dict[str, tuple[str, str]]:
        """Return what a later date supersedes, with what supersedes it and that date."""
        found: dict[str, tuple[str, str]] = {}
        classes: dict[str, list[Draft]] = defaultdict(list)
        for each in drafts:
            if self._dates[each.claim.claim_id]:
                classes[_weight(each)].append(each)
        if len({each.context for each in self._drafts}) == 1:
            return found  # a set
        for modality, members in classes.items():
            later = _Later(self._entries(modality))
            ends = {each.claim.claim_id: self._end(each) for each in members}
            for each in sorted(members, key=lambda each: ends[each.claim.claim_id]):
                entry = later.after(ends[each.claim.claim_id], each)
                if entry:
                    found[each.claim.claim_id] = entry.drafts[0].claim.claim_id, entry.date
        return found

    def _end(self, draft: Draft) -> str:
        """Return what sorts behind all that a claim's date may be, and before what is later."""
        return (self._dates[draft.claim.claim_id] or "") + AFTER

    def _entries(self, modality: str) -> list[_Entry]:
        """Return what may supersede claims of a modality, or facts if it is empty, by date."""
        values: dict[Context, set[str]] = defaultdict(set)
        drafts: dict[tuple[str, Context], list[Draft]] = defaultdict(list)
        for each in self._drafts:
            if each.is_standing and (each.is_factual or each.statement.modality == modality):
                values[each.context].add(each.statement.value)
                date = self._dates[each.claim.claim_id]
                if date:
                    drafts[date, each.context].append(each)
        together = {context: frozenset(each) for context, each in values.items()}
        return [
            _Entry(date, context, sorted(drafts[date, context], key=_rank), together[context])
            for date, context in sorted(drafts)
        ]

    def _conflicts(self, open_: Sequence[Draft]) -> tuple[list[Relation], int]:
        """Return which standing claims of the same date contradict each other."""
        kinds: dict[str, list[Draft]] = defaultdict(list)
        for each in open_:
            is_compared = each.is_factual or each.statement.modality == _PLAN
            if is_compared and self._dates[each.claim.claim_id]:
                kinds[_PLAN if not each.is_factual else ""].append(each)
        relations: list[Relation] = []
        left_out = 0
        for kind, members in kinds.items():
            if len({each.context.note_id for each in members}) == 1:
                continue
            together = {entry.context: entry.values for entry in self._entries(kind)}
            compared = members[:MOST_DISPUTED]
            left_out += len(members) - len(compared)
            relations += self._disputes(compared, together)
        return relations, left_out

    def _disputes(
        self, drafts: Sequence[Draft], together: Mapping[Context, frozenset[str]]
    ) -> Iterator[Relation]:
        for at, one in enumerate(drafts):
            for other in drafts[at + 1 :]:
                # Of two dates the later would have superseded the other: these are one date.
                if _differ(one, other, together):
                    yield Relation(one.claim.claim_id, other.claim.claim_id, CONFLICTS_WITH)


class _Later:
    """Finds what first says otherwise after a date. Their ends have to be asked for in order."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._entries = entries
        self._dates = [each.date for each in entries]
        self._reached: dict[str, int] = {}  # how far entries that hold a value were passed

    def after(self, end: str, draft: Draft) -> _Entry | None:
        """Return the first entry behind the end of a claim's date that lacks its value."""
        value = draft.statement.value
        at = max(bisect_left(self._dates, end), self._reached.get(value, 0))
        while at < len(self._entries) and value in self._entries[at].values:
            at += 1
        self._reached[value] = at
        # What was left out of its own context by an edit is not superseded by what stayed there.
        while at < len(self._entries) and not _may_supersede(self._entries[at], draft):
            at += 1
        return self._entries[at] if at < len(self._entries) else None


def _likenesses(draft: Draft) -> Iterator[tuple[str | None, str | None]]:
    """Return what another claim may share with one, the most alike first: value, then time."""
    return product((draft.statement.value, None), (draft.statement.valid_from, None))


def _weight(draft: Draft) -> str:
    """Return what a claim may be superseded by beside facts: its like. Empty for a fact."""
    return "" if draft.is_factual else draft.statement.modality


def _rank(draft: Draft) -> tuple[bool, Statement]:
    return not draft.is_factual, draft.statement


def _may_supersede(entry: _Entry, draft: Draft) -> bool:
    return entry.context != draft.context and draft.statement.value not in entry.values


def _differ(one: Draft, other: Draft, together: Mapping[Context, frozenset[str]]) -> bool:
    if one.context.note_id == other.context.note_id:
        return False
    is_in = one.statement.value in together[other.context]
    return not is_in and other.statement.value not in together[one.context]
