"""What each note says of an attribute through its versions: claims, not yet ordered. Pure.

A claim is one statement of one note, from the version that first made it to the one that last did,
as long as none between them said otherwise. Its date is that of the heading or log line it stands
under; else, if it came in with a later version, the day that version was seen; else its note's.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kb_core.ids import content_id
from kb_knowledge.records import ChunkRow, Claim, ClaimSaid
from kb_knowledge.resolution import note_entity
from kb_knowledge.values import value_key

FACTUAL = frozenset({"fact", "reported"})
LOG = "log"
HEAD = frozenset({"property", "header"})  # of the note itself: what it says of its present state
_MICROSECONDS = 1_000_000
_EPOCH = dt.date(1970, 1, 1)
_DAY = 86_400 * _MICROSECONDS


class Version(NamedTuple):
    """A version of a note that a view holds chunks of."""

    number: int
    version_id: str
    observed_at: int
    is_readable: bool


class Context(NamedTuple):
    """Where a note states something: edits change what stands in one and the same context."""

    note_id: str
    entity_id: str
    attribute: str
    own_date: str  # of a dated heading or a log line; empty: the note's date counts
    is_log: bool


class Statement(NamedTuple):
    """What is stated, as it is compared."""

    value: str
    modality: str
    valid_from: str
    valid_to: str


class ClaimSeen(NamedTuple):
    """One observation, with what its subject means."""

    entity_id: str
    said: ClaimSaid
    chunk: ChunkRow


class Draft(NamedTuple):
    """A claim that is not yet ordered among the others."""

    claim: Claim  # its state and until are still open
    context: Context
    statement: Statement
    first: Version
    next: Version | None  # the first later version that states something else in its context
    end: Version  # the first version without it; the last one with it where none follows
    is_standing: bool
    is_head: bool

    @property
    def is_factual(self) -> bool:
        """Tell whether it is no plan, opinion, hypothesis or suggestion."""
        return self.statement.modality in FACTUAL

    @property
    def strong_date(self) -> str | None:
        """Return its written date, if others can be ordered by it."""
        return None if self.claim.is_weak else self.claim.written_date

    @property
    def seen(self) -> str:
        """Return the day it was first seen."""
        return day_of(self.first.observed_at)

    @property
    def ended(self) -> str:
        """Return the day it was seen to be stated no longer, or was last seen."""
        return day_of(self.end.observed_at)


def day_of(observed_at: int) -> str:
    """Return the day, in UTC, of microseconds since 1970."""
    return (_EPOCH + dt.timedelta(days=observed_at // _DAY)).isoformat()


def drafts_of(
    seen: Iterable[ClaimSeen], versions: Mapping[str, Sequence[Version]]
) -> Iterator[Draft]:
    """Yield the claims. `versions` are those of each note, oldest first."""
    stated: dict[Context, dict[str, dict[Statement, ClaimSeen]]] = defaultdict(dict)
    for each in seen:
        context, statement = _context(each), _statement(each.said)
        held = stated[context].setdefault(each.said.version_id, {})
        other = held.get(statement)
        if other is None or _place(each) < _place(other):
            held[statement] = each
    for context, by_version in stated.items():
        yield from _of_context(context, by_version, versions[context.note_id])


def _context(seen: ClaimSeen) -> Context:
    said, chunk = seen.said, seen.chunk
    is_log = said.basis == LOG and said.valid_from is not None
    own = said.valid_from if is_log else chunk.written_date if chunk.is_dated else None
    return Context(chunk.note_id, seen.entity_id, said.attribute, own or "", is_log)


def _statement(said: ClaimSaid) -> Statement:
    key = value_key(said.value)
    return Statement(key, said.modality, said.valid_from or "", said.valid_to or "")


def _place(seen: ClaimSeen) -> tuple[str, ...]:
    said = seen.said
    return said.chunk_id, said.basis, said.value, said.quote


def _of_context(
    context: Context,
    stated: Mapping[str, Mapping[Statement, ClaimSeen]],
    versions: Sequence[Version],
) -> Iterator[Draft]:
    stating = [each for each in versions if each.version_id in stated]
    held = [frozenset(stated[each.version_id]) for each in stating]
    for at, statements in enumerate(held):
        before = held[at - 1] if at else frozenset()
        for statement in statements - before:
            last = at
            while last + 1 < len(held) and statement in held[last + 1]:
                last += 1
            seen = stated[stating[last].version_id][statement]
            after = stating[last + 1] if last + 1 < len(stating) else None
            run = _Run(stating[at], stating[last], after)
            yield _draft(context, statement, seen, run, versions)


class _Run(NamedTuple):
    """The versions through which something is stated."""

    first: Version
    last: Version
    after: Version | None  # states something else in its place


def _draft(
    context: Context,
    statement: Statement,
    seen: ClaimSeen,
    run: _Run,
    versions: Sequence[Version],
) -> Draft:
    date, is_weak = _written(context, seen.chunk, run, versions)
    said = seen.said
    # Dates and modalities are a closed set without blanks, so that one text may hold them all.
    when = f"{context.own_date} {context.is_log} {' '.join(statement[1:])}"
    claim = Claim(
        claim_id=content_id(*context[:3], statement.value, when, run.first.version_id),
        entity_id=context.entity_id,
        attribute=context.attribute,
        value=said.value,
        modality=said.modality,
        quote=said.quote,
        basis=said.basis,
        version_id=said.version_id,
        chunk_id=said.chunk_id,
        note_id=context.note_id,
        written_date=date,
        is_weak=is_weak,
        valid_from=said.valid_from,
        valid_to=said.valid_to,
        extractor=said.extractor,
        state="",
        until=None,
    )
    return Draft(
        claim=claim,
        context=context,
        statement=statement,
        first=run.first,
        next=run.after,
        end=_end(run, versions),
        is_standing=run.last.is_readable,
        is_head=_is_head(context, said.basis),
    )


def _is_head(context: Context, basis: str) -> bool:
    is_own = context.entity_id == note_entity(context.note_id)
    return is_own and basis in HEAD and not context.own_date


def _written(
    context: Context, chunk: ChunkRow, run: _Run, versions: Sequence[Version]
) -> tuple[str | None, bool]:
    """Return the written date, and whether it is a weak one."""
    if context.own_date:
        return context.own_date, False
    if run.first.number > versions[0].number:
        return day_of(run.first.observed_at), False
    return chunk.written_date, chunk.written_is_weak and chunk.written_date is not None


def _end(run: _Run, versions: Sequence[Version]) -> Version:
    if run.after or run.last.is_readable:
        return run.after or run.last
    later = (each for each in versions if each.number > run.last.number)
    return next(later, run.last)
