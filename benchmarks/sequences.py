"""Compare homes that were edited step by step with full rebuilds: nothing may differ.

`python -m benchmarks.sequences --count 300` makes random sequences of edits, builds, cut-off
builds, earlier versions, approvals and clocks set back, the steps of `tests/test_incremental.py`.
Each ends with a comparison, some hold one in the middle. `--dagster 20` builds so many of them by
`kb build`'s own Builder. `--only N` runs one sequence and tells its steps.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.report import progress, report
from tests.incremental_edits import BESIDE, MOVING, WRITING, first_notes
from tests.incremental_home import EditedHome
from tests.incremental_vault import EditedVault, Pick
from tests.standins.ollama_server import OllamaStandIn

T = TypeVar("T")

_STEPS = (6, 18)  # the fewest and the most
_EDITS = (*WRITING, *MOVING, *BESIDE)
_WAITS = (3_600, -7_200, 3 * 86_400)  # seconds
_SHARES = {"edit": 60, "build": 14, "cut_off": 10, "run_again": 4, "tell_earlier": 4, "prune": 3}
_COMPARED_MIDWAY = 0.05
_WAITED = 0.15
_BAD = ("differences", "not_minimal", "embedded_twice", "wrongly_asked", "crashes")


def main() -> int:
    """Run the sequences; status 1 if one of them differs or did work without need."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dagster", type=int, default=0, help="so many are built by Dagster")
    parser.add_argument("--only", type=int, help="one sequence, by its number, step by step")
    parser.add_argument("--scratch", help="where homes are made; memory is faster than a disk")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    numbers = range(arguments.count) if arguments.only is None else [arguments.only]
    with OllamaStandIn() as server:
        for number in numbers:
            with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
                by_dagster = number < arguments.dagster
                sequence = _Sequence(Path(scratch), arguments.seed, number, server, by_dagster)
                totals.update(sequence.run())
                if arguments.only is not None or any(sequence.counts[bad] for bad in _BAD):
                    progress(f"sequence {number}: {sequence.told} {dict(sequence.counts)}")
            if number % 20 == 19:
                progress(f"{number + 1} of {arguments.count}: {dict(totals)}")
    aims = dict.fromkeys(_BAD, "<= 0")
    figures = {name: totals[name] for name in ("sequences", "steps", *_BAD, "by_dagster")}
    seen = {name: totals[name] for name in ("builds", "cut_off", "asked", "told", "compared")}
    return 0 if report("sequences", figures | seen, aims, seed=arguments.seed) else 1


class _Sequence:
    """One vault and home, and what is done to them."""

    def __init__(
        self, root: Path, seed: int, number: int, server: OllamaStandIn, by_dagster: bool
    ) -> None:
        self._root = root
        self._random = random.Random(f"{seed}/{number}")
        self._pick: Pick = _picker(self._random)
        self._vault = EditedVault(root / "vault")
        build = _dagster_build() if by_dagster else None
        self._home = EditedHome(root / "home", self._vault, server if number % 2 else None, build)
        self.counts: Counter[str] = Counter(sequences=1, by_dagster=int(by_dagster))
        self.told: list[str] = []

    def run(self) -> Counter[str]:
        """Do all steps and return what was seen."""
        first_notes(self._vault, self._pick)
        try:
            for _ in range(self._random.randint(*_STEPS)):
                self._step()
            self._compare()
        except Exception as problem:  # noqa: BLE001 - a crash is a figure, the next one goes on
            progress(f"{type(problem).__name__}: {problem}")
            self.counts["crashes"] += 1
        seen = self._home.counts
        self.counts.update({name: seen[name] for name in seen if name != "needless"})
        self.counts["not_minimal"] = len(self._home.needless)
        return self.counts

    def _step(self) -> None:
        (kind,) = self._random.choices(list(_SHARES), list(_SHARES.values()))
        self.counts["steps"] += 1
        if kind == "edit":
            edit = self._pick(_EDITS)
            self.told.append(edit.__name__)
            edit(self._vault, self._pick)
        else:
            self.told.append(kind)
            self._of_home(kind)()
        if self._random.random() < _WAITED:
            self._home.wait(self._pick(_WAITS))
        if self._random.random() < _COMPARED_MIDWAY:
            self._compare()

    def _of_home(self, kind: str) -> Callable[[], None]:
        home, pick = self._home, self._pick
        return {
            "build": lambda: home.build(pick),
            "cut_off": lambda: home.cut_off(pick),
            "run_again": lambda: home.run_again(pick),
            "tell_earlier": lambda: home.tell_earlier(pick),
            "prune": home.prune,
        }[kind]

    def _compare(self) -> None:
        self.told.append("compare")
        self._home.build(self._pick)
        found = self._home.differences(self._root / f"full{self.counts['compared']}")
        self.counts["compared"] += 1
        self.counts["differences"] += bool(found)
        for each in found[:10]:
            progress(f"  {each}")


def _picker(generator: random.Random) -> Pick:
    def pick(options: Sequence[T]) -> T:
        return options[generator.randrange(len(options))]

    return pick


def _dagster_build() -> Callable:
    from benchmarks.sequences_dagster import build_by_dagster  # Dagster: 2 to 4 s

    return build_by_dagster


if __name__ == "__main__":
    sys.exit(main())
