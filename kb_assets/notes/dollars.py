"""Tell prices from formulas. Pure, linear.

Obsidian takes `$x$` for math unless a digit follows the second dollar: `US$5 [[a]] US$6` is no
formula, and its link is seen. The Markdown parser does not know of the digit, so the dollars that
open nothing are masked and the text is parsed again.
"""

import re
from collections.abc import Sequence

from kb_assets.notes.spans import Span

_MASK = "\x02"  # a control character, as long as a dollar, that means nothing to Markdown
_PRICE = re.compile(rb"\$(?=[0-9])")
# Each round finds half of the prices in a row. A text with more of them is a price list, and
# then no dollar before a digit opens math either.
_MOST_ROUNDS = 5


def opens_nothing(data: bytes, math: Sequence[Span]) -> list[int]:
    """Return where the dollars are that open a formula which a digit follows.

    A text that holds the mask itself keeps the parser's reading.
    """
    dollars = [start for start, end in math if data[end : end + 1].isdigit()]
    return [] if dollars and _MASK.encode() in data else dollars


def masked(data: bytes, dollars: Sequence[int], rounds: int) -> bytes:
    """Take dollars out of a text without moving a byte; in the last round, all before digits."""
    if rounds >= _MOST_ROUNDS:
        return _PRICE.sub(_MASK.encode(), data)
    made = bytearray(data)
    for at in dollars:
        made[at] = ord(_MASK)
    return bytes(made)


def unmasked(text: str) -> str:
    """Give the dollars back."""
    return text.replace(_MASK, "$")
