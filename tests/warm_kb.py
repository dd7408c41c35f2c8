"""A process that has loaded what `kb` needs, and becomes each command asked for by forking.

Each command runs in a process of its own, as `python -m kb_serve.cli` would run it: its own
arguments, environment, folder and output, its own exit status, and everything at its end that the
interpreter does. Only the imports are done already; nothing of a command stays for the next one.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

# What a build loads on its way: 2 to 4 s of every `kb build` that starts cold.
_PRELOADED = (
    "kb_serve.builder",
    "kb_serve.definitions",
    "dagster._core.storage.sqlite_storage",
    "pandas",
)


@cache
def warm_process(root: Path) -> "WarmProcess":
    """Return this process's own helper, started when it is first asked for."""
    return WarmProcess(root)


class WarmProcess:
    """What a test asks to run a command."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_kb"],
            env={**os.environ, "PYTHONPATH": str(root)},
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._process.communicate)

    def run(
        self, arguments: Sequence[str], env: dict[str, str], cwd: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory(prefix="kb-said-") as folder:
            said = [Path(folder, name) for name in ("out", "err")]
            asked = {
                "arguments": arguments,
                "env": env,
                "cwd": str(cwd),
                "said": [str(path) for path in said],
            }
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            status = self._process.stdout.readline()
            assert status, "the warm process ended: run `python -m tests.warm_kb` to see why"
            out, err = (path.read_text() for path in said)
        return subprocess.CompletedProcess(arguments, int(status), out, err)


def main() -> None:
    """Load, then fork for every line on stdin; the child goes on here as the command."""
    _load()
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    while line := asked.readline():
        child = os.fork()
        if child == 0:
            asked.close()
            answers.close()
            _become(json.loads(line))
            return
        _, ended = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(ended)}\n")
        answers.flush()


def _load() -> None:
    from kb_serve.cli import EVERYDAY, UPKEEP

    commands = (f"kb_serve.commands.{name.replace('-', '_')}" for name in (*EVERYDAY, *UPKEEP))
    for name in (*commands, *_PRELOADED):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what is loaded is not looked through again in every child


def _become(asked: dict[str, Any]) -> None:
    for number, path in enumerate(("/dev/null", *asked["said"])):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv = ["kb", *asked["arguments"]]
    # It was loaded before, on purpose: runpy need not warn of that.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    runpy.run_module("kb_serve.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
