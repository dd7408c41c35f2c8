"""Gather what language models cost, what waits for somebody's word, and what became of it.

Reads the plans and the ledger; writes and spends nothing. Sums are whole nano-dollars.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from kb_assets.gate import TABLE, Standing, standing
from kb_assets.paid_work import paid_file, reader_of
from kb_core.errors import KbError
from kb_core.folder_names import shown_path
from kb_core.money import DOLLAR, nano
from kb_core.settings import LLMSettings
from kb_serve.output import counted
from resources.home import Home
from resources.ledger import Total
from resources.open_llm import OLLAMA_ADDRESS, is_local
from resources.paid_store import PaidStore

SHOWN_DAYS = 30
CENT = DOLLAR // 100

_DAY_SECONDS = 86_400
_LATELY_SECONDS = 600  # a decision is told at the top for so long
_ANTHROPIC = "api.anthropic.com"
# What each stage's requests are about, one and many.
_ASKED = {
    "triage": ("saved conversation", "saved conversations"),
    "extractions": ("passage", "passages"),
    "retyping": ("bundle of links", "bundles of links"),
}
_LEFT: tuple[tuple[str, Callable[[Standing], bool]], ...] = (
    ("waits", lambda each: each.waits),
    ("to come", lambda each: each.is_due),
    ("declined", lambda _each: True),
)


@dataclass(frozen=True)
class Spent:
    """What some part of the ledger comes to."""

    name: str  # a folder as shown, or a day
    stage: str = ""
    calls: int = 0
    estimated_nano: int = 0
    billed_nano: int = 0
    lost_nano: int = 0

    @property
    def spent_nano(self) -> int:
        """Return what was billed, and the estimate of what nobody saw the bill of."""
        return self.billed_nano + self.lost_nano


@dataclass(frozen=True)
class Decided:
    """What somebody decided a moment ago."""

    is_approved: bool
    folder: str  # as shown
    stage: str
    ceiling_nano: int


@dataclass(frozen=True)
class Spending:
    """A home's spending at one moment."""

    is_shown: bool = False  # a model is set up, or something was paid for once
    is_local: bool = False  # the model runs on this machine and costs nothing
    problem: str = ""  # why no model can be asked though one is set up
    plans: tuple[Standing, ...] = ()  # what is left to ask, by folder and stage
    barred: int = 0  # passages that may not be sent
    day_nano: int = 0  # spent without asking in the last 24 hours
    day_limit_nano: int = 0
    month_nano: int = 0  # spent in this calendar month (UTC)
    month_limit_nano: int = 0
    days: tuple[Spent, ...] = ()  # the last ones, oldest first
    rows: tuple[Spent, ...] = ()  # by folder and stage
    by_folder: dict[str, int] | None = None  # partition -> spent
    decided: Decided | None = None
    starts_within_seconds: int | None = None  # what may go on; None: the page starts nothing

    @property
    def total(self) -> Spent:
        """Return what the whole ledger comes to."""
        return _added("All", "", self.rows)

    def left_in(self, partition: str) -> tuple[int, str] | None:
        """Return what the most pressing of a folder's plans cost, and what becomes of those."""
        mine = [each for each in self.plans if each.plan.folder == partition]
        for word, is_meant in _LEFT:
            if found := [each for each in mine if is_meant(each)]:
                return sum(each.plan.cost_nano for each in found), word
        return None

    def spent_on(self, partition: str) -> int:
        """Return what a folder cost so far."""
        return (self.by_folder or {}).get(partition, 0)


def spending_of(home: Home, now: float) -> Spending:
    """Return what a home spent and what waits; nothing where rules read and nothing was paid.

    Raises StoreError if the ledger is damaged.
    """
    settings = home.settings
    has_model, file = settings.llm.engine != "rules", paid_file(home)
    if not has_model and not file.exists():
        return Spending()
    limits, refresh = settings.limits, settings.refresh
    with PaidStore(file) as store:
        totals = store.totals(["day", "folder", "stage"])
        day, month = store.ledger.spent_in_day(now), store.ledger.spent_in_month(now)
        decided = _decided(home, store, now)
    return Spending(
        is_shown=has_model or bool(totals),
        is_local=has_model and is_local(settings.llm),
        problem=reader_of(home)[1],
        plans=tuple(standing(home)) if has_model else (),
        barred=_barred(home) if has_model else 0,
        day_nano=day,
        day_limit_nano=nano(limits.auto_approve_usd),
        month_nano=month,
        month_limit_nano=nano(limits.monthly_usd),
        days=_days(totals, now),
        rows=_rows(home, totals),
        by_folder=_by_folder(totals),
        decided=decided,
        starts_within_seconds=refresh.every_seconds if refresh.watch else None,
    )


def asked_about(plan: Standing) -> str:
    """Say what a plan's requests are about.

    Each passage and each conversation is a request of its own.
    """
    one, many = _ASKED.get(plan.plan.stage, ("request", "requests"))
    return counted(plan.items, one, many)


def ceiling_of(cost_nano: int) -> int:
    """Return the ceiling that is offered for a cost: a quarter above it, in whole cents.

    >>> ceiling_of(310_000_000), ceiling_of(1)
    (390000000, 10000000)
    """
    return -(-cost_nano * 5 // (4 * CENT)) * CENT


def sent_to(settings: LLMSettings) -> str:
    """Name the machine that what is asked goes to.

    >>> sent_to(LLMSettings(engine="anthropic"))
    'api.anthropic.com'
    """
    usual = OLLAMA_ADDRESS if settings.engine == "ollama" else f"https://{_ANTHROPIC}"
    return urlsplit(settings.url or usual).hostname or "the address in kb.toml"


def cents(amount: int) -> str:
    """Say an amount as people count money.

    >>> cents(0), cents(1_000), cents(310_000_000), cents(1_234_560_000_000)
    ('$0', '<$0.01', '$0.31', '$1,234.56')
    """
    if amount == 0:
        return "$0"
    return "<$0.01" if amount < CENT else f"${amount / DOLLAR:,.2f}"


def about(amount: int) -> str:
    """Say roughly what something costs, to stand in a sentence.

    >>> about(1_000), about(310_000_000)
    ('less than $0.01', 'about $0.31')
    """
    return "less than $0.01" if 0 < amount < CENT else f"about {cents(amount)}"


def _decided(home: Home, store: PaidStore, now: float) -> Decided | None:
    """Return the last decision, if it is of just now."""
    made = store.made_decisions()
    if not made or not 0 <= now - made[-1].at <= _LATELY_SECONDS:
        return None
    last = made[-1]
    folder = shown_path(home.folders().get(last.folder, last.folder))
    return Decided(last.kind == "approved", folder, last.stage, last.ceiling_nano)


def _barred(home: Home) -> int:
    found = 0
    for partition in home.store.partitions(TABLE):
        try:
            rows = home.store.read(TABLE, partition, ["stage", "barred"]).to_pylist()
        except KbError:  # a damaged plan is made anew by the next build
            continue
        found += sum(row["barred"] for row in rows if row["stage"] == "extractions")
    return found


def _days(totals: Sequence[Total], now: float) -> tuple[Spent, ...]:
    """Return the last days, those without any spending too."""
    by_day: dict[str, list[Total]] = defaultdict(list)
    for each in totals:
        by_day[each.group[0]].append(each)
    today = dt.datetime.fromtimestamp(now, dt.UTC).date()
    days = [today - dt.timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]
    return tuple(_summed(day.isoformat(), "", by_day[day.isoformat()]) for day in days)


def _rows(home: Home, totals: Sequence[Total]) -> tuple[Spent, ...]:
    by_place: dict[tuple[str, str], list[Total]] = defaultdict(list)
    names = home.folders()
    for each in totals:
        _, folder, stage = each.group
        by_place[shown_path(names.get(folder, folder)), stage].append(each)
    return tuple(_summed(*place, by_place[place]) for place in sorted(by_place))


def _by_folder(totals: Sequence[Total]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for each in totals:
        found[each.group[1]] += each.billed_nano + each.lost_nano
    return dict(found)


def _summed(name: str, stage: str, totals: Iterable[Total]) -> Spent:
    return _added(
        name,
        stage,
        [Spent("", "", t.calls, t.estimated_nano, t.billed_nano, t.lost_nano) for t in totals],
    )


def _added(name: str, stage: str, rows: Sequence[Spent]) -> Spent:
    return Spent(
        name,
        stage,
        sum(each.calls for each in rows),
        sum(each.estimated_nano for each in rows),
        sum(each.billed_nano for each in rows),
        sum(each.lost_nano for each in rows),
    )
