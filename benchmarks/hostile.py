"""See whether a hostile vault breaks, delays or opens anything.

`python -m benchmarks.hostile --notes 10000` mixes notes from sets of hostile names, YAML, Markdown,
paths and bytes (`--sets DIR`; a set that is missing is left out) and puts links to everywhere
beside them. Every note is read, linked and cut by itself, with its CPU time; indexing its words, 2
to 4 microseconds for each that the index has not met yet, is timed beside it. Then `kb build` reads
the vault as a whole, and every naughty text is asked as a question. Canaries outside the vault must
be nowhere in the home. At last links are swapped in under a reader for a minute.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.hostile_notes import Mixer
from benchmarks.hostile_race import race
from benchmarks.hostile_search import ask_all, on_a_terminal, steering, terminal_commands
from benchmarks.hostile_sets import SETS, Sets, load_sets
from benchmarks.hostile_stages import StageRun
from benchmarks.hostile_vault import HostileVault, is_marked, places_of_canaries, write_vault
from benchmarks.report import percentile, progress, report
from kb_core.settings import VaultSettings
from resources.token_counter import open_token_counter
from resources.vault import LocalVault

ROOT = Path(__file__).resolve().parent.parent
_NONE_OF = (
    "crashes", "over_1s", "escapes", "unlisted_degraded", "race_escapes", "question_crashes",
    "raw_controls", "build_status", "check_status", "coverage_gap",
)  # fmt: skip


def main() -> int:
    """Run all of it; status 1 if anything broke, was slow, or got out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", type=Path, default=SETS)
    parser.add_argument("--race-seconds", type=float, default=60)
    arguments = parser.parse_args()
    sets = load_sets(arguments.sets)
    with tempfile.TemporaryDirectory() as scratch:
        notes = Mixer(sets, arguments.seed).notes(arguments.notes)
        vault = write_vault(Path(scratch), notes)
        figures = {"notes": arguments.notes, "names_refused": vault.refused}
        figures |= _stages(vault)
        figures |= _build(vault, Path(scratch) / "home", sets)
        figures["escapes"] += figures.pop("home_escapes")
        figures |= _race(vault, Path(scratch), arguments.race_seconds)
    aims = {**dict.fromkeys(_NONE_OF, "<= 0"), "race_naive_escapes": ">= 1"}
    readable = int(vault.unreadable_is_readable)
    return 0 if report("hostile", figures, aims, unreadable_is_readable=readable) else 1


def _stages(vault: HostileVault) -> dict[str, float]:
    """Read, cut, link and index each note by itself."""
    local = LocalVault(vault.root, VaultSettings())
    entries = local.list()
    seen = StageRun(local, open_token_counter("auto")).over_all(entries)
    return {
        "listed": len(entries),
        "specials": vault.specials,
        "read": seen.read,
        "crashes": seen.crashes,
        "over_1s": seen.over_1s,
        "slowest_ms": round(1000 * seen.slowest_seconds),
        "p99_ms": round(percentile(seen.milliseconds, 0.99), 1),
        "slowest_index_ms": round(1000 * seen.slowest_index_seconds),
        "degraded": seen.degraded,
        "unlisted_degraded": seen.unlisted_degraded,
        "escapes": sum(is_marked(entry.raw_path) for entry in entries) + seen.escapes,
    }


def _build(vault: HostileVault, home: Path, sets: Sets) -> dict[str, float]:
    """Build the vault as a user would, look for canaries, and ask."""
    _kb("init", str(vault.root), "--home", str(home))
    built, summary = _kb("build", "--time-box", "0", "--json", "--home", str(home))
    progress(f"built: {json.dumps(summary)[:600]}")
    checked, check = _kb("check", "--json", "--home", str(home))
    escaped = places_of_canaries(home)
    progress(f"canaries in: {escaped}")
    asked = ask_all(home, (*sets.strings, *sets.paths, *sets.look_alikes, *sets.orders))
    crashes, raw = _on_terminals(home, sets)
    return {
        "build_status": built,
        "build_seconds": round(summary.get("seconds", 0.0), 1),
        "check_status": checked,
        "coverage_gap": _gap(check),
        "home_escapes": len(escaped),
        "questions": asked["questions"],
        "question_crashes": asked["crashes"] + crashes,
        "slowest_question_ms": asked["slowest_ms"],
        "raw_controls": asked["raw_controls"] + raw,
    }


def _on_terminals(home: Path, sets: Sets) -> tuple[int, int]:
    crashes = raw = 0
    for command in terminal_commands(home, sets.strings):
        status, screen = on_a_terminal(command)
        has_crashed = status not in (0, 1) or "Traceback" in screen
        found = steering(screen)
        if has_crashed or found:
            progress(f"{command[3:]!a} ended with {status}, raw: {found[:5]!a}\n{screen[-400:]!a}")
        crashes, raw = crashes + has_crashed, raw + len(found)
    return crashes, raw


def _gap(check: dict) -> int:
    """Return how many files the check cannot account for."""
    rows = check.get("folders", [])
    return sum(
        abs(row["files"] - row["indexed"] - row["skipped"] - row["failed"]) for row in rows
    ) + int(not rows)


def _race(vault: HostileVault, scratch: Path, seconds: float) -> dict[str, float]:
    if not seconds:
        return {"race_reads": 0, "race_escapes": 0, "race_naive_escapes": 0}
    counts = race(scratch / "raced", vault.outside, seconds)
    names = ("reads", "refused", "listings", "escapes", "naive_escapes")
    return {f"race_{name}": counts[name] for name in names}


def _kb(*arguments: str) -> tuple[int, dict]:
    done = subprocess.run(
        [sys.executable, "-m", "kb_serve.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "KB_EMBEDDER__ENGINE": "none"},
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = done.stdout.splitlines()
    return done.returncode, json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}


if __name__ == "__main__":
    sys.exit(main())
