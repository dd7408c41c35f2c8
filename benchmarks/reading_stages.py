"""Run the stages that a language model has a part in by plain calls, without Dagster."""

from kb_assets.extractions.run import run as extract
from kb_assets.outcome import Outcome
from kb_assets.retyping.run import run as retype
from kb_assets.spending.run import run as plan
from kb_assets.triage.run import run as judge
from kb_assets.workbench import Workbench


def read_folder(bench: Workbench, partition: str) -> list[Outcome]:
    """Judge, read and re-type what a folder's chunks say, and plan what is left; in order."""
    done = [stage(bench, partition)[0] for stage in (judge, extract, retype)]
    return [*done, plan(bench.home, partition)[0]]
