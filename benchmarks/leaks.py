"""Does anything forbidden, future or foreign show in an answer? Random vaults against an oracle.

`python -m benchmarks.leaks --graphs 200000 --pairs 5000 --histories 1000` makes small vaults with
tenants, readers, histories, names that shadow each other and typed links, and asks for connected
records as somebody, as of some day. The real code answers from in-memory builds, one in 2,000 from
a real one; an oracle that shares no code with it says what has to come out.

leaks: ids, counts, links or words in an answer that may not be there. misses: what is lacking.
interference: pairs of vaults that differ in other tenants' notes alone and give a tenant another
answer. history_differences: answers as of a day that differ from those of a history cut off then.
unlike_alone: answers that are not, byte for byte, the owner's over a vault of nothing but what the
asker sees.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from benchmarks.leaks_cases import AIMS, QUESTIONS_OF_MADE, QUESTIONS_OF_REAL, run_cases
from benchmarks.report import progress, report

_BATCH = 100
_TOLD = 50  # batches after which a long run says how far it is


def main() -> int:
    """Run all cases; status 1 if any of them shows what it may not."""
    options = _options()
    reals = options.graphs // options.real_share
    plan = {
        "graph": (options.graphs - reals) // QUESTIONS_OF_MADE,
        "real_graph": reals // QUESTIONS_OF_REAL,
        "pair": options.pairs,
        "history": options.histories - options.histories // options.real_history_share,
        "real_history": options.histories // options.real_history_share,
    }
    totals: Counter[str] = Counter(dict.fromkeys(AIMS, 0))
    with ProcessPoolExecutor(options.processes) as pool:
        for kind, number in plan.items():
            numbers: Sequence[int] = range(number) if options.only is None else [options.only]
            batches = _batches(numbers, 5 if kind.startswith("real") else _BATCH)
            for done, counts in enumerate(
                pool.map(partial(run_cases, options.seed, kind), batches)
            ):
                totals += counts
                if done % _TOLD == _TOLD - 1:
                    progress(f"{kind}: batch {done + 1}; {dict(totals)}")
            progress(f"{kind}: {number} done; {dict(totals)}")
    aims = dict.fromkeys(AIMS, "<= 0")
    figures = {name: totals[name] for name in (*AIMS, *sorted(set(totals) - set(AIMS)))}
    return 0 if report("leaks", figures, aims, seed=options.seed) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--real-share", type=int, default=2_000, help="one graph in so many")
    parser.add_argument("--real-history-share", type=int, default=20)
    parser.add_argument("--only", type=int, help="the case of this number, of each kind")
    return parser.parse_args()


def _batches(numbers: Sequence[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(numbers), size):
        yield list(numbers[start : start + size])


if __name__ == "__main__":
    sys.exit(main())
