"""Kill builds while a language model is being asked: no answer lost, none paid for needlessly.

Most of the killed processes run the stages alone, every tenth a whole `kb build`, because the rest
of a build takes longer than what is looked at. A stand-in for Anthropic keeps its own book of what
it was asked and what it bills. After each kill the file of paid answers is read whole. What was in
flight may be asked for again later, by whichever process comes to it; nothing else may, and in
batch mode nothing. In the end everything is answered, and a build over an empty store with the same
journal and caches is the same build and asks for nothing.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks.report import progress
from kb_core.errors import KbError
from resources.paid_rows import paid_problem
from tests.standins.anthropic_server import KEY, AnthropicStandIn

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("Harbour", "Town", "Ferry")
_ROUNDS = 3  # of requests in flight that a folder's notes take
_FEWEST_NOTES = 12
_SLOW_SECONDS = 0.3
_BATCH_SECONDS = 1.0
_COMPARED_EVERY = 50
_WHOLE_BUILD_EVERY = 10
_KILLED_EARLY = 0.0005  # the chance, at each look, of a kill before the first question
_LONGEST_START = 60.0  # seconds until a process has asked its first question, or has nothing to ask


class PaidTrial:
    """One vault, one home, one provider, and everything that happens to them."""

    def __init__(
        self, scratch: Path, server: AnthropicStandIn, seed: int, in_flight: int, *, is_batch: bool
    ) -> None:
        self._scratch, self._server = scratch, server
        self._rng = np.random.default_rng(seed)
        self._vault, self._home = scratch / "vault", scratch / "home"
        self._in_flight, self._is_batch = in_flight, is_batch
        self._notes = max(_FEWEST_NOTES, _ROUNDS * in_flight // len(_FOLDERS))
        self._figures: Counter[str] = Counter()
        self._edition = 0
        self._longest = 0.0  # seconds an undisturbed build takes
        self._known: set[bytes] = set()  # keys of answers that were seen on the disk

    def run(self, kills: int) -> dict[str, float]:
        """Kill so many builds and return what was seen."""
        for folder in _FOLDERS:
            self._edit(folder)
        self._kb("init", str(self._vault), "--home", str(self._home))
        start = time.monotonic()
        self._kb("build", "--home", str(self._home))
        self._longest = time.monotonic() - start
        self._look()
        while self._figures["kills"] < kills:
            self._kill_one()
            if self._figures["kills"] >= _COMPARED_EVERY * (self._figures["compared"] + 1):
                self._compare()
        self._compare()
        settled, lost, estimated = self._ledger()
        bill = self._server.billed_nano
        repaid = self._server.repeats()
        left = self._figures["left_open"]
        return {
            "kills": self._figures["kills"],
            "finished_before": self._figures["finished_before"],
            "in_flight": self._in_flight,
            "lost": self._figures["lost"],
            "corrupt": self._figures["corrupt"],
            "answers": len(self._known),
            "repaid": repaid,
            "repaid_per_kill": round(repaid / max(1, kills), 3),
            "left_in_flight": left,
            "left_in_flight_by_one_kill_max": self._figures["most_left_open"],
            "repaid_beyond_what_was_in_flight": max(0, repaid - left),
            "most_in_flight_seen": self._server.most_in_flight,
            "builds_compared": self._figures["compared"],
            "builds_differing": self._figures["differing"],
            "asked_by_a_second_build": self._figures["asked_again"],
            "billed_by_provider_nano": bill,
            "settled_in_ledger_nano": settled,
            "lost_in_ledger": lost,
            "lost_estimated_nano": estimated,
            "undisturbed_s": round(self._longest, 2),
        }

    def _kill_one(self) -> None:
        for folder in self._rng.choice(_FOLDERS, 2, replace=False):
            self._edit(str(folder))
        is_whole = self._figures["kills"] % _WHOLE_BUILD_EVERY == 0
        stages = [sys.executable, "-m", "benchmarks.reading_stages", str(self._home)]
        build = self._command("build", "--home", str(self._home))
        process = subprocess.Popen(
            build if is_whole else stages,
            env=self._environment(),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._await_first_question(process)
            process.wait(self._rng.uniform(0, 1.2) * self._asking_seconds())
            self._figures["finished_before"] += 1
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self._figures["kills"] += 1
            process.wait()
        self._look()
        left = self._left_open()
        self._figures["left_open"] += left
        self._figures["most_left_open"] = max(self._figures["most_left_open"], left)
        if self._figures["kills"] % 10 == 0:
            progress(f"{self._figures['kills']} kills: {dict(self._figures)}")

    def _await_first_question(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the model is asked: a kill before that is one in a hundred."""
        asked = len(self._server.book.records)
        until = time.monotonic() + _LONGEST_START
        while len(self._server.book.records) == asked and time.monotonic() < until:
            if process.poll() is not None or self._rng.random() < _KILLED_EARLY:
                return
            time.sleep(0.02)

    def _asking_seconds(self) -> float:
        """Return how long the model takes for what was edited, at least."""
        rounds = 2 * -(-self._notes // self._in_flight)
        return rounds * (_BATCH_SECONDS if self._is_batch else _SLOW_SECONDS) + 0.5

    def _look(self) -> None:
        """Read what a build left, before anything mends it."""
        path = self._home / "data" / "cache" / "paid.sqlite"
        try:
            problem = paid_problem(path) if path.exists() else ""
        except KbError as unreadable:
            problem = str(unreadable)
        if problem:
            progress(f"paid answers: {problem}")
            self._figures["corrupt"] += 1
            return
        found = self._keys(path)
        self._figures["lost"] += len(self._known - found)
        self._known |= found

    def _keys(self, path: Path) -> set[bytes]:
        if not path.exists():
            return set()
        with closing(sqlite3.connect(path)) as db:
            return {key for (key,) in db.execute("SELECT key FROM answers")}

    def _left_open(self) -> int:
        """Count the requests, not those in parcels, whose end the killed process did not see."""
        path = self._home / "data" / "cache" / "paid.sqlite"
        if not path.exists():
            return 0
        with closing(sqlite3.connect(path)) as db:
            query = "SELECT count(*) FROM ledger WHERE state = 'open' AND parcel = 0"
            return int(db.execute(query).fetchone()[0])

    def _ledger(self) -> tuple[int, int, int]:
        path = self._home / "data" / "cache" / "paid.sqlite"
        with closing(sqlite3.connect(path)) as db:
            settled = db.execute("SELECT total(billed) FROM ledger WHERE state = 'settled'")
            lost = db.execute("SELECT count(*), total(estimated) FROM ledger WHERE state = 'lost'")
            (billed,), (number, estimated) = settled.fetchone(), lost.fetchone()
        return int(billed), int(number), int(estimated)

    def _compare(self) -> None:
        """Build to the end, and again over an empty store with the same journal and caches."""
        build = self._built(self._home)
        self._look()
        asked = len(self._server.book.records)
        other = self._scratch / "other"
        shutil.rmtree(other, ignore_errors=True)
        self._kb("init", str(self._vault), "--home", str(other))
        for name in ("history", "cache"):
            shutil.copytree(self._home / "data" / name, other / "data" / name, dirs_exist_ok=True)
        self._figures["compared"] += 1
        self._figures["differing"] += self._built(other) != build
        self._figures["asked_again"] += len(self._server.book.records) - asked

    def _built(self, home: Path) -> str:
        output = self._kb("build", "--json", "--home", str(home))
        return str(json.loads(output.splitlines()[-1])["build"])

    def _edit(self, folder: str) -> None:
        """Give all notes of a folder new words: every passage is a new question."""
        self._edition += 1
        for number in range(self._notes):
            path = self._vault / folder / f"Note {number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            words = f"Quay {number} of {folder} costs {self._edition} euros. It needs [[Crane]]."
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
        folders = json.dumps(list(_FOLDERS))
        return {
            **os.environ,
            "ANTHROPIC_API_KEY": KEY,
            "KB_LLM__ENGINE": "anthropic",
            "KB_LLM__URL": self._server.url,
            "KB_LLM__MAX_PARALLEL": str(self._in_flight),
            "KB_LLM__BATCH": folders if self._is_batch else "[]",
            "KB_LIMITS__AUTO_APPROVE_USD": "1000",
            "KB_LIMITS__MONTHLY_USD": "1000",
            "KB_EGRESS__ALLOW": folders,
            "KB_EMBEDDER__ENGINE": "none",
            "KB_CHUNKS__TOKEN_COUNTER": "regex",
            "PYTHONPATH": str(ROOT),
        }


def kill_paid_builds(
    scratch: Path, kills: int, seed: int, in_flight: int, *, is_batch: bool
) -> tuple[dict[str, float], dict[str, str]]:
    """Run the kills; return the figures and what is aimed at."""
    with AnthropicStandIn(slow_seconds=_SLOW_SECONDS, batch_seconds=_BATCH_SECONDS) as server:
        trial = PaidTrial(scratch, server, seed, in_flight, is_batch=is_batch)
        figures = trial.run(kills)
    aims = dict.fromkeys(("lost", "corrupt", "builds_differing", "asked_by_a_second_build"), "<= 0")
    aims["repaid_beyond_what_was_in_flight"] = "<= 0"
    aims["repaid_per_kill"] = "<= 0" if is_batch else f"<= {in_flight}"
    aims["left_in_flight_by_one_kill_max"] = "<= 0" if is_batch else f"<= {in_flight}"
    return figures, aims
