"""What every benchmark ends with: one JSON line that says what was measured and if it is enough.

Absolute times depend on the machine, so aims stand on ratios against something that ran beside
them. Progress belongs on stderr; stdout holds the one line.
"""

import json
import operator
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_PACKAGES = ("numpy", "pyarrow", "dagster")


def report(
    name: str,
    figures: Mapping[str, float | int | None],
    aims: Mapping[str, str],
    **extra: object,
) -> bool:
    """Print the last line of a benchmark and return whether every aim is met.

    `figures` are flat, each key ends in its unit. `aims` name figures: `"<= 1.5"`. An aim whose
    figure is missing or null is not met. `extra` keys stand beside them in the line.
    """
    met = all(_is_met(figures.get(figure), aim) for figure, aim in aims.items())
    line = {"name": name, "figures": dict(figures), "aims": dict(aims), "met": met}
    print(json.dumps(line | extra | {"machine": machine()}, ensure_ascii=False), flush=True)
    return met


def machine() -> dict[str, object]:
    """Describe where the figures come from, without naming the machine."""
    described: dict[str, object] = {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return described | {package: _version(package) for package in _PACKAGES}


def progress(text: str) -> None:
    """Say on stderr how far a benchmark has come."""
    print(text, file=sys.stderr, flush=True)


def cpu_ms(action: Callable[[], object]) -> float:
    """Return the CPU time one call takes, all threads together, in milliseconds."""
    start = time.process_time()
    action()
    return 1000 * (time.process_time() - start)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie: the nearest measured one.

    >>> percentile([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _is_met(figure: float | None, aim: str) -> bool:
    sign, _, bound = aim.partition(" ")
    if sign not in _COMPARE:
        raise ValueError(f"aim {aim!r} must start with one of {sorted(_COMPARE)} and a space")
    return figure is not None and _COMPARE[sign](figure, float(bound))


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
