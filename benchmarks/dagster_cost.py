"""What Dagster itself costs a refresh: nothing changed, and one note changed, in 13 folders.

`python -m benchmarks.dagster_cost` builds a small vault of 13 folders by words, then times `kb
build`'s own `Builder` beside the same jobs whose assets and checks do nothing, in turn and in one
process. A refresh that finds nothing to do should start no run at all; one note should cost one
folder's runs.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from benchmarks.made_vault import make_vault
from benchmarks.report import progress, report
from kb_assets.placeholders.listing import register_vault
from kb_assets.workbench import Workbench
from kb_serve.builder import Builder
from kb_serve.dagster_instance import open_instance, register
from kb_serve.definitions import VAULT, WORDS, make_definitions
from kb_serve.new_home import make_home
from resources.home import Home

_FOLDERS = 13
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def main() -> int:
    """Run the comparison; status 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=130)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ["KB_EMBEDDER__ENGINE"] = "none"
    os.environ["KB_CHUNKS__TOKEN_COUNTER"] = "regex"
    with tempfile.TemporaryDirectory() as scratch:
        figures = _measure(Path(scratch), arguments.notes, arguments.rounds)
    aims = {"noop_over_floor": "<= 1.3"}
    return 0 if report("dagster_cost", figures, aims) else 1


def _measure(scratch: Path, notes: int, rounds: int) -> dict[str, float]:
    vault = scratch / "vault"
    make_vault(vault, notes, notes * 300, folders=_FOLDERS)
    home = make_home(vault, scratch / "home")
    progress("building once")
    _build(home)
    floor = Floor(scratch)
    edited = sorted(vault.rglob("*.md"))[0]

    def edit_and_build() -> None:
        edited.write_text(edited.read_text("utf-8") + "\nOne more line.\n", "utf-8")
        _build(home)

    actions: dict[str, Callable[[], object]] = {
        "noop": lambda: _build(home),
        "noop_floor": lambda: floor.run(_FOLDERS),
        "one_note": edit_and_build,
        "one_note_floor": lambda: floor.run(1),
    }
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(rounds):
        progress(f"round {number + 1} of {rounds}")
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        **{f"{name}_s": round(value, 3) for name, value in medians.items()},
        "noop_over_floor": round(medians["noop"] / medians["noop_floor"], 3),
        "one_note_over_floor": round(medians["one_note"] / medians["one_note_floor"], 3),
        "folders": _FOLDERS,
        "notes": notes,
    }


def _build(home: Home) -> None:
    summary = Builder(Workbench(home), progress if not home.folders() else _say_nothing).run()
    if summary.errors:
        raise SystemExit(f"the build failed: {summary.errors}")


def _say_nothing(_text: str) -> None:
    """Keep quiet."""


class Floor:
    """The same jobs, assets and checks on an instance of the same kind, with nothing inside."""

    def __init__(self, scratch: Path) -> None:
        vault = scratch / "empty"
        vault.mkdir()
        for number in range(_FOLDERS):
            folder = vault / f"Folder {number:02}"
            folder.mkdir()
            (folder / "Note.md").write_text("# Note\n", "utf-8")
        self._home = make_home(vault, scratch / "floor")
        self._definitions = _hollow(make_definitions(Workbench(self._home)))
        register_vault(self._home)

    def run(self, folders: int) -> None:
        """Run the words of so many folders, then what follows from them."""
        with open_instance(self._home) as instance:
            register(instance, self._home)
            for partition in list(self._home.folders())[:folders]:
                self._job(instance, WORDS, partition)
            self._job(instance, VAULT, None)

    def _job(self, instance: dg.DagsterInstance, name: str, partition: str | None) -> None:
        self._definitions.resolve_job_def(name).execute_in_process(
            instance=instance, partition_key=partition, run_config=_QUIET
        )


def _hollow(definitions: dg.Definitions) -> dg.Definitions:
    """Return definitions of the same jobs whose assets and checks do nothing."""
    assets = [each for each in definitions.assets or [] if isinstance(each, dg.AssetsDefinition)]
    checks = definitions.asset_checks or []
    return dg.Definitions(
        assets=[_hollow_asset(asset) for asset in assets],
        asset_checks=[_hollow_check(spec) for check in checks for spec in check.check_specs],
        jobs=definitions.jobs,
        executor=definitions.executor,
    )


def _hollow_asset(asset: dg.AssetsDefinition) -> dg.AssetsDefinition:
    @dg.asset(
        key=asset.key,
        deps=sorted(asset.asset_deps[asset.key]),
        partitions_def=asset.partitions_def,
    )
    def nothing() -> dg.MaterializeResult:
        return dg.MaterializeResult(data_version=dg.DataVersion("1"))

    return nothing


def _hollow_check(spec: dg.AssetCheckSpec) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=spec.asset_key, name=spec.name, partitions_def=spec.partitions_def)
    def nothing() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    return nothing


if __name__ == "__main__":
    sys.exit(main())
