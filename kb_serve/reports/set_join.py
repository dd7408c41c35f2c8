"""Find the sets that have most of their members in common. Exact, no randomness. Pure.

Two sets that share at least `t` of all their members share one of the rarest `(1 - t)` of each
(prefix filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007), and of either
at least `t` occur elsewhere. So nearly every note of a vault drops out before any pair is
compared. Where a rare member is in very many sets (notes made from one template), each of them is
compared with the next by size alone: the work stays linear, and they are one group all the same.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kb_serve.reports.shingles import share

_NEIGHBOURS = 32  # of a set in a crowd around one member
_SLACK = 1e-9  # of a product that should be a whole number
_ROUNDS = 4  # of leaving out what cannot be similar; each round makes the next one's work smaller


class Group(NamedTuple):
    """Sets by their places: each is similar to another of the group."""

    members: tuple[int, ...]
    similarity: float  # of the least similar pair that holds the group together


def similar_groups(sets: Sequence[np.ndarray], threshold: float) -> list[Group]:
    """Group sets whose shared part is at least `threshold` (above 0) of both together.

    Each set is a sorted array without repeats; an empty one is similar to none. Groups are in
    order of their first member.
    """
    places = _equal_sets(sets)
    first = [same[0] for same in places]
    joined = _Joined(len(first))
    for one, other in _candidates([sets[at] for at in first], threshold):
        if joined.root(one) != joined.root(other):
            similarity = share(sets[first[one]], sets[first[other]])
            if similarity >= threshold:
                joined.join(one, other, similarity)
    groups = (
        Group(tuple(sorted(at for each in parts for at in places[each])), similarity)
        for parts, similarity in joined.groups()
    )
    return sorted(group for group in groups if len(group.members) > 1)


def _equal_sets(sets: Sequence[np.ndarray]) -> list[list[int]]:
    places: dict[bytes, list[int]] = defaultdict(list)
    for at, members in enumerate(sets):
        if members.size:
            places[members.tobytes()].append(at)
    return list(places.values())


class _Joined:
    """Which places hang together (union-find), and how weakly."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))
        self._weakest = [1.0] * count

    def root(self, at: int) -> int:
        while self._above[at] != at:
            self._above[at] = self._above[self._above[at]]
            at = self._above[at]
        return at

    def join(self, one: int, other: int, similarity: float) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self._above[high] = low
        self._weakest[low] = min(self._weakest[low], self._weakest[high], similarity)

    def groups(self) -> Iterator[tuple[list[int], float]]:
        members: dict[int, list[int]] = defaultdict(list)
        for at in range(len(self._above)):
            members[self.root(at)].append(at)
        for root, places in members.items():
            yield places, self._weakest[root]


def _candidates(sets: Sequence[np.ndarray], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs that may be similar, each once, in order."""
    kept = list(range(len(sets)))
    for _ in range(_ROUNDS):
        shared = _shared_members([sets[at] for at in kept])
        kept = [
            at
            for at, number in zip(kept, shared, strict=True)
            if number >= threshold * len(sets[at]) - _SLACK
        ]
    if not kept:
        return
    for one, other in _pairs([sets[at] for at in kept], threshold):
        yield kept[one], kept[other]


def _shared_members(sets: Sequence[np.ndarray]) -> list[int]:
    """Count the members of each set that another set has too."""
    if not sets:
        return []
    members = np.concatenate(sets)
    order = np.argsort(members)
    ordered = members[order]
    same = ordered[1:] == ordered[:-1]
    is_shared = np.zeros(len(members), bool)
    is_shared[order[1:][same]] = True
    is_shared[order[:-1][same]] = True
    starts = np.cumsum([0, *(len(each) for each in sets[:-1])])
    counts: list[int] = np.add.reduceat(is_shared.astype(np.int64), starts).tolist()
    return counts


def _pairs(sets: Sequence[np.ndarray], threshold: float) -> Iterator[tuple[int, int]]:
    sizes = np.array([len(each) for each in sets])
    members, owners = _prefixes(sets, sizes, threshold)
    order = np.lexsort((owners, sizes[owners], members))
    members, owners = members[order], owners[order]
    codes = []
    for step in range(1, min(_NEIGHBOURS, len(members) - 1) + 1):
        same = members[step:] == members[:-step]
        small, large = owners[:-step][same], owners[step:][same]
        is_possible = sizes[small] >= threshold * sizes[large] - _SLACK
        low, high = np.minimum(small, large), np.maximum(small, large)
        codes.append((low * len(sets) + high)[is_possible])
    found = np.unique(np.concatenate(codes)) if codes else np.empty(0, np.int64)
    yield from zip((found // len(sets)).tolist(), (found % len(sets)).tolist(), strict=True)


def _prefixes(
    sets: Sequence[np.ndarray], sizes: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rarest members of each set, as many as decide, and whose they are."""
    members, owners = np.concatenate(sets), np.repeat(np.arange(len(sets)), sizes)
    _, numbers, counts = np.unique(members, return_inverse=True, return_counts=True)
    order = np.lexsort((numbers, counts[numbers], owners))
    lengths = [int(size) - math.ceil(threshold * size - _SLACK) + 1 for size in sizes]
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(members)) - np.repeat(starts, sizes)
    is_first = place < np.repeat(lengths, sizes)
    return numbers[order][is_first], owners[is_first]
