"""Bring a home up to date: words first, then vectors folder by folder, publishing on the way.

Every step is a real Dagster run in this process, so it stands in the page's history and lineage.
Safe to stop anywhere and to repeat: each stage keeps what it finished and does no work twice.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import dagster as dg

from eval_assets.evaluation import is_fresh as evaluation_is_fresh
from eval_assets.folder_scores import folders_to_score
from kb_assets.build.publish import pinned
from kb_assets.build.run import was_refused
from kb_assets.choices import read_choices
from kb_assets.embedder_choice import open_for
from kb_assets.embeddings.run import is_fresh as vectors_are_fresh
from kb_assets.embeddings.run import is_lagging
from kb_assets.freshness import vault_is_fresh, words_are_fresh
from kb_assets.gate import Standing, standing
from kb_assets.lines.run import is_fresh as lines_are_fresh
from kb_assets.placeholders.listing import begin_listing
from kb_assets.workbench import Workbench
from kb_core.errors import (
    EmbedderError,
    EmbedderMissingError,
    KbError,
    NotBuiltError,
)
from kb_core.folder_names import folder_path, shown_path
from kb_serve.build_order import folders_to_build
from kb_serve.build_summary import Summary
from kb_serve.coverage import folder_rows
from kb_serve.dagster_instance import open_instance, register
from kb_serve.definitions import (
    LINES,
    PAID,
    PUBLISH,
    SCORES,
    VAULT,
    VECTORS,
    WORDS,
    make_definitions,
)
from kb_serve.newest import newest_first
from kb_serve.orphan_runs import run_tags
from kb_serve.output import visible
from kb_serve.paid_reading import have_read
from kb_serve.run_events import counts_of, failures_of, notes_of, was_interrupted
from kb_serve.vector_time import how_long, refuse_other_embedder
from resources.builds import Builds
from resources.embedder import Embedder
from resources.home import Home

# The first folder is published at once, so that searching can begin; later ones at intervals,
# because each publishing is a run of about half a second.
_PUBLISH_EVERY_SECONDS = 10.0
_QUICK_SECONDS = 10.0
_COVERAGE = ("files", "indexed", "skipped", "failed")
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

Say = Callable[[str], None]


class Builder:
    """One `kb build`."""

    def __init__(
        self, bench: Workbench, say: Say, *, folders: Sequence[str] = (), migrate: bool = False
    ) -> None:
        self._bench = replace(bench, is_time_up=self._is_time_up)
        self._is_box_full = bench.is_time_up
        self._quick_until: float | None = None
        self._home: Home = bench.home
        self._say = say
        self._wanted = folders
        self._migrate = migrate
        self._definitions = make_definitions(self._bench)
        self._start = time.monotonic()
        self._published_at: float | None = None
        self._before = ""  # the build that answered when this one began
        self.summary = Summary()

    def run(self) -> Summary:
        """Build and publish. Raises VaultError, HomeError; a folder's error is in the summary."""
        choices = read_choices(self._home, migrate=self._migrate)
        refuse_other_embedder(self._home, choices.embedder)
        self._before = self._current()
        self._begin()
        with open_instance(self._home) as instance:
            register(instance, self._home)
            partitions = folders_to_build(self._home, self._wanted)
            self._words(instance, partitions)
            if not self._is_published():
                self._job(instance, VAULT)
            self._note_published("words_seconds")
            self._paid(instance, partitions)
            self._vectors(instance, partitions)
            self._publish_rest(instance)
            self._scores(instance)
        return self._finish()

    def plan(self) -> list[Standing]:
        """Read what changed, send nothing, and return what language models have still to answer."""
        read_choices(self._home)
        self._begin()
        with open_instance(self._home) as instance:
            register(instance, self._home)
            partitions = folders_to_build(self._home, self._wanted)
            for partition in partitions:
                if not self._has_fresh_words(partition):
                    self.summary.counts.update(self._job(instance, WORDS, partition))
        return standing(self._home, partitions)

    def _begin(self) -> None:
        only = [folder_path(folder) for folder in self._wanted] or None
        begin_listing(self._home, self._bench.started, only)

    def _words(self, instance: dg.DagsterInstance, partitions: Sequence[str]) -> None:
        for number, partition in enumerate(partitions, start=1):
            name = self._name(partition)
            if self._has_fresh_words(partition):
                self._keep_vectors(instance, partition)
                continue
            counts = self._job(instance, WORDS, partition)
            self.summary.counts.update(counts)
            self._keep_vectors(instance, partition)
            if counts["new_versions"] or counts["gone"]:
                self._say(f"  words: {number} of {len(partitions)} folders ({name})")
            # What answers already goes on until all words are there: half a refresh is no build.
            is_first = not self._before and number < len(partitions)
            if is_first and self._is_time_to_publish():
                self._job(instance, PUBLISH)
                self._note_published("first_words_seconds")

    def _paid(self, instance: dg.DagsterInstance, partitions: Sequence[str]) -> None:
        is_asked = have_read(
            self._home,
            partitions,
            self.summary,
            ask=lambda partition: self._job(instance, PAID, partition),
            name=self._name,
            say=self._say,
            is_time_up=self._is_time_up,
        )
        if is_asked and not self._is_published():
            self._job(instance, VAULT)

    def _vectors(self, instance: dg.DagsterInstance, partitions: Sequence[str]) -> None:
        embedder, problem = open_for(self._home)
        if problem:
            self._no_vectors(problem)
        waiting = [
            partition
            for partition in newest_first(self._home, partitions)
            if not vectors_are_fresh(self._home, partition, embedder)
        ]
        try:
            if embedder and not self._is_time_up():
                self._tell(how_long(self._home, waiting, embedder))
        except EmbedderError as damaged:
            self._no_vectors(damaged)
            return
        for partition in waiting:
            if self._is_time_up() and not is_lagging(self._home, partition):
                continue
            counts = self._job(instance, VECTORS, partition)
            self.summary.counts.update(counts)
            if embedder and counts["pending"] and not self._is_time_up():
                error = {"folder": self._name(partition), "job": VECTORS}
                self.summary.errors.append({**error, "message": self.summary.note})
            if self._is_time_to_publish():
                self._job(instance, PUBLISH)
                self._published_at = time.monotonic()
        self._lines(instance, embedder)

    def _tell(self, words: str) -> None:
        if words:
            self._say(words)

    def _lines(self, instance: dg.DagsterInstance, embedder: Embedder | None) -> None:
        """Make the vectors of links and claims, or bring along those that were made before."""
        if not lines_are_fresh(self._home, embedder):
            self._job(instance, LINES)

    def _publish_rest(self, instance: dg.DagsterInstance) -> None:
        """Publish what was made since; what was kept back a moment ago would be kept back again."""
        if not self._is_published() and not was_refused(self._home):
            self._job(instance, PUBLISH)

    def _scores(self, instance: dg.DagsterInstance) -> None:
        """Score the folders that moved, each by the questions it answers alone."""
        try:
            folders = folders_to_score(self._home)
        except KbError as problem:
            error = {"folder": "questions", "job": SCORES, "message": str(problem)}
            self.summary.errors.append(error)
            return
        for number, partition in enumerate(folders, start=1):
            self._job(instance, SCORES, partition)
            self._say(f"  scores: {number} of {len(folders)} folders ({self._name(partition)})")

    def _is_published(self) -> bool:
        return vault_is_fresh(self._home) and evaluation_is_fresh(self._home)

    def _no_vectors(self, problem: EmbedderError) -> None:
        """Say why; what is not installed or switched off is a choice, the rest is a failure."""
        self.summary.note = f"No new vectors: {problem}"
        if not isinstance(problem, EmbedderMissingError):
            error = {"folder": "vault", "job": VECTORS, "message": str(problem)}
            self.summary.errors.append(error)

    def _keep_vectors(self, instance: dg.DagsterInstance, partition: str) -> None:
        """Bring the vectors of a folder along that lag behind, so that publishing keeps them.

        New passages are embedded here only while that takes a few seconds.
        """
        if not is_lagging(self._home, partition):
            return
        self._quick_until = time.monotonic() + _QUICK_SECONDS
        self.summary.counts.update(self._job(instance, VECTORS, partition))
        self._quick_until = None

    def _is_time_up(self) -> bool:
        is_late = self._quick_until is not None and time.monotonic() >= self._quick_until
        return is_late or self._is_box_full()

    def _has_fresh_words(self, partition: str) -> bool:
        """Look before starting a run; whatever goes wrong here goes wrong in the run, and tells."""
        try:
            return words_are_fresh(self._home, partition, self._bench.started)
        except KbError:
            return False

    def _job(
        self, instance: dg.DagsterInstance, job: str, partition: str | None = None
    ) -> Counter[str]:
        """Run one job in this process; return its assets' counts, note its errors."""
        result = self._definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            partition_key=partition,
            run_config=_QUIET,
            raise_on_error=False,
            tags=run_tags(),
        )
        if was_interrupted(result):
            raise KeyboardInterrupt
        for message in failures_of(result):
            where = self._name(partition) if partition else "vault"
            self.summary.errors.append({"folder": where, "job": job, "message": message})
            self._say(f"  {where}: {message}")
        notes = notes_of(result)
        if job == VECTORS and notes:
            self.summary.note = notes[-1]
        if job == PAID:
            where = self._name(partition or "")
            found = [
                {"folder": where, "job": job, "message": each} for each in dict.fromkeys(notes)
            ]
            self.summary.errors += found
        return counts_of(result)

    def _name(self, partition: str) -> str:
        return visible(shown_path(self._home.folders().get(partition, partition)))

    def _current(self) -> str:
        try:
            return Builds(self._home.data).current()
        except NotBuiltError:
            return ""

    def _is_time_to_publish(self) -> bool:
        last = self._published_at
        return last is None or time.monotonic() - last >= _PUBLISH_EVERY_SECONDS

    def _note_published(self, figure: str) -> None:
        self._published_at = time.monotonic()
        if getattr(self.summary, figure) is None:
            setattr(self.summary, figure, round(self._published_at - self._start, 2))

    def _finish(self) -> Summary:
        summary = self.summary
        summary.build = self._current()
        summary.is_changed = summary.build != self._before
        summary.report = Builds(self._home.data).report(summary.build) if summary.build else {}
        summary.pinned = pinned(self._home)
        problems = self._home.record("last-publish").get("problems", [])
        summary.errors += [{"folder": "", "job": "published", "message": p} for p in problems]
        for row in folder_rows(self._home):
            summary.files.update({name: row[name] for name in _COVERAGE})
        summary.seconds = time.monotonic() - self._start
        if summary.first_words_seconds is None:
            summary.first_words_seconds = summary.words_seconds
        return summary
