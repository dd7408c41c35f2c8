"""What stages ask a language model, and what they get: from the cache, or for money. No Dagster.

Whatever was answered once is never asked again. What may not be sent, is not approved or cannot be
reached waits and is counted: the stage goes on with what it has.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.workbench import Workbench
from kb_core.errors import KbError, LLMError
from kb_core.folder_names import shown_path
from kb_core.folder_rules import is_listed, is_ruled_private
from kb_core.ids import json_hash
from kb_core.money import Price, price_of
from kb_core.settings import Settings, read_settings
from resources.home import Home
from resources.open_llm import identity_of, is_local, label_of, open_llm
from resources.paid_calls import PaidCalls
from resources.paid_items import Item, PaidOutcome, Purpose, expected_nano
from resources.paid_store import PaidStore, Stored
from resources.spending import MAY_ASK, Plan, permission_of, plan_id

# What every stage reports of asking, on every run: the page plots them.
COUNTS = (
    *("asked", "answered", "from_paid_cache", "waiting", "barred", "failed_requests"),
    *("estimated_nano", "billed_nano"),
)
_NO_FAULT = ("", "ceiling", "time")  # why asking ended where nothing went wrong


class Reader(NamedTuple):
    """The language model that a home's settings name, without opening it."""

    label: str
    identity: str
    is_local: bool
    price: Price | None  # None: it runs on this machine and costs nothing


@dataclass(frozen=True)
class Work:
    """What one stage asks of one folder's notes."""

    stage: str
    version: str  # of the prompt
    items: tuple[Item, ...] = ()  # each once, the most wanted first; only what may be sent
    barred: int = 0  # what may not be sent


@dataclass(frozen=True)
class Done:
    """What came of it."""

    answers: Mapping[str, Stored] = field(default_factory=dict)  # by the key of what was asked
    failed: Mapping[str, str] = field(default_factory=dict)  # request key -> reason
    counts: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    problem: str = ""  # why it ended before its end, one sentence


def paid_file(home: Home) -> Path:
    """Return where a home's paid answers, approvals and ledger are kept."""
    return home.data / "cache" / "paid.sqlite"


def reader_of(home: Home) -> tuple[Reader | None, str]:
    """Return the model that reads this home's notes, or why there is none; rules need no reason."""
    settings = home.settings
    if settings.llm.engine == "rules":
        return None, ""
    try:
        is_here = is_local(settings.llm)
        price = None if is_here else price_of(settings.llm.model, settings.prices)
        return Reader(label_of(settings.llm), identity_of(settings.llm), is_here, price), ""
    except KbError as problem:
        return None, str(problem)


def may_be_sent(home: Home, chunks: pa.Table, reader: Reader) -> list[bool]:
    """Tell for each chunk whether the reader may be sent it, by the rules as they are now.

    A note that is closed closes what it said before. A model on this machine is sent everything.
    """
    if reader.is_local:
        return [True] * chunks.num_rows
    settings = _rules_of_now(home)
    rows = chunks.select(["note_id", "is_current", "may_leave"]).to_pylist()
    closed = {row["note_id"] for row in rows if row["is_current"] and not row["may_leave"]}
    notes = {row["note_id"] for row in rows}
    open_now = {note for note in notes if note not in closed and _is_open(note, settings)}
    return [row["may_leave"] and row["note_id"] in open_now for row in rows]


def distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return each request once, where it first stands."""
    return tuple({item.request.key: item for item in items}.values())


def ask(bench: Workbench, partition: str, reader: Reader, work: Work) -> Done:
    """Return every answer there is, asking for the others where that may be done now."""
    home = bench.home
    with PaidStore(paid_file(home)) as store:
        missing = unanswered(store, work.items)
        made, problem = None, ""
        if missing and bench.may_pay:
            made, problem = _pay(bench, partition, reader, work, missing, store)
        parts = [part for item in work.items for part in item.parts]
        answers = store.answers(parts)
        failed = store.failures([item.request.key for item in work.items])
        left = unanswered(store, work.items)
    counts = _counts(work, missing, left, failed, made)
    return Done(answers, failed, counts, problem)


def unanswered(store: PaidStore, items: Sequence[Item]) -> list[Item]:
    """Return what was never answered, in order; what failed for good is not asked again."""
    known = store.answers([part for item in items for part in item.parts])
    failed = store.failures([item.request.key for item in items])
    return [
        item
        for item in items
        if item.request.key not in failed and any(part not in known for part in item.parts)
    ]


def plan_of(
    home: Home, partition: str, reader: Reader, work: Work, missing: Sequence[Item]
) -> Plan:
    """Return what carrying out the rest of a stage would cost, under the name it is approved by."""
    keys = tuple(sorted(item.request.key for item in missing))
    is_batch = is_sent_in_batches(home, partition, reader)
    return Plan(
        plan_id=plan_id(partition, work.stage, reader.identity, work.version, keys),
        folder=partition,
        stage=work.stage,
        label=reader.label,
        keys=keys,
        cost_nano=expected_nano(missing, reader.price, is_batch=is_batch),
        is_local=reader.is_local,
    )


def is_sent_in_batches(home: Home, partition: str, reader: Reader) -> bool:
    """Tell whether the user chose the cheaper and slower way for a folder."""
    folder = home.folders().get(partition, "")
    return (
        not reader.is_local
        and f"{folder}/" != "/"
        and is_listed(f"{folder}/note.md", home.settings.llm.batch)
    )


def _pay(
    bench: Workbench,
    partition: str,
    reader: Reader,
    work: Work,
    missing: Sequence[Item],
    store: PaidStore,
) -> tuple[PaidOutcome | None, str]:
    home = bench.home
    plan = plan_of(home, partition, reader, work, missing)
    # Worked out anew: what somebody decided since, or another folder spent, counts.
    permission = permission_of(store, plan, home.settings.limits, time.time())
    if permission.state not in MAY_ASK:
        return None, ""  # waiting is not failing
    folder = shown_path(home.folders().get(partition, partition))
    try:
        model = open_llm(home.settings.llm)
    except LLMError as problem:
        return None, str(problem)
    if model is None:
        return None, ""
    settings = home.settings
    with PaidCalls(store, model, reader.price, settings.limits, settings.llm) as calls:
        outcome = calls.run(
            missing,
            Purpose(partition, work.stage, plan.plan_id),
            permission,
            is_batch=is_sent_in_batches(home, partition, reader),
            deadline=bench.is_time_up,
            progress=lambda done, total: bench.progress(f"{work.stage} of {folder}", done, total),
        )
    return outcome, "" if outcome.stop_kind in _NO_FAULT else outcome.stopped_by


def _counts(
    work: Work,
    missing: Sequence[Item],
    left: Sequence[Item],
    failed: Mapping[str, str],
    made: PaidOutcome | None,
) -> dict[str, float]:
    return {
        "asked": made.asked if made else 0,
        "answered": len(work.items) - len(left) - len(failed),
        "from_paid_cache": len(work.items) - len(missing),
        "waiting": len(left),
        "barred": work.barred,
        "failed_requests": len(failed),
        "estimated_nano": made.estimated_nano if made else 0,
        "billed_nano": made.billed_nano if made else 0,
    }


def _rules_of_now(home: Home) -> Settings:
    """Read kb.toml again: what it closes holds at once, however long this process runs."""
    return read_settings(home.root)


def _is_open(note_id: str, settings: Settings) -> bool:
    is_open = is_listed(note_id, settings.egress.allow)
    return is_open and not is_ruled_private(note_id, settings.folders)


def reader_inputs(reader: Reader | None, version: str) -> dict[str, str]:
    """Return what a table hangs on besides its notes: who reads them, asked in what way."""
    named: Any = [reader.identity, version] if reader else []
    return {"reader": json_hash(named)}
