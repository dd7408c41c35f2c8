"""What the sensors are handed by Dagster's composition root: how to open the home, and the jobs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dagster import DagsterRun
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from kb_assets.workbench import Workbench
from resources.home import Home

NOT_BUILT = (
    "Nothing is built here yet. Begin with `kb build`, which says how long it takes, or with "
    "Materialize all; what changes after that is followed by itself."
)
TIME_BOX_TAG = "kb/time-box-minutes"  # how long a run may spend on vectors

Job = UnresolvedAssetJobDefinition


@dataclass(frozen=True)
class Wiring:
    """Doors to what lies above the sensors or beside them."""

    open_bench: Callable[[], Workbench]  # raises KbError
    words: Job
    vectors: Job
    lines: Job
    paid: Job
    vault: Job
    scores: Job
    values: Job
    run_tags: Callable[[], Mapping[str, str]]  # what marks a run as this process's
    is_orphan: Callable[[DagsterRun], bool]
    scores_are_behind: Callable[[Home], bool]  # raises KbError
    folders_to_score: Callable[[Home], list[str]]  # raises KbError
    clock: Callable[[], float] = time.time


def is_built(home: Home) -> bool:
    """Tell whether anybody ever built here: the first build is begun by a person."""
    return bool(home.record("last-build").get("build"))
