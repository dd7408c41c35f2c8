"""Run the real `kb` command in its own process, as a user or a schedule would."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.warm_kb import warm_process

ROOT = Path(__file__).parent.parent


def run_kb(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None, cold: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run `kb` with the settings' environment cleared, but for `env`.

    Its process is forked from one that has done the imports, unless it shall start `cold`: as the
    interpreter's own first process, whose sets of strings have an order of their own.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    kept.pop("DAGSTER_HOME", None)
    whole = {**kept, "PYTHONPATH": str(ROOT), "KB_EMBEDDER__ENGINE": "none", **(env or {})}
    if not cold and sys.platform == "linux":  # elsewhere a fork of a loaded process is not safe
        return warm_process(ROOT).run(arguments, whole, cwd or ROOT)
    return subprocess.run(
        [sys.executable, "-m", "kb_serve.cli", *arguments],
        env=whole,
        cwd=cwd or ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def kb_json(
    *arguments: str, env: dict[str, str] | None = None, status: int = 0, cold: bool = False
) -> dict[str, Any]:
    """Run `kb … --json` and return its object: the last line of stdout."""
    done = run_kb(*arguments, "--json", env=env, cold=cold)
    assert done.returncode == status, done.stderr + done.stdout
    values: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return values


def make_home(vault: Path, home: Path) -> Path:
    """Make a home for a vault, quickly: token counts by rule."""
    kb_json("init", str(vault), "--home", str(home))
    return home
