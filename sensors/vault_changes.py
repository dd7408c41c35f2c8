"""The sensor that follows the vault: one sweep a tick, runs for changed folders alone.

It opens no file unless something moved, asks for no run that would find nothing to do, and never
fails: what stands in its way is its skip reason.
"""

import datetime as dt
import time
from collections.abc import Mapping, Sequence

import dagster as dg

from kb_assets.build.run import was_refused
from kb_assets.embedder_choice import open_for
from kb_assets.embeddings.run import is_fresh as vectors_are_fresh
from kb_assets.failures import without_text
from kb_assets.freshness import code_version, vault_is_fresh, words_are_fresh, words_follow
from kb_assets.lines.run import is_finished as lines_are_finished
from kb_assets.lines.run import is_fresh as lines_are_fresh
from kb_assets.partitions import FOLDERS
from kb_assets.placeholders.listing import folders_of, register_vault
from kb_core.errors import EmbedderMissingError, KbError
from kb_core.ids import content_id, json_hash
from kb_core.settings import RefreshSettings
from kb_search.knowledge_index import INDEX
from kb_search.line_vectors import LINES
from resources.home import Home
from resources.vault import Entry, LocalVault
from sensors.asking import Request
from sensors.changes import Busy, Names, Tick, decide
from sensors.memory import Memory
from sensors.runs import ASKED_BY_TAG, last_failure, partitions_of, under_way
from sensors.sweep import sights
from sensors.wiring import NOT_BUILT, TIME_BOX_TAG, Wiring, is_built

NAME = "vault_changes"
_LOOK_SECONDS = 20.0  # then what is left waits for the next tick
_BUILDING = "`kb build` is under way: it reads what changed."
_PRIORITY = "dagster/priority"


def vault_changes(wiring: Wiring, settings: RefreshSettings) -> dg.SensorDefinition:
    """Return the sensor."""

    @dg.sensor(
        name=NAME,
        jobs=[wiring.words, wiring.vectors, wiring.lines, wiring.vault],
        minimum_interval_seconds=settings.every_seconds,
        default_status=(
            dg.DefaultSensorStatus.RUNNING if settings.watch else dg.DefaultSensorStatus.STOPPED
        ),
        description="Reads the folders that changed, and only those. A tick that asks for nothing "
        "says what it waits for.",
    )
    @without_text
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            return _tick(context, wiring)
        except (KbError, OSError) as problem:
            return dg.SkipReason(str(problem))

    return sensor


def _tick(context: dg.SensorEvaluationContext, wiring: Wiring) -> dg.SensorResult | dg.SkipReason:
    home = wiring.open_bench().home
    if not is_built(home):
        return dg.SkipReason(NOT_BUILT)
    now = wiring.clock()
    entries = _sweep(home)
    runs = under_way(context.instance, wiring.is_orphan, now)
    if _is_building(runs, wiring):
        return dg.SkipReason(_BUILDING)
    tick = _look_around(context, wiring, home, entries, runs, now)
    words = decide(tick)
    for each in tick.waiting if tick.requests else ():
        context.log.info(each)
    return dg.SensorResult(
        run_requests=[_run_request(request, wiring, home) for request in tick.requests],
        skip_reason=None if tick.requests else words,
        dynamic_partitions_requests=_new_partitions(context.instance, home),
        cursor=tick.memory.write(),
    )


def _look_around(
    context: dg.SensorEvaluationContext,
    wiring: Wiring,
    home: Home,
    entries: Sequence[Entry],
    runs: Sequence[dg.DagsterRun],
    now: float,
) -> Tick:
    deadline = time.monotonic() + _LOOK_SECONDS
    return Tick(
        now=now,
        quiet_seconds=home.settings.refresh.quiet_seconds,
        memory=Memory.read(context.cursor),
        sights=sights(entries, home.folders(), home.settings.vault.folder_depth, now),
        circumstances=_circumstances(home),
        doors=_HomeDoors(home, wiring, now),
        busy=Busy(
            words=partitions_of(runs, [wiring.words.name]),
            vectors=partitions_of(runs, [wiring.vectors.name]),
            is_lines=any(run.job_name == wiring.lines.name for run in runs),
            is_vault=any(
                "dagster/partition" not in run.tags and run.job_name != wiring.lines.name
                for run in runs
            ),
        ),
        last_failure=lambda job, key, since: last_failure(context.instance, job, key, since),
        is_time_up=lambda: time.monotonic() >= deadline,
        names=Names(wiring.words.name, wiring.vectors.name, wiring.vault.name, wiring.lines.name),
    )


def _sweep(home: Home) -> Sequence[Entry]:
    """List the vault; register it anew only when it holds a folder that is not known.

    Raises VaultError when it is missing or empty, HomeError when it is another one.
    """
    vault, depth = LocalVault(home.vault_path, home.settings.vault), home.settings.vault
    is_known = home.record("home").get("vault") == str(home.vault_path)
    entries = vault.list() if is_known else []
    is_whole = any(entry.is_note for entry in entries)
    if is_whole and set(folders_of(entries, depth.folder_depth)) <= set(home.folders()):
        return entries
    return register_vault(home)


def _circumstances(home: Home) -> Mapping[str, str]:
    """Return what a folder's run hangs on besides its files: settings, code, approved losses."""
    settings = json_hash(home.settings.model_dump(mode="json", exclude={"refresh", "alerts"}))
    shared = content_id(settings, code_version())
    approved = home.record("approved-deletions")
    return {key: content_id(shared, str(approved.get(key, ""))) for key in home.folders()}


def _is_building(runs: Sequence[dg.DagsterRun], wiring: Wiring) -> bool:
    """Tell whether `kb build` reads folders now: its runs carry its process and no asker."""
    mark = set(wiring.run_tags())
    return any(
        mark <= set(run.tags)
        and ASKED_BY_TAG not in run.tags
        and run.job_name in (wiring.words.name, wiring.vault.name)
        for run in runs
    )


def _run_request(request: Request, wiring: Wiring, home: Home) -> dg.RunRequest:
    """Make the run request. It has no run key: one that was used once would swallow the next."""
    tags = {**wiring.run_tags(), ASKED_BY_TAG: NAME, "kb/times": str(request.times)}
    if request.job in (wiring.vectors.name, wiring.lines.name):
        tags[TIME_BOX_TAG] = f"{home.settings.refresh.vector_minutes:g}"
    else:
        tags[_PRIORITY] = "10"  # words before what was queued for vectors and scores
    return dg.RunRequest(partition_key=request.partition, job_name=request.job, tags=tags)


def _new_partitions(
    instance: dg.DagsterInstance, home: Home
) -> list[dg.AddDynamicPartitionsRequest]:
    known = set(instance.get_dynamic_partitions(FOLDERS.name or "folder"))
    new = [key for key in sorted(home.folders()) if key not in known]
    return [FOLDERS.build_add_request(new)] if new else []


class _HomeDoors:
    """What the home knows of itself; see sensors.changes.Doors."""

    def __init__(self, home: Home, wiring: Wiring, now: float) -> None:
        self._home = home
        self._wiring = wiring
        self._now = dt.datetime.fromtimestamp(now, dt.UTC)

    def follows(self, partition: str) -> bool:
        """See Doors. What cannot be told is looked at."""
        try:
            return words_follow(self._home, partition)
        except KbError:
            return False

    def is_fresh(self, partition: str) -> bool:
        """See Doors."""
        return words_are_fresh(self._home, partition, self._now)

    def without_vectors(self, partitions: Sequence[str]) -> list[str]:
        """See Doors. Opens an embedder only if a folder's vectors look unfinished."""
        open_ones = [key for key in partitions if not self._has_all_vectors(key)]
        if not open_ones:
            return []
        embedder, missing = open_for(self._home)
        wanted = [key for key in open_ones if not vectors_are_fresh(self._home, key, embedder)]
        if missing and not wanted and not isinstance(missing, EmbedderMissingError):
            raise missing  # it may be over soon; what is not installed is a choice
        return wanted

    def vectors_state(self, partition: str) -> str:
        """See Doors: progress is another state, so that a time box is no failure."""
        store = self._home.store
        chunks, vectors = (store.pointer(name, partition) for name in ("chunks", "vectors"))
        return f"{chunks.hash if chunks else ''} {vectors.hash if vectors else ''}"

    def lines_are_behind(self) -> bool:
        """See Doors. Opens an embedder only if the lines' vectors look unfinished."""
        if lines_are_finished(self._home):
            return False
        embedder, _ = open_for(self._home)
        return not lines_are_fresh(self._home, embedder)

    def lines_state(self) -> str:
        """See Doors: progress is another state."""
        found = (self._home.store.pointer(name) for name in (INDEX, LINES))
        return " ".join(pointer.hash if pointer else "" for pointer in found)

    def vault_is_behind(self) -> bool:
        """See Doors. A build that was judged and kept back is not behind."""
        home = self._home
        is_current = vault_is_fresh(home) and not self._wiring.scores_are_behind(home)
        return not is_current and not was_refused(home)

    def _has_all_vectors(self, partition: str) -> bool:
        store = self._home.store
        chunks, vectors = (store.pointer(name, partition) for name in ("chunks", "vectors"))
        return (
            chunks is not None
            and vectors is not None
            and vectors.inputs.get("chunks") == chunks.hash
            and bool(vectors.meta.get("is_finished"))
            and store.is_whole(vectors)
        )
