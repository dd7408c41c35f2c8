"""Point readers to a build if it passes the gates, or say why not. Safe to repeat.

A build with pending vectors passes the gates of its tables alone; complete ones are compared by
their scores with the last complete build that was published. When the scores of a whole build
fell, that one answers again. What the user pinned stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kb_assets.build.gates import folder_problems
from kb_assets.build.regression import score_problems
from kb_assets.outcome import Outcome
from kb_core.errors import NotBuiltError, StoreError
from kb_search.build import PublishedBuild
from kb_search.evidence import OBSERVATIONS
from resources.builds import Builds
from resources.home import Home
from resources.tables import WHOLE, TableStore, read_parquet

_LAST = "last-publish"
_PIN = "pin"
_BASELINE = "baseline"
_ACCEPTED = "accepted"
_NOTHING_READ = "no folder could be read; mend what `kb build` says of them and build again"


@dataclass(frozen=True)
class Verdict:
    """What became of a build."""

    build: str
    is_moved: bool = False
    problems: tuple[str, ...] = ()
    pinned: str = ""  # the build that answers instead because the user said so
    answers: str = ""  # the build that answers now

    @property
    def why_not(self) -> str:
        """Say why the build does not answer; empty when it does."""
        if self.pinned and self.pinned != self.build:
            return f"build {self.pinned[:12]} is pinned; `kb publish --unpin` ends that"
        return "; ".join(self.problems)

    @property
    def what_now(self) -> str:
        """Say in Markdown which build answers, why not the new one, and what to do."""
        if not self.why_not:
            return f"Build `{self.build[:12]}` answers."
        lines = [
            f"Build `{self.build[:12]}` does not answer: {self.why_not}.",
            f"Build `{self.answers[:12]}` goes on answering." if self.answers else "",
        ]
        if self.problems and self.answers:
            lines += [
                f"- See what moved: `kb eval --build {self.build[:12]} --against "
                f"{self.answers[:12]}`",
                "- Mend the cause and build again: `kb build`",
                "- Or let it answer as it is: `kb publish --accept`",
            ]
        return "\n".join(lines)


def run_published(home: Home) -> tuple[Outcome, Verdict]:
    """Judge the last build and let it answer if nothing speaks against it.

    Raises NotBuiltError before the first build.
    """
    with home.leases.hold("build"):
        name = home.record("last-build").get("build", "")
        if not name:
            raise NotBuiltError("There is no build yet. Run `kb build` first.")
        verdict = _publish(home, name)
    counts = {"moved": int(verdict.is_moved), "problems": len(verdict.problems)}
    return Outcome("published", WHOLE, name, 0, not verdict.is_moved, counts), verdict


def last_verdict(home: Home) -> Verdict:
    """Return what became of the last build that was judged."""
    last = home.record(_LAST)
    return Verdict(
        last.get("build", ""),
        problems=tuple(last.get("problems", ())),
        pinned=pinned(home),
        answers=_current(home),
    )


def is_judged(home: Home, name: str) -> bool:
    """Tell whether this build was judged, and answers unless another one is pinned."""
    last = home.record(_LAST)
    if last.get("build") != name or last.get("problems") or last.get("pinned") != pinned(home):
        return False
    return bool(pinned(home)) or _current(home) == name


def is_refused(home: Home, name: str) -> bool:
    """Tell whether this build was judged and kept back."""
    last = home.record(_LAST)
    return last.get("build") == name and bool(last.get("problems"))


def pinned(home: Home) -> str:
    """Return the build the user pinned, or empty text."""
    return str(home.record(_PIN).get("build", ""))


def pin(home: Home, name: str) -> None:
    """Let one build answer until `unpin`. Raises StoreError if a file of it is missing."""
    with home.leases.hold("build"):
        PublishedBuild.open(home.root, name)
        Builds(home.data).publish(name, logged=False)
        home.write_record(_PIN, {"build": name})


def unpin(home: Home) -> tuple[Outcome, Verdict]:
    """Let newer builds answer again, and judge the last one."""
    with home.leases.hold("build"):
        home.write_record(_PIN, {})
    return run_published(home)


def accept(home: Home, name: str) -> tuple[Outcome, Verdict]:
    """Let the last build answer although its scores speak against it."""
    with home.leases.hold("build"):
        home.write_record(_ACCEPTED, {"build": name})
    return run_published(home)


def baseline(home: Home) -> str:
    """Return the last complete build that was published with its scores, or empty text."""
    return str(home.record(_BASELINE).get("build", ""))


def _publish(home: Home, name: str) -> Verdict:
    builds = Builds(home.data)
    manifest = builds.read(name)
    problems = [
        problem
        for folder in manifest["folders"].values()
        for problem in _folder_problems(home.store, folder)
    ]
    if home.folders() and not manifest["folders"]:
        problems.append(_NOTHING_READ)
    fallen = [] if problems else _score_problems(home, builds, name)
    kept = pinned(home)
    is_moved = False
    if not problems and not fallen and kept in ("", name):
        is_complete = bool(builds.report(name).get("is_complete"))
        is_moved = builds.publish(name, logged=is_complete)
    elif fallen and not kept:
        is_moved = _go_back(home, builds, name)
    problems += fallen
    home.write_record(_LAST, {"build": name, "problems": problems, "pinned": kept})
    if not problems and not kept and _is_yardstick(home, builds, name):
        home.write_record(_BASELINE, {"build": name})
    return Verdict(name, is_moved, tuple(problems), kept, _current(home))


def _go_back(home: Home, builds: Builds, fallen: str) -> bool:
    """Leave a build that was published before it could be scored; tell whether readers moved.

    It is the fallen one, or a half of one, with part of what made the whole one fall. Where the
    baseline's files are gone there is nothing to go back to.
    """
    current, before = _current(home), baseline(home)
    if current != fallen and builds.report(current).get("is_complete"):
        return False
    try:
        PublishedBuild.open(home.root, before)
    except StoreError:
        return False
    return builds.publish(before, logged=False)


def _is_yardstick(home: Home, builds: Builds, name: str) -> bool:
    """Tell whether later builds are to be compared with this one.

    Not where the variant that is judged could not be asked and a lesser one stood in for it, for
    an hour without the embedder: the next whole build would be compared with nothing.
    """
    new = builds.report(name).get("evaluation")
    old = builds.report(baseline(home)).get("evaluation")
    if not new or not old:
        return bool(new)
    ranks = {variant: at for at, variant in enumerate(home.settings.evaluation.variants)}
    last = len(ranks)
    return ranks.get(new["variant"], last) <= ranks.get(old["variant"], last)


def _score_problems(home: Home, builds: Builds, name: str) -> list[str]:
    settings = home.settings.publish
    if not settings.gate or home.record(_ACCEPTED).get("build") == name:
        return []
    new = builds.report(name).get("evaluation")
    before = baseline(home)
    old = builds.report(before).get("evaluation") if before not in ("", name) else None
    if not new or not old or new["variant"] != old["variant"]:
        return []
    return score_problems(
        new, old, margin=settings.score_margin, latency_ratio=settings.latency_ratio
    )


def _current(home: Home) -> str:
    try:
        return Builds(home.data).current()
    except (NotBuiltError, StoreError):
        return ""


def _folder_problems(store: TableStore, folder: Mapping[str, Any]) -> list[str]:
    """Judge the very files the manifest names: the present ones may be newer by now."""
    artifacts = folder["artifacts"]

    def read(name: str, columns: list[str]) -> pa.Table:
        return read_parquet(store.root / artifacts[name]["files"]["table"], columns)

    return folder_problems(
        folder["path"],
        read("files", ["path", "is_note", "status"]),
        read("notes", ["version_id", "note_id", "is_current"]),
        read("chunks", ["version_id", "chunk_id", "text_id"]),
        artifacts["keyword_index"]["rows"],
        {
            name: read(name, ["version_id", "chunk_id"])
            for name in OBSERVATIONS
            if name in artifacts
        },
    )
