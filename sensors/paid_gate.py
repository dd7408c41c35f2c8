"""The sensor that has folders read by a language model: those that are affordable or approved.

It decides nothing about money: it asks for the run of a folder whose plan may be carried out, and
the run works everything out again. What waits is said with folder, dollars and plan.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

import dagster as dg

from kb_assets.failures import without_text
from kb_assets.gate import Standing, standing
from kb_core.errors import KbError
from kb_core.ids import content_id
from kb_core.settings import RefreshSettings
from sensors.asking import LastFailure, Request, ask, counted, listed
from sensors.memory import Asked, asked
from sensors.runs import ASKED_BY_TAG, last_failure, partitions_of, under_way
from sensors.wiring import NOT_BUILT, TIME_BOX_TAG, Wiring, is_built

NAME = "paid_gate"
_NOTHING = "Nothing waits for a language model."


def paid_gate(wiring: Wiring, settings: RefreshSettings) -> dg.SensorDefinition:
    """Return the sensor."""

    @dg.sensor(
        name=NAME,
        job=wiring.paid,
        minimum_interval_seconds=settings.every_seconds,
        default_status=(
            dg.DefaultSensorStatus.RUNNING if settings.watch else dg.DefaultSensorStatus.STOPPED
        ),
        description="Has folders read by the language model, as far as that is affordable or "
        "approved. A tick that asks for nothing says what waits, for how much.",
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
    held = _read_cursor(context.cursor)
    runs = under_way(context.instance, wiring.is_orphan, now)
    requests, words = decide(
        standing(home),
        partitions_of(runs, [wiring.paid.name, wiring.words.name]),
        held,
        job=wiring.paid.name,
        now=now,
        last_failure=lambda job, key, since: last_failure(context.instance, job, key, since),
    )
    for each in words if requests else ():
        context.log.info(each)
    return dg.SensorResult(
        run_requests=[
            _run_request(request, wiring, settings=home.settings.refresh) for request in requests
        ],
        skip_reason=None if requests else listed(words, _NOTHING),
        cursor=_write_cursor(held),
    )


def decide(
    plans: Sequence[Standing],
    busy: frozenset[str],
    held: dict[str, Asked],
    *,
    job: str,
    now: float,
    last_failure: LastFailure,
) -> tuple[list[Request], list[str]]:
    """Return the runs to ask for, and what the other folders wait for. Notes them in `held`."""
    requests: list[Request] = []
    words = [waiting_words(each) for each in plans if not each.is_due]
    due: dict[str, list[Standing]] = defaultdict(list)
    for each in plans:
        if each.is_due:
            due[each.plan.folder].append(each)
    for key in sorted(set(held) - set(due)):
        del held[key]
    for partition, mine in due.items():
        if partition in busy:
            words.append(f"{mine[0].folder} is being read")
            continue
        situation = content_id(*(f"{each.plan.plan_id} {each.permission.state}" for each in mine))
        request, why = ask(
            held,
            partition,
            Request(job, partition),
            situation=situation[:16],
            now=now,
            last_failure=last_failure,
        )
        requests += [request] if request else []
        if why:
            words.append(f"{mine[0].folder}: {why}")
    return requests, words


def waiting_words(waiting: Standing) -> str:
    """Say what waits: folder, stage, how much, the plan, and why."""
    plan = waiting.plan
    return (
        f"{waiting.folder} ({counted(waiting.items, 'request')}, plan {plan.plan_id[:8]}): "
        f"{waiting.permission.why}"
    )


def _run_request(request: Request, wiring: Wiring, *, settings: RefreshSettings) -> dg.RunRequest:
    """Make the run request, without a run key: see vault_changes."""
    tags = {
        **wiring.run_tags(),
        ASKED_BY_TAG: NAME,
        "kb/times": str(request.times),
        TIME_BOX_TAG: f"{settings.reading_minutes:g}",
    }
    return dg.RunRequest(partition_key=request.partition, job_name=request.job, tags=tags)


def _read_cursor(cursor: str | None) -> dict[str, Asked]:
    """Return what was asked for; nothing if it is unreadable: the plans are looked at anew."""
    try:
        return asked(json.loads(cursor or "")["asked"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _write_cursor(held: Mapping[str, Asked]) -> str:
    rows = {key: [each.situation, each.times, each.at] for key, each in held.items()}
    return json.dumps({"asked": rows}, sort_keys=True, separators=(",", ":"))
