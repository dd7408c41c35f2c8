"""Byte ranges of a note that are not prose, and the question whether a place lies in one. Pure."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

Span = tuple[int, int]


class Spans:
    """A set of byte ranges, asked in logarithmic time. Ranges may overlap."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def covers(self, at: int) -> bool:
        """Say whether a byte lies inside one of the ranges.

        >>> [Spans([(2, 4)]).covers(at) for at in (1, 2, 3, 4)]
        [False, True, True, False]
        """
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]
