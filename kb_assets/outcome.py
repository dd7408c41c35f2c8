"""What every stage reports, and the rule that equal inputs are not worked on twice. No Dagster."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from kb_core.ids import combined
from resources.home import Home
from resources.tables import WHOLE, Pointer


@dataclass(frozen=True)
class Outcome:
    """What a stage made of one partition."""

    stage: str
    partition: str
    hash: str  # of everything it made: the data version
    rows: int
    is_cached: bool  # nothing had to be done
    counts: Mapping[str, float] = field(default_factory=dict)


def run_tables(
    home: Home,
    stage: str,
    partition: str,
    *,
    names: Sequence[str],
    inputs: Mapping[str, str],
    code_version: str,
    make: Callable[[], Mapping[str, pa.Table]],
) -> Outcome:
    """Make a stage's tables unless they were made from these inputs by this code already."""
    held = [home.store.holds(name, partition, inputs, code_version) for name in names]
    pointers = [pointer for pointer in held if pointer]
    if len(pointers) == len(names):
        return outcome(stage, partition, pointers, is_cached=True)
    with home.leases.hold(f"{stage}/{partition}"):
        tables = make()
        pointers = [
            home.store.write(
                name,
                tables[name],
                partition=partition,
                inputs=inputs,
                code_version=code_version,
            )
            for name in names
        ]
    return outcome(stage, partition, pointers, is_cached=False)


def are_held(
    home: Home, names: Sequence[str], partition: str, inputs: Mapping[str, str], code_version: str
) -> bool:
    """Tell whether tables were made from these inputs by this code already."""
    return all(home.store.holds(name, partition, inputs, code_version) for name in names)


def outcome(
    stage: str,
    partition: str,
    pointers: Sequence[Pointer],
    *,
    is_cached: bool,
    counts: Mapping[str, float] | None = None,
) -> Outcome:
    """Sum up what a stage wrote; its first table's rows are the stage's rows."""
    return Outcome(
        stage,
        partition,
        combined(pointer.hash for pointer in pointers),
        pointers[0].rows,
        is_cached,
        dict(counts or {}),
    )


def input_hashes(home: Home, names: Sequence[str], partition: str = WHOLE) -> dict[str, str]:
    """Return the present hashes of the tables a stage reads; an absent one is empty text."""
    found = {name: home.store.pointer(name, partition) for name in names}
    return {name: pointer.hash if pointer else "" for name, pointer in found.items()}
