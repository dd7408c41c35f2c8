"""Run the stages that a language model has a part in by plain calls, without Dagster.

As a program, `python -m benchmarks.reading_stages HOME` reads what changed in the vault and has the
model asked about it: what `kb build` does between its start and its publishing, in a second less.
"""

import datetime as dt
import sys
from pathlib import Path

from kb_assets.chunks.run import run as cut
from kb_assets.extractions.run import run as extract
from kb_assets.keyword_index.run import run as index
from kb_assets.notes.run import run as read
from kb_assets.outcome import Outcome
from kb_assets.placeholders.listing import begin_listing
from kb_assets.placeholders.run import run as look
from kb_assets.retyping.run import run as retype
from kb_assets.spending.run import run as plan
from kb_assets.triage.run import run as judge
from kb_assets.workbench import Workbench
from resources.home import Home


def read_folder(bench: Workbench, partition: str) -> list[Outcome]:
    """Judge, read and re-type what a folder's chunks say, and plan what is left; in order."""
    done = [stage(bench, partition)[0] for stage in (judge, extract, retype)]
    return [*done, plan(bench.home, partition)[0]]


def main() -> None:
    """Read every folder of a home and have the model asked."""
    home = Home.open(Path(sys.argv[1]))
    now = dt.datetime.now(dt.UTC)
    begin_listing(home, now)
    for partition in sorted(home.folders()):
        look(home, partition, now)
        for stage in (read, cut, index):
            stage(home, partition)
        read_folder(Workbench(home, may_pay=True), partition)


if __name__ == "__main__":
    main()
