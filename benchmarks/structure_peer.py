"""The same vault's sample read by obsidiantools, in a Python of its own.

It is no dependency of the project: `HOW` says how to get it. Where it is missing, so is the figure.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent.parent
VARIABLE = "KB_OBSIDIANTOOLS_PYTHON"
DEFAULT = HERE / "data" / "cache" / "benchmarks" / "obsidiantools" / "bin" / "python"
HOW = (
    f"python -m venv {DEFAULT.parent.parent.relative_to(HERE)} && "
    f"{DEFAULT.relative_to(HERE)} -m pip install obsidiantools, "
    f"or name another Python that has it in {VARIABLE}"
)
SAMPLE = 300  # notes
_PROGRAM = """
import json, sys, time
from pathlib import Path
import obsidiantools, obsidiantools.api as tools
start = time.process_time()
vault = tools.Vault(Path(sys.argv[1])).connect()
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "notes": len(vault.md_file_index)}))
"""


class Peer(NamedTuple):
    """What obsidiantools took for a sample: CPU seconds, notes and words."""

    seconds: float
    notes: int
    words: int


def measure_peer(vault: Path, notes: int = SAMPLE) -> Peer | None:
    """Let obsidiantools connect every nth note of a vault; None where it is not installed."""
    python = Path(os.environ.get(VARIABLE, DEFAULT))
    if not python.exists():
        return None
    paths = sorted(vault.rglob("*.md"))
    chosen = paths[:: max(1, len(paths) // notes)][:notes]
    with tempfile.TemporaryDirectory() as scratch:
        for path in chosen:
            copy = Path(scratch) / path.relative_to(vault)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        command = [str(python), "-c", _PROGRAM, scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = json.loads(done.stdout.splitlines()[-1])
    words = sum(len(path.read_text("utf-8").split()) for path in chosen)
    return Peer(values["seconds"], values["notes"], words)
