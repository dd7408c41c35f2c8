"""Keyword search: a folder's postings, written and read here, and BM25 over any set of folders.

What is indexed is a folder's distinct search texts, its docs, in the order they are given. How
many chunks in scope carry a doc's text is known only when somebody asks, so document frequency,
number and mean length are summed then, over the scope. A folder's scores are therefore the same
bits whatever other folders are loaded. Pure: arrays in, arrays out.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from kb_core.text import keyword_counts

VERSION = "1"

# One rule for all, chosen on six development sets (three of Wikipedia, one of them Chinese, and
# one vault as notes and as chunks). Figures are means over them.
# K1 from 0.9 to 2.0 with B from 0.6 to 0.9 moved recall@5 by 0.015 and in no clear direction, so
# the usual values stay.
K1 = 1.5
B = 0.75
# A rare word says more than its idf: mean reciprocal rank 0.851 at 1.0, 0.863 at 1.3, 0.865 at 1.5
# where one set fell in recall@5. It needs no list of words, so it helps in every language.
IDF_POWER = 1.3
# The first line of a search text is its breadcrumb. Counting it three times instead of once:
# recall@5 0.743 to 0.761, mean reciprocal rank 0.846 to 0.863, no set down by more than 0.003.
BREADCRUMB_WEIGHT = 3

_HEAD_BYTES = 8
_MOST_REPEATS = 2**16 - 1  # beyond it one more repeat cannot move a score
ARRAYS = ("terms", "term_starts", "term_heads", "posting_starts", "docs", "freqs", "lengths")


def build_postings(texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Index texts. Equal texts give equal bytes. Returns one array per name in ARRAYS.

    `terms` is every term's UTF-8, sorted, end to end; `term_heads` its first eight bytes as a
    number, which sort the same way. Term i's postings are `posting_starts[i]` to `[i + 1]` of
    `docs` and `freqs`; `lengths` counts each doc's keywords.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    terms, freqs, distinct, lengths = [], [], [], []
    for text in texts:
        repeats = _repeats(text)
        terms.append(np.fromiter(map(numbers.__getitem__, repeats), np.int64, len(repeats)))
        freqs.append(np.fromiter(repeats.values(), np.int64, len(repeats)))
        distinct.append(len(repeats))
        lengths.append(repeats.total())
    words = [word.encode() for word in numbers]
    order = _order(words)
    rank = np.empty(len(words), np.int64)
    rank[order] = np.arange(len(words))
    docs = np.repeat(np.arange(len(lengths), dtype=np.int64), distinct)
    return _term_arrays([words[at] for at in order.tolist()]) | _posting_arrays(
        rank[_joined(terms)], docs, _joined(freqs), len(words), lengths
    )


def _repeats(text: str) -> Counter[str]:
    repeats = keyword_counts(text)
    breadcrumb, line_end, _ = text.partition("\n")
    if line_end:
        for token, number in keyword_counts(breadcrumb).items():
            repeats[token] += number * (BREADCRUMB_WEIGHT - 1)
    return repeats


def _order(words: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the places of distinct words in the order of their bytes.

    By their heads, and by the rest only where heads are the same: three times as fast as comparing
    words, which counts where a note holds nothing but words nobody else has.
    """
    heads = _heads(words)
    order = np.argsort(heads, kind="stable").astype(np.int64)
    ordered = heads[order]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    for start in np.flatnonzero(np.diff(edges) > 1).tolist():
        same = slice(int(edges[start]), int(edges[start + 1]))
        order[same] = sorted(order[same].tolist(), key=words.__getitem__)
    return order


def _term_arrays(words: list[bytes]) -> dict[str, np.ndarray]:
    return {
        "terms": np.frombuffer(b"".join(words), np.uint8),
        "term_starts": _starts([len(word) for word in words]),
        "term_heads": _heads(words),
    }


def _posting_arrays(
    terms: np.ndarray, docs: np.ndarray, freqs: np.ndarray, size: int, lengths: list[int]
) -> dict[str, np.ndarray]:
    # One number per posting sorts faster than two keys; a folder has fewer than 2**32 docs.
    order = np.argsort(terms << 32 | docs)
    return {
        "posting_starts": _starts(np.bincount(terms, minlength=size)),
        "docs": docs[order].astype(np.int32),
        "freqs": np.minimum(freqs[order], _MOST_REPEATS).astype(np.uint16),
        "lengths": np.array(lengths, np.int32),
    }


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)


def _starts(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _heads(words: Sequence[bytes]) -> NDArray[np.uint64]:
    # numpy cuts what is longer and fills up with zeros, which no keyword holds.
    heads = np.array(words, f"S{_HEAD_BYTES}")
    return heads.view(">u8").astype(np.uint64)


class Postings:
    """One folder's postings, read where they lie: nothing is copied or indexed at load."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        # A memory map makes every slice pay for its subclass, so it is shed once.
        plain = {name: arrays[name].view(np.ndarray) for name in ARRAYS}
        self._terms, self._term_starts = plain["terms"], plain["term_starts"]
        self._heads, self._starts = plain["term_heads"], plain["posting_starts"]
        self.docs, self.freqs, self.lengths = plain["docs"], plain["freqs"], plain["lengths"]

    def spans(self, words: Sequence[bytes], heads: NDArray[np.uint64]) -> list[tuple[int, int]]:
        """Return where each word's postings lie; an absent word's span is empty."""
        lows = np.searchsorted(self._heads, heads, "left").tolist()
        highs = np.searchsorted(self._heads, heads, "right").tolist()
        return [self._span(*where) for where in zip(words, lows, highs, strict=True)]

    def _span(self, word: bytes, low: int, high: int) -> tuple[int, int]:
        at = low
        if high - low > 1:
            at = bisect_left(range(high), word, low, high, key=self._term)
        if at == high or self._term(at) != word:
            return 0, 0
        return int(self._starts[at]), int(self._starts[at + 1])

    def _term(self, at: int) -> bytes:
        return self._terms[self._term_starts[at] : self._term_starts[at + 1]].tobytes()


class KeywordScope:
    """The docs somebody may see, each with the number of chunks in scope that carry its text."""

    def __init__(self, postings: Sequence[Postings], counts: Sequence[np.ndarray]) -> None:
        self._postings = postings
        sizes = [len(each.lengths) for each in postings]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.lengths = _joined([each.lengths.astype(np.int64) for each in postings])
        every = _joined([np.asarray(each, np.int64) for each in counts])
        self._size = int(every.sum())
        # 1 where nothing has a keyword: no term can match then, so nothing is divided in earnest.
        self._mean_length = float(every @ self.lengths) / max(self._size, 1) or 1.0
        # Without repeats and exclusions the sums are the spans' sizes, which cost nothing.
        self._counts = None if (every == 1).all() else every

    def scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return BM25 of every doc of the scope's folders, one after the other; 0 is no match.

        `terms` are distinct. Robertson and Zaragoza (2009) with Lucene's idf,
        log(1 + (N - df + 0.5) / (df + 0.5)), to the power of IDF_POWER. Per doc, terms are added
        in the order given: the same sum, bit for bit, in any scope with the same statistics.
        """
        spans = self._spans(terms)
        sizes = _sizes(spans)
        if not sizes.any():
            return np.zeros(self._offsets[-1])
        docs, freqs = self._matches(spans, sizes)
        weights = _weights(self._frequencies(docs, sizes), self._size)
        norms = K1 * (1 - B) + (K1 * B / self._mean_length) * self.lengths
        added = freqs / (freqs + norms[docs])
        added *= np.repeat(np.tile(weights, len(spans)), sizes.ravel())
        scores = np.bincount(docs, added, int(self._offsets[-1])).astype(np.float64, copy=False)
        if self._counts is not None:
            scores[self._counts == 0] = 0.0
        return scores

    def weights(self, terms: Sequence[str]) -> dict[str, float]:
        """Return how much each term says in this scope; terms nobody in it uses are left out."""
        spans = self._spans(terms)
        sizes = _sizes(spans)
        if not sizes.any():
            return {}
        docs, _ = self._matches(spans, sizes)
        frequencies = self._frequencies(docs, sizes)
        weights = zip(terms, _weights(frequencies, self._size).tolist(), frequencies, strict=True)
        return {term: weight for term, weight, frequency in weights if frequency}

    def holds(self, terms: Sequence[str], docs: Sequence[int]) -> NDArray[np.bool_]:
        """Tell which terms (rows) stand in which of a few docs (columns)."""
        spans = self._spans(terms)
        found = np.zeros((len(terms), len(docs)), np.bool_)
        for column, doc in enumerate(docs):
            folder = int(np.searchsorted(self._offsets, doc, "right")) - 1
            wanted, every = doc - int(self._offsets[folder]), self._postings[folder].docs
            for row, (start, end) in enumerate(spans[folder]):
                at = bisect_left(every, wanted, start, end)
                found[row, column] = at < end and every[at] == wanted
        return found

    def _spans(self, terms: Sequence[str]) -> list[list[tuple[int, int]]]:
        words = [term.encode("utf-8", "surrogatepass") for term in terms]
        heads = _heads(words)
        return [each.spans(words, heads) for each in self._postings]

    def _matches(
        self, spans: list[list[tuple[int, int]]], sizes: np.ndarray
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Lay the postings of every folder and term end to end, docs numbered over the scope."""
        found = list(zip(self._postings, spans, strict=True))
        docs = [each.docs[start:end] for each, row in found for start, end in row]
        freqs = [each.freqs[start:end] for each, row in found for start, end in row]
        numbered = np.concatenate(docs, dtype=np.int64)
        numbered += np.repeat(self._offsets[:-1], sizes.sum(axis=1))
        return numbered, np.concatenate(freqs, dtype=np.float64)

    def _frequencies(self, docs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Count, per term, the chunks in scope that hold it."""
        if self._counts is None:
            return sizes.sum(axis=0)
        sums = np.concatenate([[0], np.cumsum(self._counts[docs])])
        ends = np.cumsum(sizes.ravel())
        return (sums[ends] - sums[ends - sizes.ravel()]).reshape(sizes.shape).sum(axis=0)


def _sizes(spans: list[list[tuple[int, int]]]) -> NDArray[np.int64]:
    return np.array([[end - start for start, end in row] for row in spans], np.int64)


def _weights(frequencies: np.ndarray, size: int) -> NDArray[np.float64]:
    # Python's log and power: numpy's last bit may depend on the length of the array.
    idfs = (math.log(1 + (size - df + 0.5) / (df + 0.5)) for df in frequencies.tolist())
    return np.array([idf**IDF_POWER for idf in idfs])
