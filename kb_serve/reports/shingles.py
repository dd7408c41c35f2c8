"""Texts as sets of short runs of words, so that what two have in common can be counted. Pure.

Words are runs of letters and digits without case; a character of a script without blanks is a word
of its own. Every run of words is one number; equal runs are equal numbers within one object.
"""

import re
from collections import defaultdict

import numpy as np

from kb_core.names import is_unspaced

_RUN = re.compile(r"\w+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, and its bits are well mixed


class Shingles:
    """Numbers the words it meets, so that texts can be compared with each other."""

    def __init__(self, size: int) -> None:
        """Take how many words a run has."""
        self._size = size
        self._words: dict[str, int] = defaultdict()
        self._words.default_factory = self._words.__len__

    def of(self, text: str) -> np.ndarray:
        """Return a text's runs of words, sorted, each once (uint64); none of a shorter text."""
        words = words_of(text)
        if len(words) < self._size:
            return np.empty(0, np.uint64)
        numbers = np.fromiter(map(self._words.__getitem__, words), np.uint64, len(words))
        runs = numbers[: len(numbers) - self._size + 1]
        for place in range(1, self._size):
            runs = runs * _MULTIPLIER + numbers[place : len(numbers) - self._size + 1 + place]
        return _distinct(runs * _MULTIPLIER)


def words_of(text: str) -> list[str]:
    """Cut a text into words.

    >>> words_of("Kiln No. 2: 佛山")
    ['kiln', 'no', '2', '佛', '山']
    """
    runs = _RUN.findall(text.lower())
    if text.isascii() or not any(map(is_unspaced, set(text))):
        return runs
    return [part for run in runs for part in (run if is_unspaced(run[0]) else (run,))]


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Do what `np.unique` does, which hashes and is slower for what is nearly all distinct."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def share(one: np.ndarray, other: np.ndarray) -> float:
    """Return what two sets have in common, as a share of what they have together (Jaccard).

    Two empty sets have nothing in common.
    """
    both = np.intersect1d(one, other, assume_unique=True).size
    total = one.size + other.size - both
    return both / total if total else 0.0
