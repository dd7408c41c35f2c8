"""A home with plans that wait and a ledger of what was paid, written by hand; nothing is asked.

Its model's address is one where nobody listens: whatever is approved, nothing leaves the machine.
"""

import time
from pathlib import Path

from kb_core.ids import content_id
from kb_core.money import Tokens
from kb_core.reading_contracts import SPENDING_PLAN
from resources.home import Home
from resources.ledger import NewRow
from resources.paid_store import PaidStore
from resources.spending import plan_id
from tests.small_vault import put

CENT = 10_000_000
MODEL = "claude-haiku-5-5"
SETTINGS = f"""[embedder]
engine = "none"
[llm]
engine = "anthropic"
model = "{MODEL}"
url = "http://127.0.0.1:9"
[limits]
auto_approve_usd = 0.50
monthly_usd = 20.0
"""


def make_spending_home(root: Path, settings: str = SETTINGS, **folders: str) -> Home:
    """Make a home with folders (partition=path) that nothing was read of."""
    put(root / "vault", "Work/Plan.md", "# Plan\n\nThe pier is built in autumn.\n")
    text = f'{settings}\n[vault]\npath = "{root / "vault"}"\n[chunks]\ntoken_counter = "regex"\n'
    put(root / "home", "kb.toml", text)
    home = Home.open(root / "home")
    home.register_folders(folders or {"work-1": "Work"})
    return home


def plan_row(folder: str, stage: str, cost_nano: int, items: int, **changed) -> dict:
    """Return a row of `spending_plan` as the stage writes it."""
    keys = sorted(content_id(folder, stage, str(number)) for number in range(items))
    row = {
        "stage": stage,
        "plan_id": plan_id(folder, stage, f"anthropic/{MODEL}", "1", keys),
        "label": MODEL,
        "items": items,
        "answered": 0,
        "barred": 0,
        "unusable": 0,
        "input_tokens": 1_000 * items,
        "output_tokens": 100 * items,
        "cost_nano": cost_nano,
        "is_batch": False,
        "is_local": False,
        "keys": keys,
    }
    return row | changed


def write_plans(home: Home, partition: str, *rows: dict) -> list[str]:
    """Write a folder's plans; return their ids."""
    table = SPENDING_PLAN.table(list(rows))
    home.store.write("spending_plan", table, partition=partition, inputs={}, code_version="1")
    return [row["plan_id"] for row in rows]


def pay(
    home: Home,
    folder: str,
    stage: str,
    billed: int,
    *,
    at: float | None = None,
    approval: str = "",
) -> None:
    """Write a settled row into the ledger, of now or then, estimated a tenth above its bill."""
    at = time.time() if at is None else at
    name = content_id(folder, stage, str(billed), str(at))
    estimated = billed * 11 // 10
    row = NewRow(
        folder, stage, "p", MODEL, bytes.fromhex(name), b"", approval, estimated, estimated
    )
    with PaidStore(home.data / "cache" / "paid.sqlite") as store, store.transaction():
        number = store.ledger.open(row, "somebody", at, at)
        store.ledger.settle(number, Tokens(1, 1), billed)


def decisions(home: Home) -> list:
    """Return what was decided so far."""
    with PaidStore(home.data / "cache" / "paid.sqlite") as store:
        return store.decisions()
