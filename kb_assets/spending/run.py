"""Count what a folder's language model has not answered yet, and price it. Sends nothing.

It stands last among the stages it counts for: what they left is what is planned. Safe to repeat.
"""

from collections.abc import Iterator
from typing import Any

from kb_assets.asking import work as works
from kb_assets.asking.work import AskedConversations
from kb_assets.outcome import Outcome, outcome
from kb_assets.paid_work import (
    Reader,
    Work,
    is_sent_in_batches,
    paid_file,
    plan_of,
    reader_of,
    unanswered,
)
from kb_core.money import DOLLAR
from kb_core.ontology import Ontology, home_ontology
from kb_core.reading_contracts import SPENDING_PLAN
from resources.home import Home
from resources.paid_items import estimate
from resources.paid_store import PaidStore

STAGE = "spending_plan"
VERSION = "1"


def run(home: Home, partition: str) -> tuple[Outcome, str]:
    """Write what is left to ask; also return why no model can be asked, or empty text."""
    reader, problem = reader_of(home)
    rows = list(_rows(home, partition, reader)) if reader else []
    before = home.store.pointer(STAGE, partition)
    with home.leases.hold(f"{STAGE}/{partition}"):
        # Whatever was written before: answers, limits and approvals are no tables.
        pointer = home.store.write(
            STAGE, SPENDING_PLAN.table(rows), partition=partition, inputs={}, code_version=VERSION
        )
    is_same = before is not None and before.hash == pointer.hash
    return outcome(STAGE, partition, [pointer], is_cached=is_same, counts=_counts(rows)), problem


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether the folder has a plan, of this code: it is cheap, and made with every run."""
    return home.store.holds(STAGE, partition, {}, VERSION) is not None


def _rows(home: Home, partition: str, reader: Reader) -> Iterator[dict[str, Any]]:
    if home.store.pointer("chunks", partition) is None:
        return
    with PaidStore(paid_file(home)) as store:
        for work in _works(home, partition, reader, store):
            yield _row(home, partition, reader, work, store)


def _works(home: Home, partition: str, reader: Reader, store: PaidStore) -> Iterator[Work]:
    chunks = home.store.read("chunks", partition)
    conversations: AskedConversations = works.of_conversations(home, chunks, reader)
    yield conversations.work
    ontology: Ontology = home_ontology(home.data)
    left: set[str] = set()
    if home.store.pointer("triage", partition):
        triage = home.store.read("triage", partition, ["version_id", "is_kept"]).to_pylist()
        left = {row["version_id"] for row in triage if not row["is_kept"]}
    yield works.of_chunks(home, chunks, left, reader, ontology).work
    if home.store.pointer("link_observations", partition):
        links = home.store.read("link_observations", partition)
        yield works.of_links(home, chunks, links, reader, ontology, store).work


def _row(
    home: Home, partition: str, reader: Reader, work: Work, store: PaidStore
) -> dict[str, Any]:
    missing = unanswered(store, work.items)
    plan = plan_of(home, partition, reader, work, missing)
    outputs = [min(item.expected_output, item.request.max_tokens) for item in missing]
    tokens = sum(estimate(item, reader.price).tokens for item in missing)
    failed = store.failures([item.request.key for item in work.items])
    return {
        "stage": work.stage,
        "plan_id": plan.plan_id if missing else "",
        "label": reader.label,
        "items": len(missing),
        "answered": len(work.items) - len(missing) - len(failed),
        "barred": work.barred,
        "unusable": len(failed),
        "input_tokens": tokens - sum(outputs),
        "output_tokens": sum(outputs),
        "cost_nano": plan.cost_nano,
        "is_batch": is_sent_in_batches(home, partition, reader),
        "is_local": reader.is_local,
        "keys": list(plan.keys),
    }


def _counts(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {
        "requests_left": sum(row["items"] for row in rows),
        "requests_answered": sum(row["answered"] for row in rows),
        "may_not_be_sent": sum(row["barred"] for row in rows),
        "estimated_usd": sum(row["cost_nano"] for row in rows) / DOLLAR,
    }
