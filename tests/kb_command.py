"""Run the real `kb` command in its own process, as a user or a schedule would."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def run_kb(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `kb` with the settings' environment cleared, but for `env`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    kept.pop("DAGSTER_HOME", None)
    return subprocess.run(
        [sys.executable, "-m", "kb_serve.cli", *arguments],
        env={**kept, "PYTHONPATH": str(ROOT), "KB_EMBEDDER__ENGINE": "none", **(env or {})},
        cwd=cwd or ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def kb_json(*arguments: str, env: dict[str, str] | None = None, status: int = 0) -> dict[str, Any]:
    """Run `kb … --json` and return its object: the last line of stdout."""
    done = run_kb(*arguments, "--json", env=env)
    assert done.returncode == status, done.stderr + done.stdout
    values: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return values


def make_home(vault: Path, home: Path) -> Path:
    """Make a home for a vault, quickly: token counts by rule."""
    kb_json("init", str(vault), "--home", str(home))
    return home
