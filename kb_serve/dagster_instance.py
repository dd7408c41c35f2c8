"""Open a home's own Dagster instance: its history lies in the home, whatever DAGSTER_HOME says."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import dagster as dg

from kb_assets.partitions import FOLDERS
from kb_core.errors import HomeError
from kb_serve.orphan_runs import end_orphans
from kb_serve.output import say
from resources.home import Home


@contextmanager
def open_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """Work from the home and open its instance; folders registered so far are its partitions."""
    enter(home)
    with ExitStack() as stack:
        # Two processes that make Dagster's databases at once get in each other's way:
        # "table runs already exists". One goes first; later openings find them made.
        with home.leases.hold("dagster"):
            instance = stack.enter_context(dg.DagsterInstance.from_config(str(home.root)))
            end_orphans(instance)
            register(instance, home)
        yield instance


def enter(home: Home) -> None:
    """Make the home the working directory, as the paths in its dagster.yaml mean it."""
    if not (home.root / "dagster.yaml").is_file():
        raise HomeError(
            f"{home.root} has no dagster.yaml, so Dagster's history would get lost. "
            f"`kb init` writes it; copy the one of another home, or make a new home."
        )
    if os.environ.pop("DAGSTER_HOME", None):
        say("DAGSTER_HOME is ignored: this home keeps its own Dagster history in data/dagster.")
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "yes"
    os.environ["KB_HOME"] = str(home.root)
    os.chdir(home.root)


def register(instance: dg.DagsterInstance, home: Home) -> None:
    """Make every folder of the home a partition."""
    name = FOLDERS.name or "folder"
    known = set(instance.get_dynamic_partitions(name))
    new = [key for key in sorted(home.folders()) if key not in known]
    if new:
        instance.add_dynamic_partitions(name, new)


def unregister(instance: dg.DagsterInstance, home: Home, folders: Iterable[str]) -> None:
    """Take folders out of the home's register and out of Dagster's partitions."""
    name = FOLDERS.name or "folder"
    gone = set(folders)
    home.write_record(
        "folders", {key: path for key, path in home.folders().items() if key not in gone}
    )
    for key in sorted(gone):
        home.store.drop(key)
        instance.delete_dynamic_partition(name, key)
