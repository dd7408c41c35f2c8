"""Find who speaks where in a saved conversation. Pure, linear.

Three ways of writing turns are known: a heading (`## User`), a bold name (`**Ana:** …`) and a
plain name (`Ana: …`, also after a time in brackets). The first that starts two turns is the
chat's own; lines like `Time: …` start none. Fences, quotes and comments are never looked into.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from kb_assets.chunks.blocks import Block
from kb_assets.chunks.cutting import Part, cut_block
from kb_core.tokens import TokenCounter

CHAT_KIND = "chat"

_ROLES = (
    "user|assistant|human|ai|you|me|system|model|bot|prompt|response|question|answer"
    "|chatgpt|gpt-?[\\w.]*|claude|gemini|copilot|用户|助手|我|你"
)
_TIME = r"[\[(（]?[\d:/.\-T ]{4,25}(?:[AaPp][Mm])?[\])）]?"
_NAME = r"(?P<name>[^\W\d_][^\n:：*_#|<>\[\](){}]{0,39}?)"
_STYLES = (
    re.compile(
        rf"^ {{0,3}}#{{1,6}}[ \t]+(?P<name>{_ROLES})(?: said| says)?[ \t]*[:：]?"
        rf"(?:[ \t]+{_TIME})?[ \t]*$",
        re.MULTILINE | re.IGNORECASE,
    ),
    re.compile(
        rf"^ {{0,3}}(?:[-*>][ \t]+)?(?:{_TIME}[ \t]*)?(?:\*\*|__){_NAME}(?:[ \t]+{_TIME})?[ \t]*"
        r"(?:[:：](?:\*\*|__)|(?:\*\*|__)[ \t]*[:：])",
        re.MULTILINE,
    ),
    re.compile(
        rf"^ {{0,3}}(?:[-*>][ \t]+)?(?:{_TIME}[ \t]*)?{_NAME}(?:[ \t]+{_TIME})?"
        r"(?:[:：][ \t]*$|: |：)",
        re.MULTILINE,
    ),
)
_NOT_SPEAKERS_NAMES = """
    attendees cc channel created date datetime day from link location model note notes participants
    place platform present re source status subject summary tags time title to topic updated url
    时间 日期 主题 参加 地点
"""
_NOT_SPEAKERS = frozenset(_NOT_SPEAKERS_NAMES.split())
_MOST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a speaker begins, as a position in the body."""

    start: int
    speaker: str


def read_turns(body: str, blocks: Sequence[Block]) -> list[Turn]:
    """Return a conversation's turns in order, none if no way of writing them is recognised."""
    for style in _STYLES:
        turns = [turn for block in blocks if not block.is_solid for turn in _in(style, body, block)]
        if len(turns) > 1:
            return turns
    return []


def _in(style: re.Pattern[str], body: str, block: Block) -> list[Turn]:
    names = (
        (found.start(), found["name"].strip())
        for found in style.finditer(body, block.start, block.end)
    )
    return [Turn(start, name) for start, name in names if _is_speaker(name)]


def _is_speaker(name: str) -> bool:
    return len(name.split()) <= _MOST_WORDS and name.casefold() not in _NOT_SPEAKERS


def speakers_between(turns: Sequence[Turn], start: int, end: int) -> list[str]:
    """Return who speaks in a stretch, in order of appearance, the turn it begins in included."""
    heard: dict[str, None] = {}
    first = max(0, bisect_right(turns, start, key=lambda turn: turn.start) - 1)
    for turn in islice(turns, first, None):
        if turn.start >= end:
            break
        heard[turn.speaker] = None
    return list(heard)


def turn_parts(
    body: str, blocks: Sequence[Block], turns: Sequence[Turn], largest: int, counter: TokenCounter
) -> list[Part]:
    """Return each turn as one part, or as its blocks where it is too large for a chunk."""
    parts: list[Part] = []
    turn: list[Part] = []
    for block, is_fresh in _at_turns(blocks, {each.start for each in turns}):
        if is_fresh:
            parts.extend(_as_one(turn, largest))
            turn = []
        turn.extend(cut_block(body, block, largest, counter))
    return [*parts, *_as_one(turn, largest)]


def _as_one(turn: Sequence[Part], largest: int) -> list[Part]:
    tokens = sum(part.tokens for part in turn)
    if not turn or tokens > largest:
        return [replace(part, is_fresh=at == 0) for at, part in enumerate(turn)]
    return [Part(turn[0].start, turn[-1].end, tokens, is_fresh=True)]


def _at_turns(blocks: Sequence[Block], starts: Set[int]) -> Iterator[tuple[Block, bool]]:
    """Cut blocks where turns start, and say which begin one."""
    ordered = sorted(starts)
    for block in blocks:
        inside = ordered[bisect_right(ordered, block.start) : bisect_left(ordered, block.end)]
        edges = [block.start, *inside, block.end]
        for start, end in pairwise(edges):
            yield replace(block, start=start, end=end), start in starts
