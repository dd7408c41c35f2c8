"""Kill builds at random moments and see what is left: nothing lost, torn or embedded twice.

`python -m benchmarks.kills --stage build --kills 200` edits a small vault, starts `kb build`
against a stand-in for Ollama, kills its whole process group, looks at everything that is on the
disk, and goes on. A reader asks the published build all the time. Every so often a build runs
undisturbed and is compared with one over an empty store, the same journal and the same vault.
`--stage extractions` does the same while a language model is asked: see benchmarks/kills_paid.py.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.kills_paid import kill_paid_builds
from benchmarks.report import progress, report
from kb_core.errors import KbError, NotBuiltError
from kb_core.settings import read_settings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from resources.history import History
from tests.standins.ollama_server import OllamaStandIn

ROOT = Path(__file__).resolve().parent.parent
_STAGES = ("build", "extractions")
_FOLDERS = ("Harbour", "Town", "Ferry", "Bridge")
_NOTES = 8  # in each folder
_BATCH = 4  # texts an embedder is asked at once: what may be in flight when a build is killed
_EDITED = 2  # folders edited before each build
_UNDISTURBED_EVERY = 20
_SLOW_SECONDS = 0.05
_MARK = "edition"


def main() -> int:
    """Run the kills; status 1 if anything was lost, torn, mixed or embedded twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", choices=_STAGES, default="build")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in-flight", type=int, default=8, help="with extractions: at once")
    parser.add_argument("--batch", action="store_true", help="with extractions: in batches")
    arguments = parser.parse_args()
    if arguments.stage == "extractions":
        return _paid(arguments)
    with (
        tempfile.TemporaryDirectory() as scratch,
        OllamaStandIn(slow_seconds=_SLOW_SECONDS) as server,
    ):
        figures = Trial(Path(scratch), server, arguments.seed).run(arguments.kills)
    aims = dict.fromkeys(("lost", "corrupt", "mixed_versions", "builds_differing"), "<= 0")
    aims["embedded_twice_beyond_flight"] = "<= 0"
    return 0 if report("kills", figures, aims, stage=arguments.stage) else 1


def _paid(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        figures, aims = kill_paid_builds(
            Path(scratch),
            arguments.kills,
            arguments.seed,
            arguments.in_flight,
            is_batch=arguments.batch,
        )
    stage = f"extractions{', batch' if arguments.batch else ''}"
    return 0 if report("kills", figures, aims, stage=stage) else 1


class Trial:
    """One vault, one home, and everything that happens to them."""

    def __init__(self, scratch: Path, server: OllamaStandIn, seed: int) -> None:
        self._scratch, self._server = scratch, server
        self._rng = np.random.default_rng(seed)
        self._vault, self._home = scratch / "vault", scratch / "home"
        self._figures: Counter[str] = Counter()
        self._edition = 0
        self._longest = 0.0  # seconds an undisturbed build takes
        self._journaled: dict[str, int] = {}
        self._embedded: set[str] = set()
        self._in_flight: set[str] = set()  # asked for last when a build was killed

    def run(self, kills: int) -> dict[str, float]:
        """Kill so many builds and return what was seen."""
        for folder in _FOLDERS:
            self._edit(folder)
        self._kb("init", str(self._vault), "--home", str(self._home))
        start = time.monotonic()
        self._finish()
        self._longest = time.monotonic() - start
        with Reader(self._home) as reader:
            while self._figures["kills"] < kills:
                self._kill_one()
                if self._figures["kills"] >= _UNDISTURBED_EVERY * (self._figures["compared"] + 1):
                    self._compare()
            self._compare()
        names = ("kills", "finished_before", "lost", "corrupt", "mixed_versions")
        counted = {name: self._figures[name] for name in names}
        return {
            **counted,
            "corrupt": self._figures["corrupt"] + reader.broken,
            "mixed_versions": self._figures["mixed_versions"] + reader.mixed,
            "builds_compared": self._figures["compared"],
            "builds_differing": self._figures["differing"],
            "embedded": len(self._embedded),
            "embedded_twice": self._figures["twice"],
            "embedded_twice_beyond_flight": self._figures["beyond"],
            "reads": reader.reads,
            "undisturbed_s": round(self._longest, 2),
        }

    def _kill_one(self) -> None:
        for folder in self._rng.choice(_FOLDERS, _EDITED, replace=False):
            self._edit(str(folder))
        process = subprocess.Popen(
            self._command("build", "--home", str(self._home)),
            env=self._environment(),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        start, was_killed = time.monotonic(), False
        try:
            process.wait(self._rng.uniform(0.3, 1.0) * self._longest)
            self._figures["finished_before"] += 1
            self._longest = time.monotonic() - start  # the machine is less busy than it was
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self._figures["kills"] += 1
            was_killed = True
            process.wait()
        self._look(was_killed=was_killed)
        if self._figures["kills"] % 10 == 0:
            progress(f"{self._figures['kills']} kills: {dict(self._figures)}")

    def _look(self, *, was_killed: bool = False) -> None:
        """Look at what a build left, before anything mends it."""
        self._count_embedded(was_killed=was_killed)
        try:
            found = versions(self._home)
        except KbError as problem:
            progress(f"journal: {problem}")
            self._figures["corrupt"] += 1
            return
        lost = sum(max(0, count - found.get(key, 0)) for key, count in self._journaled.items())
        self._figures["lost"] += lost
        self._journaled = found
        try:
            self._figures["mixed_versions"] += int(not is_of_one_piece(self._home))
        except KbError as problem:
            progress(f"published build: {problem}")
            self._figures["corrupt"] += 1

    def _count_embedded(self, *, was_killed: bool = False) -> None:
        """Count the texts that were asked for again; a kill may cost the batch in flight.

        Within one build the first text of a batch is asked for twice: it checks the order.
        """
        batches = self._server.scenario.batches()
        self._server.scenario.seen.clear()
        # Not the few made-up texts whose speed says how long a build will take.
        texts = {text for batch in batches for text in batch if _MARK in text}
        again = texts & self._embedded
        self._figures["twice"] += len(again)
        self._figures["beyond"] += len(again - self._in_flight)
        self._in_flight -= texts
        if was_killed:
            last = batches[-1:] if not batches or len(batches[-1]) > 1 else batches[-2:]
            self._in_flight |= {text for batch in last for text in batch}
        self._embedded |= texts

    def _finish(self) -> str:
        output = self._kb("build", "--json", "--home", str(self._home))
        self._look()
        return str(json.loads(output.splitlines()[-1])["build"])

    def _compare(self) -> None:
        """Build to the end, and again over an empty store with the same journal and caches."""
        build = self._finish()
        other = self._scratch / "other"
        shutil.rmtree(other, ignore_errors=True)
        self._kb("init", str(self._vault), "--home", str(other))
        for name in ("history", "cache"):
            shutil.copytree(self._home / "data" / name, other / "data" / name, dirs_exist_ok=True)
        output = self._kb("build", "--json", "--home", str(other))
        self._count_embedded()
        self._figures["compared"] += 1
        self._figures["differing"] += json.loads(output.splitlines()[-1])["build"] != build

    def _edit(self, folder: str) -> None:
        """Give all notes of a folder a new edition; a build takes all of them or none."""
        self._edition += 1
        for number in range(_NOTES):
            path = self._vault / folder / f"Note {number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            words = f"{folder} {number} {edition_word(self._edition)}"
            path.write_text(f"---\ndate: 2024-03-01\n---\n# Note {number}\n\n{words}\n", "utf-8")

    def _kb(self, *arguments: str) -> str:
        return subprocess.run(
            self._command(*arguments),
            env=self._environment(),
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ).stdout

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "kb_serve.cli", *arguments]

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "KB_EMBEDDER__ENGINE": "ollama",
            "KB_EMBEDDER__URL": self._server.url,
            "KB_EMBEDDER__BATCH": str(_BATCH),
            "KB_CHUNKS__TOKEN_COUNTER": "regex",
            "PYTHONPATH": str(ROOT),
        }


class Reader:
    """Asks the published build all the time, as a user would while builds come and go."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self.reads = self.broken = self.mixed = 0

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._stop.wait(0.1):
            try:
                self.mixed += int(not is_of_one_piece(self._home))
            except KbError as problem:
                progress(f"reader: {problem}")
                self.broken += 1
            self.reads += 1


def edition_word(edition: int) -> str:
    """Return the word that marks an edition."""
    return f"{_MARK}{edition:05}"


def is_of_one_piece(home: Path) -> bool:
    """Read the whole published build; tell whether each folder is of one edition.

    Its texts, its keyword index and its vectors must speak of the same notes. Raises KbError when
    anything cannot be read.
    """
    try:
        build = PublishedBuild.open(home)
    except NotBuiltError:
        return True
    engine = Engine(build, read_settings(home), "vault")
    for folder in build.folders:
        rows = np.flatnonzero(folder.rows.is_current)
        texts = [folder.shown(int(row))["text"] for row in rows]
        editions = {word for text in texts for word in text.split() if word.startswith(_MARK)}
        if len(editions) != 1:
            return False
        found = engine.search(editions.pop(), [folder.path], "keyword", notes=200).results
        if len(found) != len(rows):
            return False
        if folder.vector_profile and len(folder.vectors.starts) != folder.rows.doc_count + 1:
            return False
    return True


def versions(home: Path) -> dict[str, int]:
    """Return how many versions of each note the journal holds. Raises StoreError."""
    history = History(home / "data" / "history")
    tables = [history.read(partition) for partition in history.partitions()]
    if not tables:
        return {}
    notes = pa.concat_tables(tables)["note_id"].to_pylist()
    return dict(Counter(notes))


if __name__ == "__main__":
    sys.exit(main())
