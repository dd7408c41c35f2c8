"""Pack a note's parts into pieces of the right size. Pure, linear.

A long note's sections stay apart unless they are small: a small one joins what follows below the
same heading, or else its neighbour before, or after. Sections under different dates never join.
What is larger than a chunk may be is packed part by part, a heading always with what follows it,
and each piece repeats the last words of the one before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_assets.chunks.cutting import Part
from kb_assets.chunks.limits import Limits
from kb_assets.chunks.sections import Section
from kb_core.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class SizedSection:
    """A section and its parts; `tokens` is their sum."""

    section: Section
    parts: tuple[Part, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Piece:
    """The stretch of a body that becomes a chunk, and from where the overlap is read."""

    start: int
    end: int
    lead: int  # where the repeated words before `start` begin; `start` if there are none
    tokens: int  # the repeated words included


Group = list[SizedSection]


def join_same_date(sections: Sequence[SizedSection]) -> list[Group]:
    """Group neighbours that were written on the same date: all of a short note is one."""
    groups: list[Group] = []
    for section in sections:
        if groups and _is_same_date(groups[-1], section):
            groups[-1].append(section)
        else:
            groups.append([section])
    return groups


def join_small(sections: Sequence[SizedSection], limits: Limits) -> list[Group]:
    """Group the sections of a long note so that few groups stay below the smallest size.

    A group may be too large only where a heading has its first subsection to stay with.
    """
    groups: list[Group] = []
    size = 0
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        is_small = bool(groups) and size < limits.smallest_tokens
        if is_small and _is_below(groups[-1], section, after, limits.largest_tokens - size):
            groups[-1].append(section)
            size += section.tokens
        else:
            groups.append([section])
            size = section.tokens
    return _join_leftovers(groups, limits)


def _is_below(group: Group, section: SizedSection, after: SizedSection | None, room: int) -> bool:
    """Return whether a section is a subsection, or a last word below the same heading."""
    if not _is_same_date(group, section):
        return False
    level = section.section.level
    if level > group[-1].section.level:
        return True
    # A heading with subsections begins something: it stays with them.
    is_parent = after is not None and after.section.level > level
    return level >= group[0].section.level and section.tokens <= room and not is_parent


def _join_leftovers(groups: Sequence[Group], limits: Limits) -> list[Group]:
    """Let what is still small join the group before it or, if that cannot be, the one after."""
    joined: list[Group] = []
    sizes: list[int] = []
    for group in groups:
        size = sum(section.tokens for section in group)
        if joined and _is_joinable(joined[-1], sizes[-1], group, size, limits):
            joined[-1] = [*joined[-1], *group]
            sizes[-1] += size
        else:
            joined.append(group)
            sizes.append(size)
    return joined


def _is_joinable(before: Group, size_before: int, group: Group, size: int, limits: Limits) -> bool:
    is_small = min(size_before, size) < limits.smallest_tokens
    is_fitting = size_before + size <= limits.largest_tokens
    return is_small and is_fitting and _is_same_date(before, group[0])


def _is_same_date(group: Group, section: SizedSection) -> bool:
    return group[-1].section.date == section.section.date


def pack(body: str, parts: Sequence[Part], limits: Limits, counter: TokenCounter) -> list[Piece]:
    """Pack parts, in order, into pieces of at most the largest size, overlap included."""
    runs: list[list[Part]] = []
    leads: list[tuple[int, int]] = []
    size = 0
    for part in _with_headings(parts, limits.largest_tokens):
        if not runs or size + part.tokens > limits.largest_tokens:
            leads.append(_lead(body, runs[-1] if runs else [], [part], limits, counter))
            size = leads[-1][1]
            runs.append([])
        runs[-1].append(part)
        size += part.tokens
    if _feed_last(runs, limits):
        leads[-1] = _lead(body, runs[-2], runs[-1], limits, counter)
    return [
        Piece(run[0].start, run[-1].end, lead, extra + _sum(run))
        for run, (lead, extra) in zip(runs, leads, strict=True)
    ]


def _feed_last(runs: list[list[Part]], limits: Limits) -> bool:
    """Move parts from the last piece but one to a last piece that is too small."""
    is_moved = False
    while (
        len(runs) > 1
        and len(runs[-2]) > 1
        and _sum(runs[-1]) < limits.smallest_tokens <= _sum(runs[-2][:-1])
        and _sum(runs[-1]) + runs[-2][-1].tokens <= limits.largest_tokens
    ):
        runs[-1].insert(0, runs[-2].pop())
        is_moved = True
    return is_moved


def _sum(parts: Sequence[Part]) -> int:
    return sum(part.tokens for part in parts)


def _with_headings(parts: Sequence[Part], largest: int) -> list[Part]:
    """Glue each heading to what follows it, so that no piece ends with a heading."""
    glued: list[Part] = []
    for part in parts:
        before = glued[-1] if glued else None
        if before and before.is_heading and before.tokens + part.tokens <= largest:
            tokens = before.tokens + part.tokens
            glued[-1] = replace(part, start=before.start, tokens=tokens, is_fresh=before.is_fresh)
        else:
            glued.append(part)
    return glued


def _lead(
    body: str,
    before: Sequence[Part],
    parts: Sequence[Part],
    limits: Limits,
    counter: TokenCounter,
) -> tuple[int, int]:
    """Return where the words that parts repeat begin, and how many tokens they are."""
    nothing = parts[0].start, 0
    if not before or not limits.overlap_chars or parts[0].is_fresh:
        return nothing
    end = before[-1].end
    floor = max([before[0].start, *(part.end for part in before if part.is_solid)])
    start = max(floor, end - limits.overlap_chars)
    if start > floor:
        start = _next_word(body, start, end)
    tokens = counter.count(body[start:end])
    return (start, tokens) if 0 < tokens <= limits.largest_tokens - _sum(parts) else nothing


def _next_word(body: str, start: int, end: int) -> int:
    """Return where a word begins, at or after `start`; `start` where nothing divides words."""
    if body[start - 1].isspace():
        return start
    for at in range(start, end):
        if body[at].isspace():
            return at + 1
    return start
