"""Homes of the small vault that `kb build` made: built once, and copied for each test.

A first build is seven Dagster runs. A test of what comes after it begins with a copy, in a folder
of its own, with a vault of its own.
"""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from resources.home import Home
from tests.kb_command import kb_json, make_home
from tests.small_vault import make_vault

_MADE: dict[str, "ReadyHome"] = {}


class ReadyHome(NamedTuple):
    """A home, its vault, and what its first build said."""

    home: Path
    vault: Path
    first: dict[str, Any]


def ready_home(folder: Path, env: dict[str, str] | None = None) -> ReadyHome:
    """Return a built home of the test's own in this folder; by `env` it has vectors or none."""
    engine = (env or {}).get("KB_EMBEDDER__ENGINE", "none")
    made = _MADE.get(engine)
    if made is None:
        made = _MADE[engine] = _build(env)
    home = shutil.copytree(made.home, folder / "home")
    vault = shutil.copytree(made.vault, folder / "vault")
    point_at(home, made.vault, vault)
    return ReadyHome(home, vault, made.first)


def point_at(home: Path, before: Path, vault: Path) -> None:
    """Make a copied home one that was built over the copied vault, and not over one that moved."""
    settings = home / "kb.toml"
    text = settings.read_text()
    assert str(before) in text
    settings.write_text(text.replace(str(before), str(vault)))
    Home.open(home).remember(vault=str(vault))


def _build(env: dict[str, str] | None) -> ReadyHome:
    folder = Path(tempfile.mkdtemp(prefix="ready-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    vault = make_vault(folder / "vault")
    home = make_home(vault, folder / "home")
    return ReadyHome(home, vault, kb_json("build", "--home", str(home), env=env))
