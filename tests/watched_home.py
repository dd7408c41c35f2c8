"""A built home and its sensors, ticked by plain calls on a Dagster instance of their own."""

import atexit
import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import dagster as dg

from kb_assets.build.publish import run_published
from kb_assets.workbench import Workbench
from kb_core.settings import read_settings
from kb_serve.definitions import make_definitions, make_wiring
from resources.home import Home
from sensors.after_build import after_build
from sensors.vault_changes import vault_changes
from tests.built_home import build, open_home
from tests.small_vault import put

NOTES = {
    "Work/Pier.md": "# Pier\n\nThe pier costs 120,000 euros. See [[Ferry]].\n",
    "Work/Ferry.md": "# Ferry\n\nThe ferry Aurora carried 310 passengers.\n",
    "People/Mara.md": "# Mara\n\nMara Lind leads the harbour.\n",
    "Archive/Old.md": "# Old\n\nThe old pier was sold in 1998.\n",
}
Notes = dict[str, str]
_BUILT: dict[str, Path] = {}
NO_WAITING = '[embedder]\nengine = "none"\n[refresh]\nquiet_seconds = 0\n'


class Watched:
    """One home that is watched: `tick` is what the daemon does, `run` what it starts."""

    def __init__(self, folder: Path, settings: str = NO_WAITING, notes: Notes = NOTES) -> None:
        self.vault = folder / "vault"
        for path, text in notes.items():
            put(self.vault, path, text)
        self.home: Home = open_home(folder / "home", self.vault, settings)
        self.instance = dg.DagsterInstance.ephemeral()
        self.cursor: str | None = None
        self.ahead = 0.0  # seconds that the sensors' clock is ahead

    @classmethod
    def built(cls, folder: Path, settings: str = NO_WAITING, notes: Notes = NOTES) -> "Watched":
        """Build and publish everything, as `kb build` would; equal notes are built once only."""
        made = _BUILT.get(str(notes))
        if made is None:
            made = Path(tempfile.mkdtemp(prefix="watched-"))
            atexit.register(shutil.rmtree, made, ignore_errors=True)
            first = cls(made, NO_WAITING, notes)
            build(first.home)
            run_published(first.home)
            _BUILT[str(notes)] = made
        shutil.copytree(made, folder, dirs_exist_ok=True)
        return cls(folder, settings, {})

    def set(self, settings: str) -> None:
        """Change kb.toml."""
        text = (self.home.root / "kb.toml").read_text()
        (self.home.root / "kb.toml").write_text(f"{settings}\n{text}")
        self.home = Home(self.home.root, read_settings(self.home.root))

    def tick(self) -> "Ticked":
        """Evaluate `vault_changes` once; add new partitions, keep the cursor."""
        result = self.evaluate(vault_changes(self.wiring(), self.home.settings.refresh))
        if isinstance(result, dg.SkipReason):
            return Ticked([], result.skip_message or "")
        self.cursor = result.cursor
        for request in result.dynamic_partitions_requests or []:
            self.instance.add_dynamic_partitions("folder", request.partition_keys)
        reason = result.skip_reason.skip_message if result.skip_reason else ""
        return Ticked(list(result.run_requests or []), reason or "")

    def scores(self, cursor: str | None = None) -> tuple["Ticked", str | None]:
        """Evaluate `after_build` once; return what it asks for and its cursor."""
        result = self.evaluate(after_build(self.wiring(), self.home.settings.refresh), cursor)
        if isinstance(result, dg.SkipReason):
            return Ticked([], result.skip_message or ""), cursor
        reason = result.skip_reason.skip_message if result.skip_reason else ""
        return Ticked(list(result.run_requests or []), reason or ""), result.cursor

    def evaluate(self, sensor, cursor: str | None = None):
        """Call a sensor as the daemon does."""
        context = dg.build_sensor_context(
            instance=self.instance, cursor=cursor or self.cursor, definitions=make_definitions()
        )
        return sensor(context)

    def wiring(self):
        """Return the sensors' doors, with this home and this clock."""
        bench = Workbench(self.home)
        return replace(make_wiring(bench), clock=lambda: time.time() + self.ahead)

    def run(self, request: dg.RunRequest) -> bool:
        """Do what was asked for; tell whether it succeeded."""
        job = make_definitions(Workbench(self.home)).resolve_job_def(request.job_name)
        done = job.execute_in_process(
            instance=self.instance,
            partition_key=request.partition_key,
            tags=request.tags,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        return done.success

    def folder(self, request: dg.RunRequest) -> str:
        """Return the folder that a run is over."""
        return self.home.folders()[request.partition_key or ""]


class Ticked:
    """What a tick asked for, and what it said."""

    def __init__(self, requests: list[dg.RunRequest], reason: str) -> None:
        self.requests = requests
        self.reason = reason


def rewrite(path: Path, text: str) -> None:
    """Change a note as an editor does: in a new file that takes its place."""
    scratch = path.with_suffix(".new")
    scratch.write_text(text)
    os.replace(scratch, path)
