"""The sensor that scores what a build moved: folder by folder, where questions ask about it.

The scores keep their own account of what they were made from; this only decides when to ask.
"""

import json
from collections.abc import Mapping, Sequence

import dagster as dg

from kb_assets.failures import without_text
from kb_core.errors import KbError, StoreError
from kb_core.folder_names import shown_path
from kb_core.ids import content_id
from kb_core.settings import RefreshSettings
from resources.builds import Builds
from resources.home import Home
from sensors.asking import LastFailure, Request, ask, counted, listed, moved
from sensors.memory import Asked, asked
from sensors.runs import ASKED_BY_TAG, last_failure, partitions_of, under_way
from sensors.wiring import NOT_BUILT, Wiring, is_built

NAME = "after_build"


def after_build(wiring: Wiring, settings: RefreshSettings) -> dg.SensorDefinition:
    """Return the sensor."""

    @dg.sensor(
        name=NAME,
        job=wiring.scores,
        minimum_interval_seconds=settings.every_seconds,
        default_status=(
            dg.DefaultSensorStatus.RUNNING if settings.watch else dg.DefaultSensorStatus.STOPPED
        ),
        description="Scores the folders that a new build moved, by the questions they answer.",
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
    build = str(home.record("last-build")["build"])
    if not Builds(home.data).report(build).get("is_complete"):
        return dg.SkipReason(f"Build {build[:12]} lacks parts; complete builds are scored.")
    now = wiring.clock()
    last, held = read_cursor(context.cursor)
    runs = under_way(context.instance, wiring.is_orphan, now)
    requests, words = decide(
        wiring.folders_to_score(home),
        partitions_of(runs, [wiring.scores.name]),
        held,
        fingerprints=_fingerprints(home, build),
        names=home.folders(),
        job=wiring.scores.name,
        now=now,
        last_failure=lambda job, key, since: last_failure(context.instance, job, key, since),
    )
    return dg.SensorResult(
        run_requests=[_run_request(request, wiring) for request in requests],
        skip_reason=None if requests else listed(words, _nothing(home, last, build)),
        cursor=write_cursor(build, held),
    )


def decide(
    wanted: Sequence[str],
    busy: frozenset[str],
    held: dict[str, Asked],
    *,
    fingerprints: Mapping[str, str],
    names: Mapping[str, str],
    job: str,
    now: float,
    last_failure: LastFailure,
) -> tuple[list[Request], list[str]]:
    """Return the runs to ask for, and what the other folders wait for. Notes them in `held`."""
    for key in sorted(set(held) - set(wanted)):
        del held[key]
    requests, waiting = [], []
    for partition in wanted:
        if partition in busy:
            waiting.append(f"{shown_path(names.get(partition, partition))} is being scored")
            continue
        request, why = ask(
            held,
            partition,
            Request(job, partition),
            situation=content_id(fingerprints.get(partition, ""))[:16],
            now=now,
            last_failure=last_failure,
        )
        requests += [request] if request else []
        if why:
            waiting.append(f"{shown_path(names.get(partition, partition))}: its scores: {why}")
    return requests, waiting


def read_cursor(cursor: str | None) -> tuple[str, dict[str, Asked]]:
    """Return the build that was seen last and what was asked for; nothing if it is unreadable."""
    try:
        values = json.loads(cursor or "")
        return str(values["build"]), asked(values["asked"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", {}


def write_cursor(build: str, held: Mapping[str, Asked]) -> str:
    """Return the cursor's text: one line of JSON."""
    rows = {key: [each.situation, each.times, each.at] for key, each in held.items()}
    return json.dumps({"build": build, "asked": rows}, sort_keys=True, separators=(",", ":"))


def _nothing(home: Home, last: str, build: str) -> str:
    """Say why there is nothing to score: no new build, or no question about what it moved."""
    if last == build:
        return f"No new build since {build[:12]}."
    folders = moved(_fingerprints(home, last), _fingerprints(home, build))
    return (
        f"Build {build[:12]} moved {counted(len(folders), 'folder')}; "
        "no question about them alone is left to ask."
    )


def _fingerprints(home: Home, build: str) -> dict[str, str]:
    """Return each folder's fingerprint in a build; nothing for one that was collected."""
    try:
        folders = Builds(home.data).read(build)["folders"] if build else {}
    except StoreError:
        return {}
    return {key: str(folder["fingerprint"]) for key, folder in folders.items()}


def _run_request(request: Request, wiring: Wiring) -> dg.RunRequest:
    """Make the run request, without a run key: see vault_changes."""
    tags = {**wiring.run_tags(), ASKED_BY_TAG: NAME, "kb/times": str(request.times)}
    return dg.RunRequest(partition_key=request.partition, tags=tags)
