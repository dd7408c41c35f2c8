"""What becomes of each claim, worked out by brute force from the rules as they are written."""

import datetime as dt
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from kb_knowledge.records import ChunkRow, Evidence, Reference

Facts = set[tuple[Any, ...]]
_Held = dict[int, dict[tuple[str, ...], list[Any]]]  # by version and statement


class Stated(NamedTuple):
    """A claim of one note, through the versions that make it."""

    thing: str
    attribute: str
    note: str
    own_date: str
    is_log: bool
    value: str
    modality: str
    valid_from: str
    valid_to: str
    first: int  # version
    last: int
    chunk: str
    basis: str
    date: str | None
    is_weak: bool
    is_standing: bool

    @property
    def context(self) -> tuple[Any, ...]:
        return self.note, self.own_date, self.is_log

    @property
    def said(self) -> tuple[str, ...]:
        return self.value, self.modality, self.valid_from, self.valid_to

    @property
    def is_fact(self) -> bool:
        return self.modality in ("fact", "reported")

    @property
    def rank(self) -> tuple[Any, ...]:
        return not self.is_fact, self.said


class ClaimsOracle:
    """The claims of an evidence, given what its references mean."""

    def __init__(
        self,
        evidence: Evidence,
        meant: Callable[[ChunkRow, Reference], str | None],
        tenant: Callable[[str], str],
        spoken: set[str],
    ) -> None:
        self.evidence = evidence
        self.meant = meant
        self.tenant = tenant
        self.spoken = spoken

    def facts(self) -> tuple[Facts, Facts]:
        """Return the claims with state and until, and how they relate."""
        all_ = list(self._stated())
        told = {}
        superseding = {}
        for one in all_:
            group = [each for each in all_ if each[:2] == one[:2]]
            state, until, superseding[one] = self._state(one, group)
            told[one] = _row(one, state, until)
        relations: Facts = {
            ("SUPERSEDED_BY", told[one], told[other]) for one, other in superseding.items() if other
        }
        current = [one for one in all_ if "current" in told[one]]
        for one, other in combinations(current, 2):
            if self._conflict(one, other, all_):
                relations.add(("CONFLICTS_WITH", *sorted((told[one], told[other]), key=repr)))
        return set(told.values()), relations

    def _state(self, one: Stated, group: list[Stated]) -> tuple[str, str | None, Stated | None]:
        edit = self._edited(one, group)
        if edit:
            return "superseded", self.day(one.note, edit.first), edit
        date = self.date(one, group)
        later = [each for each in group if self._supersedes(each, one, group)] if date else []
        if later:
            other = min(
                later, key=lambda e: (self.date(e, group), e.note, e.own_date, e.is_log, e.rank)
            )
            return "superseded", self.date(other, group), other
        if not one.is_standing:
            return "no longer stated", self._gone(one, group), None
        return ("current" if date else "undated"), None, None

    def _supersedes(self, other: Stated, one: Stated, group: list[Stated]) -> bool:
        date, own = self.date(other, group), self.date(one, group)
        if not other.is_standing or not date or not own or not _later(date, own):
            return False
        if other.context == one.context or not (other.is_fact or other.modality == one.modality):
            return False
        return one.value not in self._beside(other, one.is_fact, one.modality, group)

    def _beside(self, one: Stated, is_fact: bool, modality: str, group: list[Stated]) -> set[str]:
        return {
            each.value
            for each in group
            if each.context == one.context
            and each.is_standing
            and (each.is_fact or (not is_fact and each.modality == modality))
        }

    def _conflict(self, one: Stated, other: Stated, all_: list[Stated]) -> bool:
        if one[:2] != other[:2] or one.note == other.note:
            return False
        is_plan = one.modality == other.modality == "plan"
        if not (one.is_fact and other.is_fact) and not is_plan:
            return False
        group = [each for each in all_ if each[:2] == one[:2]]
        dates = self.date(one, group), self.date(other, group)
        if not dates[0] or not dates[1] or _later(dates[0], dates[1]) or _later(dates[1], dates[0]):
            return False
        values = [self._beside(each, not is_plan, "plan", group) for each in (one, other)]
        return one.value not in values[1] and other.value not in values[0]

    def date(self, one: Stated, group: list[Stated]) -> str | None:
        """Return what a claim is ordered by; a head line beside a log, by when it was seen."""
        has_log = any(each.is_log and each.is_standing for each in group)
        is_head = one.basis in ("property", "header") and not one.own_date
        if has_log and is_head and one.note == one.thing:
            return self.day(one.note, one.first)
        return None if one.is_weak else one.date

    def day(self, note: str, version: int) -> str:
        at = next(
            r.observed_at for r in self.evidence.chunks if (r.note_id, r.version) == (note, version)
        )
        return dt.datetime.fromtimestamp(at / 1_000_000, dt.UTC).date().isoformat()

    def versions(self, note: str) -> list[int]:
        return sorted({row.version for row in self.evidence.chunks if row.note_id == note})

    def _stating(self, one: Stated, group: list[Stated]) -> list[int]:
        """Return the versions that state anything in a claim's context."""
        same = [each for each in group if each.context == one.context]
        return [
            version
            for version in self.versions(one.note)
            if any(version in self._held(each) for each in same)
        ]

    def _held(self, one: Stated) -> set[int]:
        found = set()
        for said in self.evidence.claims:
            row = row_of(self.evidence, said)
            if (
                row.note_id == one.note
                and self._is(said, row, one)
                and one.first <= row.version <= one.last
            ):
                found.add(row.version)
        return found

    def _is(self, said: Any, row: ChunkRow, one: Stated) -> bool:
        own, is_log = _own(said, row)
        key = (
            self.meant(row, said.subject),
            said.attribute,
            row.note_id,
            own,
            is_log,
            *_said(said),
        )
        return key == one[:9]

    def _next(self, one: Stated, group: list[Stated]) -> int | None:
        return next((each for each in self._stating(one, group) if each > one.last), None)

    def _edited(self, one: Stated, group: list[Stated]) -> Stated | None:
        after = self._next(one, group)
        same = [each for each in group if each.context == one.context]
        before = {each.said for each in same if one.last in self._held(each)}
        new = [
            each
            for each in same
            if each.first == after
            and each.said not in before
            and (each.is_fact or each.modality == one.modality)
        ]
        return min(
            new,
            key=lambda e: (e.value != one.value, e.valid_from != one.valid_from, e.rank),
            default=None,
        )

    def _gone(self, one: Stated, group: list[Stated]) -> str:
        after = self._next(one, group)
        later = [each for each in self.versions(one.note) if each > one.last]
        return self.day(one.note, after or (later[0] if later else one.last))

    def _stated(self) -> Iterator[Stated]:
        held: dict[tuple[Any, ...], dict[int, dict[tuple[Any, ...], list[Any]]]] = {}
        for said in self.evidence.claims:
            row = row_of(self.evidence, said)
            thing = self.meant(row, said.subject)
            if thing in self.spoken and self.tenant(thing) == row.tenant:
                own, is_log = _own(said, row)
                context = (thing, said.attribute, row.note_id, own, is_log)
                by_statement = held.setdefault(context, {}).setdefault(row.version, {})
                by_statement.setdefault(_said(said), []).append((said, row))
        for context, by_version in held.items():
            yield from self._runs(context, by_version)

    def _runs(
        self, context: tuple[Any, ...], by_version: dict[int, dict[tuple[Any, ...], list[Any]]]
    ) -> Iterator[Stated]:
        stating = sorted(by_version)
        for statement in {each for held in by_version.values() for each in held}:
            flags = [statement in by_version[version] for version in stating]
            for at, is_in in enumerate(flags):
                if is_in and (at == 0 or not flags[at - 1]):
                    end = at
                    while end + 1 < len(flags) and flags[end + 1]:
                        end += 1
                    rows = by_version[stating[end]][statement]
                    yield self._claim(context, statement, (stating[at], stating[end]), rows)

    def _claim(
        self,
        context: tuple[Any, ...],
        statement: tuple[Any, ...],
        run: tuple[int, int],
        rows: list[Any],
    ) -> Stated:
        said, row = min(rows, key=lambda e: (e[0].chunk_id, e[0].basis, e[0].value, e[0].quote))
        own, note = context[3], context[2]
        date, is_weak = row.written_date, bool(row.written_date and row.written_is_weak)
        if own:
            date, is_weak = own, False
        elif run[0] != self.versions(note)[0]:
            date, is_weak = self.day(note, run[0]), False
        rest = (said.chunk_id, said.basis, date, is_weak, row.is_readable)
        return Stated(*context, *statement, *run, *rest)


def _row(one: Stated, state: str, until: str | None) -> tuple[Any, ...]:
    """Return one of the oracle's claims as `labelled` has them."""
    return (
        *(one.thing, one.attribute, one.note, *one.said, one.last, one.chunk, one.basis),
        *(one.date, one.is_weak, state, until),
    )


def _later(one: str, other: str) -> bool:
    """Compare at the coarser precision of the two."""
    return all(a != b for a, b in [(one[: len(other)], other[: len(one)])]) and one > other


def _own(said: Any, row: ChunkRow) -> tuple[str, bool]:
    if said.basis == "log" and said.valid_from:
        return said.valid_from, True
    return (row.written_date or "") if row.is_dated else "", False


def _said(said: Any) -> tuple[str, ...]:
    return said.value.lower(), said.modality, said.valid_from or "", said.valid_to or ""


def row_of(evidence: Evidence, said: Any) -> ChunkRow:
    """Return the chunk that says something."""
    place = (said.version_id, said.chunk_id)
    return next(row for row in evidence.chunks if row[:2] == place)
