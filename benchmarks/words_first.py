"""How soon a search answers on a vault of 13,284 notes and 14 million words.

`python -m benchmarks.words_first` makes the vault, builds its words in a process of its own, and
asks as soon as something is published. The home counts tokens by rule; no vector is made.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_vault import make_vault
from benchmarks.report import progress, report

_POLL_SECONDS = 0.05


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=13_284)
    parser.add_argument("--words", type=int, default=14_000_000)
    parser.add_argument("--folders", type=int, default=13)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        vault, home = Path(scratch, "vault"), Path(scratch, "home")
        progress(f"making {arguments.notes:,} notes of {arguments.words:,} words")
        make_vault(vault, arguments.notes, arguments.words, arguments.folders)
        figures = _measure(vault, home)
    figures["notes"] = arguments.notes
    figures["words"] = arguments.words
    return 0 if report("words_first", figures, {"first_hit_s": "<= 60"}) else 1


def _measure(vault: Path, home: Path) -> dict[str, float]:
    read_seconds, size = _read_everything(vault)
    _kb("init", str(vault), "--home", str(home))
    settings = home / "kb.toml"
    rule = 'token_counter = "regex"'
    settings.write_text(settings.read_text().replace('token_counter = "auto"', rule))
    (home / "data" / "home.json").unlink()  # decided anew with the counter above
    progress("building")
    start = time.monotonic()
    build = subprocess.Popen(
        _command("build", "--time-box", "0", "--json", "--home", str(home)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    first_hit = _first_hit(build, home, start)
    progress(f"first hit after {first_hit:.1f} s")
    output = build.communicate()[0]
    values = json.loads(output.splitlines()[-1])
    usage = _peak_memory_mb()
    return {
        "first_hit_s": round(first_hit, 2),
        "all_words_s": round(time.monotonic() - start, 2),
        "build_peak_mb": usage,
        "read_every_byte_s": round(read_seconds, 3),
        "vault_mb": round(size / 1e6, 1),
        "chunks": values["chunks"],
        "errors": len(values["errors"]),
    }


def _first_hit(build: subprocess.Popen, home: Path, start: float) -> float:
    while build.poll() is None or (home / "data" / "CURRENT").exists():
        if not (home / "data" / "CURRENT").exists():
            time.sleep(_POLL_SECONDS)
            continue
        found = _kb("search", "ba be bi bo bu", "--json", "--home", str(home))
        if json.loads(found)["results"]:
            return time.monotonic() - start
    return float("inf")


def _read_everything(vault: Path) -> tuple[float, int]:
    """Return the seconds a plain read of every byte takes, and the bytes."""
    start, size = time.monotonic(), 0
    for path in vault.rglob("*.md"):
        size += len(path.read_bytes())
    return time.monotonic() - start, size


def _peak_memory_mb() -> float:
    import resource  # not on Windows

    return round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 1)


def _kb(*arguments: str) -> str:
    return subprocess.run(_command(*arguments), check=True, capture_output=True, text=True).stdout


def _command(*arguments: str) -> list[str]:
    os.environ["KB_EMBEDDER__ENGINE"] = os.environ.get("KB_EMBEDDER__ENGINE", "none")
    return [sys.executable, "-m", "kb_serve.cli", *arguments]


if __name__ == "__main__":
    sys.exit(main())
