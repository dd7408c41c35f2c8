"""How much work a note's text makes, told by counting before it is read. Pure, linear.

Every pass over a note is linear in its length, and yet a megabyte of nothing but headings makes
thirty times the work of a megabyte of prose. So that no note takes longer than about a second,
what stands beyond a certain amount of work is not read as Markdown: it is kept, cut and found as
plain text. Only counts decide, never a clock, so the same text is read the same way everywhere.
"""

# Measured on one core of 2024, the passes of notes and chunks together: about one microsecond a
# unit. A megabyte and a half of prose in one line, one in short lines, two thirds of one in lists.
MOST_WORK = 300_000

_BLOCK = 1 << 14  # characters looked at together
_PER_CHARACTER = 0.2
_WEIGHTS = {
    "\n": 5, "\r": 5, "\n\n": 3, "#": 12, "\n==": 14, "\n--": 14, "::": 12, "[": 3, "]": 3, "(": 2,
    ". ": 3, "! ": 3, "? ": 3, "。": 4, "！": 4, "？": 4, "；": 4, "|": 2, "`": 2, "*": 2, "_": 2,
    "~": 1, "'": 1, '"': 1, "^": 1, "$": 2, "<": 6, ">": 2, "%": 2, "&": 2, "\\": 2, "!": 1, "-": 1,
}  # fmt: skip
_HEAVIEST = _PER_CHARACTER + max(_WEIGHTS.values())


def markdown_end(text: str) -> int:
    """Return up to which character a text is read as Markdown: its end, or the start of a line.

    >>> markdown_end("# Plan"), markdown_end("# a\\n" * 100_000)
    (6, 81920)
    """
    if len(text) * _HEAVIEST <= MOST_WORK:
        return len(text)
    work = 0.0
    for start in range(0, len(text), _BLOCK):
        work += _work(text[start : start + _BLOCK])
        if work > MOST_WORK:
            return _line_start(text, start)
    return len(text)


def _work(block: str) -> float:
    marks = sum(weight * block.count(mark) for mark, weight in _WEIGHTS.items())
    return len(block) * _PER_CHARACTER + marks


def _line_start(text: str, at: int) -> int:
    """Return where the line of this character begins, or the character if that is far away."""
    begins = text.rfind("\n", max(0, at - _BLOCK), at) + 1
    return begins or at
