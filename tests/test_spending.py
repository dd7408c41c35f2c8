"""Whether a plan may be paid for: by itself, by an approval, or not, and always worked out anew."""

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.ids import content_id
from kb_core.money import DOLLAR, Tokens, nano
from kb_core.settings import LimitSettings
from resources.ledger import NewRow
from resources.paid_store import PaidStore
from resources.spending import Plan, permission_of, plan_id

NOW = dt.datetime(2031, 5, 20, 12, tzinfo=dt.UTC).timestamp()
DAY = 24 * 60 * 60
LIMITS = LimitSettings(auto_approve_usd=0.50, monthly_usd=20)
KEYS = tuple(sorted(content_id(str(number)) for number in range(10)))


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with PaidStore(tmp_path / "paid.sqlite", clock) as opened:
        yield opened


def plan(usd: float, keys=KEYS, **other) -> Plan:
    name = plan_id("town", "extractions", "anthropic/haiku", "1", keys)
    return Plan(name, "town", "extractions", "haiku", tuple(keys), nano(usd), False)._replace(
        **other
    )


def spend(store, usd: float, approval: str = "", at: float = NOW) -> None:
    row = NewRow(
        "town", "extractions", "p", "haiku", b"k" * 16, b"", approval, nano(usd), nano(usd)
    )
    with store.transaction():
        number = store.ledger.open(row, "owner", NOW, at)
        store.ledger.settle(number, Tokens(1, 1), nano(usd))


def approve(store, wanted: Plan, usd: float, **other) -> str:
    given = {"folder": wanted.folder, "stage": wanted.stage, "keys": wanted.keys} | other
    return store.approve(plan=wanted.plan_id, ceiling_nano=nano(usd), who="ana", **given)


def state(store, wanted: Plan, **other) -> str:
    return permission_of(store, wanted, LIMITS, NOW, **other).state


def test_nothing_to_pay_is_free_whatever_the_limits(store):
    none = LimitSettings(auto_approve_usd=0, monthly_usd=0)

    for free in (plan(0), plan(5, keys=()), plan(5, is_local=True)):
        assert permission_of(store, free, none, NOW).state == "free"


def test_a_cheap_plan_is_paid_for_without_asking_up_to_the_limit_of_a_day(store):
    assert state(store, plan(0.50)) == "auto"
    assert state(store, plan(0.51)) == "waiting"
    assert permission_of(store, plan(0.2), LIMITS, NOW).ceiling_nano == nano(0.50)


def test_what_was_spent_in_the_last_24_hours_without_approval_is_taken_off(store):
    spend(store, 0.30)
    spend(store, 5.00, approval="another")
    spend(store, 0.49, at=NOW - DAY - 1)

    assert state(store, plan(0.20)) == "auto"
    assert state(store, plan(0.21)) == "waiting"


def test_what_other_plans_took_in_this_round_is_taken_off(store):
    assert state(store, plan(0.20), pending_auto_nano=nano(0.30)) == "auto"
    assert state(store, plan(0.20), pending_auto_nano=nano(0.31)) == "waiting"


def test_a_waiting_plan_says_what_it_costs_and_how_to_allow_it(store):
    wanted = plan(1.234)

    said = permission_of(store, wanted, LIMITS, NOW).why

    assert "$1.23" in said
    assert f"`kb approve {wanted.plan_id[:8]} --usd 1.24`" in said
    assert "limits.auto_approve_usd = 0.5" in said


def test_an_approval_covers_its_plan_and_every_smaller_one(store):
    number = approve(store, plan(5), 6)

    allowed = permission_of(store, plan(5), LIMITS, NOW)
    assert (allowed.state, allowed.approval, allowed.ceiling_nano) == ("approved", number, nano(6))
    assert state(store, plan(2, keys=KEYS[:4])) == "approved"


def test_an_approval_covers_no_other_key_folder_or_stage(store):
    approve(store, plan(5), 6)

    assert state(store, plan(5, keys=(*KEYS, content_id("new")))) == "waiting"
    assert state(store, plan(5, folder="harbour")) == "waiting"
    assert state(store, plan(5, stage="triage")) == "waiting"


def test_a_plans_id_alone_allows_nothing(store):
    approve(store, plan(5), 6, keys=KEYS[:9])

    assert state(store, plan(5)) == "waiting"


def test_an_approval_that_is_spent_covers_nothing_more(store):
    number = approve(store, plan(5), 6)
    spend(store, 5.5, approval=number)

    left = permission_of(store, plan(5), LIMITS, NOW)
    assert (left.state, left.ceiling_nano) == ("approved", nano(0.5))
    spend(store, 0.4, approval=number)
    assert state(store, plan(5)) == "waiting"  # one of ten requests costs 0.50


def test_the_newest_approval_with_money_left_counts(store):
    older = approve(store, plan(5), 6)
    newer = approve(store, plan(5), 7)

    assert permission_of(store, plan(5), LIMITS, NOW).approval == newer
    spend(store, 7, approval=newer)
    assert permission_of(store, plan(5), LIMITS, NOW).approval == older


def test_a_declined_plan_stays_declined_until_it_is_approved_again(store):
    wanted = plan(0.10)
    approve(store, wanted, 1)
    store.decline(plan=wanted.plan_id, folder="town", stage="extractions", who="ana")

    assert state(store, wanted) == "declined"
    assert state(store, plan(0.05, keys=KEYS[:5])) == "approved"  # another plan
    approve(store, wanted, 1)
    assert state(store, wanted) == "approved"


def test_a_reached_month_stops_every_plan_until_the_next_begins(store, clock):
    number = approve(store, plan(5), 100)
    spend(store, 19.60, approval=number)

    stopped = permission_of(store, plan(5), LIMITS, NOW)
    assert stopped.state == "month"
    assert "limits.monthly_usd = 20" in stopped.why
    next_month = dt.datetime(2031, 6, 1, tzinfo=dt.UTC).timestamp()
    assert permission_of(store, plan(5), LIMITS, next_month).state == "approved"


def test_an_approval_leaves_no_more_than_the_month_does(store):
    number = approve(store, plan(5), 100)
    spend(store, 18, approval=number)

    assert permission_of(store, plan(5), LIMITS, NOW).ceiling_nano == 2 * DOLLAR


def test_a_plans_id_tells_what_it_would_ask_in_whatever_order():
    named = plan_id("town", "triage", "anthropic/haiku", "1", KEYS)

    assert named == plan_id("town", "triage", "anthropic/haiku", "1", KEYS[::-1])
    others = [
        plan_id("port", "triage", "anthropic/haiku", "1", KEYS),
        plan_id("town", "audit", "anthropic/haiku", "1", KEYS),
        plan_id("town", "triage", "ollama/llama3", "1", KEYS),
        plan_id("town", "triage", "anthropic/haiku", "2", KEYS),
        plan_id("town", "triage", "anthropic/haiku", "1", KEYS[1:]),
    ]
    assert len({named, *others}) == 6


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.integers(0, 3 * DAY)), max_size=8),
       st.integers(1, 60))  # fmt: skip
def test_what_is_allowed_by_itself_never_passes_the_limit_of_a_day(spent, cents):
    with TemporaryDirectory() as folder, PaidStore(Path(folder) / "paid.sqlite", Clock()) as store:
        for amount, is_auto, age in spent:
            spend(store, amount / 100, approval="" if is_auto else "x", at=NOW - age)
        recent = sum(amount for amount, is_auto, age in spent if is_auto and age <= DAY)

        allowed = permission_of(
            store, plan(cents / 100), LimitSettings(auto_approve_usd=0.5, monthly_usd=1000), NOW
        )

    assert (allowed.state == "auto") == (recent + cents <= 50)
