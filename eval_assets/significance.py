"""Is one variant better than another on the same questions? Exact and seeded. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Differences this small are rounding, not ranking.
_EQUAL = 1e-9


@dataclass(frozen=True)
class SignTest:
    """Per-question wins, losses and ties of the first variant, and the two-sided p."""

    wins: int
    losses: int
    ties: int
    p: float

    @property
    def is_worse(self) -> bool:
        """Tell whether the first variant loses more often than chance explains (5%)."""
        return self.losses > self.wins and self.p < 0.05


def sign_test(first: Sequence[float], second: Sequence[float]) -> SignTest:
    """Compare paired values by the exact two-sided sign test; ties are left out of p."""
    wins = sum(a > b + _EQUAL for a, b in zip(first, second, strict=True))
    losses = sum(b > a + _EQUAL for a, b in zip(first, second, strict=True))
    n = wins + losses
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return SignTest(wins, losses, len(first) - n, min(1.0, 2 * tail))


def bootstrap_interval(
    differences: Sequence[float], *, samples: int = 2_000, seed: int = 1, share: float = 0.95
) -> tuple[float, float]:
    """Return the percentile interval of the mean difference, drawn with a fixed seed."""
    values = np.asarray(differences, float)
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (samples, len(values)))].mean(axis=1)
    tail = (1 - share) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
