"""Answering must start fast, so nothing it loads may pull in the build's heavy packages."""

import subprocess
import sys

import pytest

from tests.kb_command import ROOT
from tests.ready_home import ready_home

HEAVY = {"dagster", "pandas", "great_expectations", "duckdb"}


@pytest.mark.parametrize(
    "module", ["kb_core.contracts", "kb_core.settings", "kb_search.engine", "resources.home"]
)
def test_it_loads_no_heavy_package(module):
    script = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=ROOT).split()

    assert not HEAVY & set(loaded)


def test_a_whole_search_loads_no_heavy_package(tmp_path):
    home = ready_home(tmp_path).home
    script = (
        "import sys; from kb_serve.cli import cli\n"
        f"cli(['search', 'ferry', '--home', {str(home)!r}], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=ROOT)

    assert not HEAVY & set(loaded.splitlines()[-1].split())
