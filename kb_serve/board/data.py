"""Gather what the board shows of a home. Reads its tables and records; writes and embeds nothing.

What only Dagster knows (runs, speed) is handed in. Names of folders and a run's own words stand
here as they are: whoever shows them makes them safe.
"""

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.compute as pc

from eval_assets.questions import question_files
from kb_assets.build.publish import Verdict, pinned
from kb_assets.choices import read_choices
from kb_assets.placeholders.observe import loss_id, lost_notes
from kb_core.errors import HomeError, NotBuiltError, VaultError
from kb_serve.board.runs import LastRun
from kb_serve.board.spending import Spending, spending_of
from kb_serve.board.upkeep import Upkeep, upkeep_of
from kb_serve.coverage import folder_rows
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.history import History
from resources.home import Home
from resources.vault import LocalVault

# What is drawn: more builds than this are closer together than one can point at.
SHOWN_BUILDS = 40
MEASURE = "recall_at_10"  # the one figure a folder is shown by, asked in the whole vault

_DELETIONS = "kb approve-deletions"  # a failed run's words name it when notes vanished at once


@dataclass(frozen=True)
class Scored:
    """What was scored once: of the vault or of one folder."""

    at: str  # ISO instant
    build: str
    figures: Mapping[str, float]


@dataclass(frozen=True)
class FolderState:
    """One folder, by the same counts as `kb folders` and `kb check`."""

    counts: Mapping[str, Any]  # a row of `coverage.folder_rows`
    waiting: int  # notes that vanished at once: deletions nobody has confirmed yet
    run: LastRun | None
    scores: tuple[Scored, ...]  # oldest first
    seconds_left: float | None  # for its pending vectors; None: nobody knows how fast they are made

    @property
    def pending(self) -> int:
        """Count the texts that have no vector yet."""
        return max(0, self.counts["texts"] - self.counts["with_vectors"])

    @property
    def needs_help(self) -> bool:
        """Tell whether its last run failed for a reason that still holds."""
        is_failed = self.run is not None and self.run.state == "failed"
        return is_failed and bool(self.run and self.run.problem)


@dataclass(frozen=True)
class Board:
    """A home at one moment."""

    root: str
    vault: str
    looked_at: dt.datetime | None  # when the whole vault was last listed
    answers: str  # the build that answers; empty when there is none
    answers_since: dt.datetime | None
    verdict: Verdict | None  # on the last build
    report: Mapping[str, Any]  # of the build that answers
    folders: tuple[FolderState, ...]
    scores: tuple[Scored, ...]  # of whole builds, oldest first
    has_questions: bool
    makes_vectors: bool  # an embedder is switched on
    upkeep: Upkeep = field(default_factory=Upkeep)
    spending: Spending = field(default_factory=Spending)


def gather(home: Home, runs: Mapping[str, LastRun], speed: float | None) -> Board:
    """Return what the board shows; `speed` is in passages a second.

    Raises StoreError, HomeError when a table or a record of the home is damaged.
    """
    builds = Builds(home.data)
    answers = _answers(builds)
    history = Evaluations(home.data / "history").rows()
    listing = History(home.data / "history").listing()
    return Board(
        root=str(home.root),
        vault=str(home.vault_path),
        looked_at=listing.started if listing else None,
        answers=answers,
        answers_since=_since(home) if answers else None,
        verdict=_verdict(home, answers),
        report=builds.report(answers) if answers else {},
        folders=tuple(_folder(home, row, runs, history, speed) for row in folder_rows(home)),
        scores=_scored(history, None),
        has_questions=bool(question_files(home.data)),
        makes_vectors=home.settings.embedder.engine != "none",
        upkeep=upkeep_of(home),
        spending=spending_of(home, time.time()),
    )


def _answers(builds: Builds) -> str:
    try:
        return builds.current()
    except NotBuiltError:
        return ""


def _since(home: Home) -> dt.datetime:
    return dt.datetime.fromtimestamp((home.data / "CURRENT").stat().st_mtime, dt.UTC)


def _verdict(home: Home, answers: str) -> Verdict | None:
    """Return what publishing said of the last build it judged."""
    last = home.record("last-publish")
    if not last.get("build"):
        return None
    problems = tuple(last.get("problems", ()))
    return Verdict(last["build"], problems=problems, pinned=pinned(home), answers=answers)


def _folder(
    home: Home,
    row: Mapping[str, Any],
    runs: Mapping[str, LastRun],
    history: Sequence[Mapping[str, Any]],
    speed: float | None,
) -> FolderState:
    partition = row["partition"]
    run = runs.get(partition)
    waiting = 0
    if run and _DELETIONS in run.problem:
        waiting = _vanished(home, partition)
        if not waiting:  # confirmed, or the notes are back: the next run will find it so
            run = LastRun(run.run_id, run.state, run.at)
    return FolderState(
        counts=row,
        waiting=waiting,
        run=run,
        scores=_scored(history, partition),
        seconds_left=_seconds_left(home, row, speed),
    )


def _vanished(home: Home, partition: str) -> int:
    """Count the folder's notes that are gone from the vault without anybody's word."""
    vault = LocalVault(home.vault_path, home.settings.vault)
    latest = History(home.data / "history").latest(partition)
    try:
        lost = lost_notes(vault.list(), latest)
    except VaultError:
        return sum(1 for digest in latest.values() if digest)
    is_approved = home.record("approved-deletions").get(partition) == loss_id(lost)
    return 0 if is_approved else len(lost)


def _seconds_left(home: Home, row: Mapping[str, Any], speed: float | None) -> float | None:
    pending = row["texts"] - row["with_vectors"]
    if pending <= 0:
        return 0.0
    if not speed:
        return None
    return pending / row["texts"] * _passages(home, row["partition"]) / speed


def _passages(home: Home, partition: str) -> float:
    """Estimate the passages of a folder's texts by the size its vectors are cut to."""
    chunks = home.store.read("chunks", partition, ["text_id", "tokens"])
    try:
        profile = read_choices(home).embedder or {}
    except HomeError:  # kb.toml asks for other chunks: `kb build` says so
        profile = {}
    size = profile.get("passage_tokens")
    if not size:
        return float(pc.count_distinct(chunks["text_id"]).as_py())
    return float(sum(max(1, round(tokens / size)) for tokens in chunks["tokens"].to_pylist()))


def _scored(history: Sequence[Mapping[str, Any]], folder: str | None) -> tuple[Scored, ...]:
    rows = [row for row in history if row["folder"] == folder]
    return tuple(Scored(r["at"], r["build"], r["figures"]) for r in rows[-SHOWN_BUILDS:])
