"""Count a note's blocks, and cut those that are too large for a chunk. Pure.

A block is cut as coarsely as possible: between list items, table rows or quoted lines; then after
sentences; then between lines, words and, inside something endless like an encoded picture,
characters. Fences, comments and formulas are cut between lines first. Each block is counted
once; a cut block's parts are counted once more for each finer way it had to be cut.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb_assets.chunks.blocks import Block
from kb_core.tokens import TokenCounter

_LINE_END = re.compile(r"\r\n?|\n")
# Before a line that starts something: a list item, a table row, a quote.
_ITEM_START = re.compile(r"(?:\r\n?|\n)(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ ]{0,3}[|>])")
# After what ends a sentence and before what can start one; after a full stop of Chinese or
# Japanese. An abbreviation before a capital ends one too: a cut there costs little.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…])["'”’)\]*_]{0,4}\s{1,8}(?=[^\sa-z])|(?<=[。！？；])["'”’」』）*_]{0,4}\s{0,8}(?=\S)"""
)
_TABLE_RULE = re.compile(r"^[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+\|[-:| \t]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a note that is not cut further, as positions in its body."""

    start: int
    end: int
    tokens: int
    is_heading: bool = False
    is_solid: bool = False  # nothing of it is repeated in the next chunk
    is_fresh: bool = False  # a speaker's turn begins: nothing before it is repeated


def cut_block(body: str, block: Block, largest: int, counter: TokenCounter) -> list[Part]:
    """Return the block as one part, or as several of at most `largest` tokens."""
    tokens = counter.count(body[block.start : block.end])
    if tokens <= largest:
        return [Part(block.start, block.end, tokens, block.level > 0, block.is_solid)]
    text = body[block.start : block.end]
    is_solid = block.is_solid or bool(_TABLE_RULE.search(text))
    ways = (_LINE_END,) if is_solid else (_ITEM_START, _SENTENCE_END, _LINE_END)
    spans = _cut(body, (block.start, block.end), ways, largest, counter)
    return [Part(start, end, tokens, False, is_solid) for start, end, tokens in spans]


def _cut(
    body: str,
    span: tuple[int, int],
    ways: tuple[re.Pattern[str], ...],
    largest: int,
    counter: TokenCounter,
) -> Iterator[tuple[int, int, int]]:
    """Cut a span that is too large in the first of these ways, what stays too large in the next."""
    if not ways:
        yield from _cut_words(body, span, largest, largest, counter)
        return
    for start, end in _between(ways[0], body, *span):
        tokens = counter.count(body[start:end])
        if tokens <= largest:
            yield start, end, tokens
        else:
            yield from _cut(body, (start, end), ways[1:], largest, counter)


def _between(cut: re.Pattern[str], body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between the cuts. A cut belongs to the span before it."""
    for found in cut.finditer(body, start, end):
        if found.end() > start:
            yield start, found.end()
            start = found.end()
    if start < end:
        yield start, end


def _cut_words(
    body: str, span: tuple[int, int], size: int, largest: int, counter: TokenCounter
) -> Iterator[tuple[int, int, int]]:
    """Cut into runs of words of at most `size` characters, and of fewer if they must be."""
    run = re.compile(rf"\S.{{0,{size - 1}}}(?=\s|\Z)|\S.{{0,{size - 1}}}", re.DOTALL)
    for found in run.finditer(body, *span):
        tokens = counter.count(found[0])
        if tokens <= largest or size == 1:
            yield found.start(), found.end(), tokens
        else:
            yield from _cut_words(body, found.span(), size // 2, largest, counter)
