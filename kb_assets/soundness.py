"""Is what a folder holds complete and whole? Asked by the page's checks; reads tables alone.

Every answer says how bad it is, what to do, and counts: never a name or a text of a note.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.build.publish import last_verdict
from kb_assets.gate import standing
from kb_core.contracts import CONTRACTS
from kb_core.errors import ContractError, StoreError
from kb_core.money import DOLLAR, dollars
from resources.history import History
from resources.home import Home

_CHECKED = (
    "files",
    "notes",
    "note_links_raw",
    "note_tags",
    "findings",
    "chunks",
    "passages",
    "mentions",
    "link_observations",
    "claim_observations",
    "triage",
    "readings",
    "retyped",
    "type_proposals",
    "spending_plan",
)
STALE_AFTER = dt.timedelta(days=8)  # a weekly sweep that was missed


@dataclass(frozen=True)
class Finding:
    """What a check found. Not passed and not an error: somebody may act on it when they like."""

    is_passed: bool
    is_error: bool = False
    what_now: str = "nothing to do"
    counts: Mapping[str, float] = field(default_factory=dict)


def files_are_accounted_for(home: Home, partition: str) -> Finding:
    """Tell whether indexed + skipped + failed is the number of files, and nothing failed."""
    if home.store.pointer("files", partition) is None:
        return _unread()
    files = home.store.read("files", partition, ["path", "status"])
    status = Counter(files["status"].to_pylist())
    readable = files.filter(pc.equal(files["status"], "readable"))["path"]
    indexed = pc.sum(pc.is_in(readable, value_set=_current_notes(home, partition))).as_py() or 0
    counts = {
        "files": files.num_rows,
        "indexed": indexed,
        "skipped": status["skipped"],
        "failed": status["failed"],
    }
    if indexed + status["skipped"] + status["failed"] != files.num_rows:
        return Finding(False, True, "`kb build` reads the folder again", counts)
    if status["failed"]:
        return Finding(False, False, "`kb check` lists what cannot be read, and why", counts)
    return Finding(True, counts=counts)


def tables_keep_their_contracts(home: Home, partition: str) -> Finding:
    """Read each table of a folder whole and hold it against its contract."""
    broken = rows = 0
    for name in _CHECKED:
        if home.store.pointer(name, partition) is None:
            continue
        try:
            rows += CONTRACTS[name].check(home.store.read(name, partition)).num_rows
        except (ContractError, StoreError):
            broken += 1
    counts = {"rows": rows, "broken_tables": broken}
    if broken:
        return Finding(False, True, "`kb verify --mend`, then `kb build`", counts)
    return Finding(True, counts=counts)


def vectors_are_complete(home: Home, partition: str) -> Finding:
    """Tell whether every text of a folder has its vectors."""
    words, vectors = (home.store.pointer(name, partition) for name in ("keyword_index", "vectors"))
    if words is None:
        return _unread()
    pending = words.rows - (vectors.rows if vectors else 0)
    counts = {"texts": words.rows, "without_vectors": pending}
    if pending and home.settings.embedder.engine != "none":
        return Finding(False, False, "`kb build` goes on with the vectors", counts)
    return Finding(True, counts=counts)


def spending_is_decided(home: Home, partition: str) -> Finding:
    """Tell whether nothing of a folder waits for somebody's word on what it may cost."""
    # Of all folders: what goes by itself is one account, and may be used up by those before.
    plans = [each for each in standing(home) if each.plan.folder == partition]
    waiting = [each for each in plans if each.waits]
    counts = {
        "requests_left": sum(each.items for each in plans),
        "requests_waiting": sum(each.items for each in waiting),
        "waiting_usd": sum(each.plan.cost_nano for each in waiting) / DOLLAR,
    }
    if not waiting:
        return Finding(True, counts=counts)
    lines = [
        f"- {each.plan.stage}: {each.items:,} requests to {each.plan.label}, about "
        f"{dollars(each.plan.cost_nano)}: `kb approve {each.plan.plan_id[:8]} --usd X`, or "
        f"[approve or decline](/board/spend/{each.plan.plan_id})"
        for each in waiting
    ]
    return Finding(False, False, "\n".join(["This waits for your word:", "", *lines]), counts)


def last_build_answers(home: Home) -> Finding:
    """Tell whether the last build answers, or was kept back or passed over for a pinned one."""
    verdict = last_verdict(home)
    counts = {"problems": len(verdict.problems), "is_pinned": int(bool(verdict.pinned))}
    return Finding(not verdict.why_not, False, verdict.what_now, counts)


def vault_was_looked_at(home: Home, now: dt.datetime) -> Finding:
    """Tell whether the vault was listed within the last days."""
    listing = History(home.data / "history").listing()
    if listing is None:
        return _unread()
    age = now - listing.started
    counts = {"days_since_listing": round(age.total_seconds() / 86_400, 2)}
    if age > STALE_AFTER:
        return Finding(False, False, "`kb refresh`, or switch its schedule on", counts)
    return Finding(True, counts=counts)


def _unread() -> Finding:
    return Finding(False, False, "`kb build` reads it first")


def _current_notes(home: Home, partition: str) -> pa.Array:
    if home.store.pointer("notes", partition) is None:
        return pa.array([], pa.string())
    notes = home.store.read("notes", partition, ["note_id", "is_current"])
    return notes.filter(notes["is_current"])["note_id"].combine_chunks()
