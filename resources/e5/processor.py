"""Name the instructions that decide how a product is rounded. Reads the system, writes nothing.

Sums of integers are exact everywhere, but onnxruntime has other code for exponentials and means
on other processors, so a vector's last bits depend on them.
"""

import platform
from functools import cache
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")
# What onnxruntime chooses its code by, the strongest first; by the names Linux gives them.
_LEVELS = ("amx_int8", "avx512_vnni", "avx_vnni", "avx512f", "avx2", "avx", "i8mm", "asimddp")


@cache
def instruction_set() -> str:
    """Return a short name, as `x86-64-avx512-vnni`; of other systems, `arm64-darwin`."""
    machine = platform.machine().lower().replace("_", "-")
    flags = _flags()
    if not flags:
        return f"{machine}-{platform.system().lower()}"
    best = next((level for level in _LEVELS if level in flags), "base")
    return f"{machine}-{best.replace('_', '-')}"


def _flags() -> set[str]:
    """Return the first processor's flags, or none where the system does not list them."""
    try:
        lines = _CPU_INFO.read_text("utf-8").splitlines()
    except OSError:
        return set()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return set(value.split())
    return set()
