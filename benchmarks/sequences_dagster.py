"""A build by `kb build`'s own Builder: every step a real Dagster run in this process."""

import contextlib
import datetime as dt
from collections.abc import Sequence

from kb_assets.workbench import Workbench
from kb_core.folder_names import shown_path
from kb_serve.builder import Builder
from kb_serve.output import visible
from resources.home import Home

_GUARD = "kb approve-deletions"


def build_by_dagster(home: Home, now: dt.datetime, partitions: Sequence[str]) -> list[str]:
    """Build these folders in this order; return those whose losses have to be approved first.

    Raises RuntimeError for any other error.
    """
    paths = home.folders()
    bench = Workbench(home, started=now)
    wanted = [paths[partition] or "/" for partition in partitions]
    with contextlib.chdir("."):  # a build works from its home, which may not be there for long
        summary = Builder(bench, _say_nothing, folders=wanted).run()
    other = [error for error in summary.errors if _GUARD not in error["message"]]
    if other:
        raise RuntimeError(f"the build failed: {other}")
    asked = {error["folder"] for error in summary.errors}
    return [each for each in partitions if visible(shown_path(paths[each])) in asked]


def _say_nothing(_text: str) -> None:
    """Keep quiet."""
