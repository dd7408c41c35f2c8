"""The paid door: paid once, kept on arrival, stopped in time, and never past a ceiling by much."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.errors import LLMDownError, LLMMissingError, SettingsError, SpendLimitError, StoreError
from kb_core.ids import content_id
from kb_core.money import Tokens, nano
from kb_core.settings import LimitSettings, LLMSettings
from resources import paid_asking, paid_fetching, paid_run
from resources.ledger import NewRow
from resources.llm import CUT, REFUSED, BadRequestError, DroppedError, PauseError
from resources.open_llm import open_llm
from resources.paid_calls import PaidCalls
from resources.paid_items import Item, estimate
from resources.paid_store import PaidStore
from resources.spending import Permission
from tests.standins.anthropic_server import AnthropicStandIn
from tests.standins.scripted_llm import (
    FREELY,
    PRICE,
    PURPOSE,
    ScriptedModel,
    answer,
    item,
    items,
    read_lines,
    request,
)

ROOT = Path(__file__).resolve().parent.parent
SECRET = "the ferry costs 4000 crowns"
ANSWER_NANO = 1 * 100 + 100 * 500  # what the scripted model bills for an answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "paid.sqlite"


@pytest.fixture
def store(path):
    with PaidStore(path) as opened:
        yield opened


@pytest.fixture
def quick_pauses(monkeypatch):
    monkeypatch.setattr(paid_run, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(paid_run, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(paid_asking, "_LOOK_AGAIN_SECONDS", 0.01)


def run(store, model, wanted, permission=FREELY, *, clock=time.time, purpose=PURPOSE, **options):
    """Run once, with limits and settings by name."""
    limits = {"auto_approve_usd": 20, "monthly_usd": 20}
    limits |= {name: options.pop(name) for name in list(options) if name in limits}
    asked = {"max_parallel": 8, "tokens_per_minute": 0}
    asked |= {name: options.pop(name) for name in list(options) if name in asked}
    price = None if model.is_local else PRICE
    with PaidCalls(
        store, model, price, LimitSettings(**limits), LLMSettings(**asked), clock
    ) as calls:
        return calls.run(wanted, purpose, permission, **options)


def states(store) -> list[str]:
    return [row.state for row in store.rows()]


def billed(store) -> int:
    return sum(row.billed_nano for row in store.rows())


def approve(store, wanted, usd: float, **other) -> Permission:
    keys = other.pop("keys", [each.request.key for each in wanted])
    place = {"folder": PURPOSE.folder, "stage": PURPOSE.stage} | other
    number = store.approve(plan="p", ceiling_nano=nano(usd), keys=keys, who="ana", **place)
    return Permission("approved", number, nano(usd), "")


def test_every_request_is_asked_once_kept_and_settled_by_its_own_bill(store):
    model, wanted = ScriptedModel(), items(20)

    done = run(store, model, wanted)

    assert (done.answered, done.cached, done.waiting, done.failed) == (20, 0, 0, {})
    assert (done.asked, done.stopped_by, done.stop_kind) == (20, "", "")
    assert sorted(model.asked) == sorted(each.request.key for each in wanted)
    found = store.answers([each.request.key for each in wanted])
    assert [json.loads(each.text)["said"] for each in found.values()] == [
        each.request.text for each in wanted
    ]
    assert done.billed_nano == billed(store) == model.billed_nano == 20 * ANSWER_NANO
    assert done.estimated_nano == sum(estimate(each, PRICE).expected for each in wanted)
    row = store.rows()[0]
    assert (row.folder, row.stage, row.plan) == ("town", "extractions", "a plan")
    assert (row.label, row.state, row.is_batch) == ("claude-haiku-5-5", "settled", False)
    assert row.reserved_nano == estimate(wanted[0], PRICE).worst > row.estimated_nano > 0


def test_what_has_an_answer_is_never_asked_again(store):
    run(store, ScriptedModel(), items(5))
    model = ScriptedModel()

    done = run(store, model, items(7))

    assert (done.answered, done.cached, len(model.asked)) == (2, 5, 2)


def test_the_row_is_on_the_disk_before_the_call_and_the_answer_before_the_next(path, store):
    seen = []

    def look(asked):
        with PaidStore(path) as other:
            seen.append((len(other.rows()), states(other).count("settled")))
        return answer()

    wanted = items(3)
    run(store, ScriptedModel({each.request.key: [look] for each in wanted}), wanted, max_parallel=1)

    assert seen == [(1, 0), (2, 1), (3, 2)]


def test_equal_requests_are_paid_for_once(store):
    model = ScriptedModel()

    done = run(store, model, [*items(3), *items(3)])

    assert (done.answered, len(model.asked)) == (3, 3)


def test_a_group_answers_each_of_its_parts(store):
    parts = tuple(content_id(f"part {number}") for number in range(3))

    run(store, ScriptedModel(), [Item(request("group"), parts, 100)])

    found = store.answers(parts)
    assert [(each.key, each.part) for each in found.values()] == [
        (request("group").key, number) for number in range(3)
    ]


def test_damaged_parts_are_mended_without_paying(path, store):
    parts = tuple(content_id(f"part {number}") for number in range(3))
    wanted = [Item(request("group"), parts, 100)]
    run(store, ScriptedModel(), wanted)
    store._db.execute("UPDATE parts SET number = 0 WHERE number = 1")
    assert len(store.answers(parts)) == 2
    model = ScriptedModel()

    done = run(store, model, wanted)

    assert (done.cached, model.asked, len(store.answers(parts))) == (1, [], 3)


def test_a_damaged_answer_is_paid_for_again(store):
    run(store, ScriptedModel(), items(2))
    store._db.execute(
        "UPDATE answers SET text = x'00' WHERE key = ?",
        (bytes.fromhex(item("text 1").request.key),),
    )
    model = ScriptedModel()

    done = run(store, model, items(2))

    assert (done.answered, done.cached, store.damaged) == (1, 1, 1)
    assert model.asked == [item("text 1").request.key]


@pytest.mark.parametrize("stop", [CUT, REFUSED])
def test_cut_and_refused_answers_are_kept_and_billed_like_others(store, stop):
    wanted = items(1)
    key = wanted[0].request.key
    model = ScriptedModel({key: [answer("[", stop, Tokens(5, 1000))]})

    done = run(store, model, wanted)

    assert (done.answered, store.answers([key])[key].stop) == (1, stop)
    assert billed(store) == model.billed_nano == 5 * 100 + 1000 * 500
    assert run(store, model, wanted).cached == 1


def test_one_bad_request_costs_what_was_billed_and_stops_no_other(store):
    wanted = items(4)
    script = {
        wanted[0].request.key: [BadRequestError("It was refused (400).")],
        wanted[1].request.key: [BadRequestError("Its stop was unknown.", Tokens(7, 9))],
    }
    model = ScriptedModel(script)

    done = run(store, model, wanted, max_parallel=1)

    assert done.failed == {
        wanted[0].request.key: "It was refused (400).",
        wanted[1].request.key: "Its stop was unknown.",
    }
    assert (done.answered, done.waiting, done.stopped_by) == (2, 0, "")
    assert states(store) == ["void", "settled", "settled", "settled"]
    assert billed(store) == model.billed_nano == done.billed_nano


def test_a_request_that_failed_in_three_runs_is_asked_again_only_when_somebody_says_so(store):
    (wanted,) = items(1)
    key = wanted.request.key
    model = ScriptedModel({key: [BadRequestError("It was refused.")] * 3})

    for _ in range(5):
        done = run(store, model, [wanted])
        assert done.failed == {key: "It was refused."}
    assert len(model.asked) == 3

    store.forget_failures([key])
    assert run(store, model, [wanted]).answered == 1


@pytest.mark.parametrize("problem", [LLMMissingError, SpendLimitError, LLMDownError])
def test_a_key_that_is_refused_stops_at_once_and_keeps_what_is_in_flight(store, problem):
    wanted = items(40)
    model = ScriptedModel(
        {wanted[3].request.key: [problem("It ends here.")]}, together=8, seconds=0.01
    )

    done = run(store, model, wanted)

    assert (done.stop_kind, done.stopped_by) == (problem.__name__, "It ends here.")
    assert 7 <= done.answered < 16
    assert done.answered + done.waiting == 40
    assert len(model.asked) <= 15
    assert len(store.answers([each.request.key for each in wanted])) == done.answered
    assert billed(store) == model.billed_nano
    assert states(store).count("settled") == done.answered
    assert set(states(store)) == {"settled", "void"}
    assert run(store, ScriptedModel(), wanted).answered == done.waiting


def test_a_busy_server_is_asked_again_after_one_pause_for_all(store, quick_pauses):
    wanted = items(8)
    script = {each.request.key: [PauseError("Busy.")] for each in wanted}
    model = ScriptedModel(script, together=8)

    done = run(store, model, wanted)

    # Eight refusals at a time are one pause: else the seventh would have been the last.
    assert (done.answered, done.stop_kind) == (8, "")
    assert states(store) == ["settled"] * 8


def test_a_server_that_stays_busy_stops_the_run_and_nothing_is_billed(store, quick_pauses):
    wanted = items(8)
    model = ScriptedModel({each.request.key: [PauseError("Busy.")] * 99 for each in wanted})

    done = run(store, model, wanted)

    assert (done.stop_kind, done.answered, done.waiting) == ("LLMDownError", 0, 8)
    assert "busy 7 times" in done.stopped_by
    assert len(model.asked) <= 7 * 8
    assert (set(states(store)), store.spent_since(0)) == ({"void"}, 0)


def test_an_answer_between_begins_the_count_of_pauses_anew(store, quick_pauses):
    wanted = items(5)
    model = ScriptedModel({each.request.key: [PauseError("Busy.")] * 5 for each in wanted})

    assert run(store, model, wanted, max_parallel=1).answered == 5


def test_the_server_says_how_long_to_wait(store, quick_pauses):
    (wanted,) = items(1)
    model = ScriptedModel({wanted.request.key: [PauseError("Busy.", 0.15)]})
    start = time.monotonic()

    assert run(store, model, [wanted]).answered == 1
    assert time.monotonic() - start >= 0.15


def test_a_wait_of_hours_stops_the_run_and_says_until_when(store):
    wanted = items(3)
    model = ScriptedModel({wanted[0].request.key: [PauseError("Busy.", 4 * 3600)]})

    done = run(store, model, wanted, max_parallel=1, clock=lambda: 1_937_000_000.0)

    assert (done.stop_kind, done.waiting) == ("LLMDownError", 3)
    assert "before 2031-05-20 03:33 UTC" in done.stopped_by


def test_a_broken_connection_counts_at_its_estimate_and_is_asked_once_more(store):
    (wanted,) = items(1)
    model = ScriptedModel({wanted.request.key: [DroppedError("It broke.")]})

    done = run(store, model, [wanted])

    assert (done.answered, done.asked, states(store)) == (1, 2, ["lost", "settled"])
    assert store.spent_since(0) == estimate(wanted, PRICE).expected + ANSWER_NANO
    assert done.billed_nano == billed(store) == ANSWER_NANO


def test_a_connection_that_breaks_twice_is_given_up(store):
    (wanted,) = items(1)
    model = ScriptedModel({wanted.request.key: [DroppedError("It broke.")] * 9})

    done = run(store, model, [wanted])

    assert "may have been billed" in done.failed[wanted.request.key]
    assert (len(model.asked), states(store)) == (2, ["lost", "lost"])


def test_when_time_is_up_nothing_new_begins_and_what_is_in_flight_is_kept(store):
    wanted = items(30)
    model = ScriptedModel(together=8, seconds=0.01)

    done = run(store, model, wanted, deadline=lambda: len(model.asked) >= 8)

    assert (done.stop_kind, done.answered, done.waiting) == ("time", 8, 22)
    assert set(states(store)) <= {"settled", "void"}
    assert billed(store) == 8 * ANSWER_NANO


def test_a_pause_ends_when_time_is_up(store):
    (wanted,) = items(1)
    model = ScriptedModel({wanted.request.key: [PauseError("Busy.", 50)]})

    done = run(store, model, [wanted], deadline=lambda: bool(model.asked))

    assert (done.stop_kind, done.waiting, states(store)) == ("time", 1, ["void"])


def test_as_many_as_the_settings_say_are_in_flight(store):
    model = ScriptedModel(together=64)

    assert run(store, model, items(130), max_parallel=64).answered == 130
    assert model.most_in_flight == 64


def test_spending_stops_at_the_limit_of_a_day_and_goes_on_when_approved(store):
    wanted = items(20)
    model = ScriptedModel()
    limit = 5.5 * ANSWER_NANO / 1e9

    done = run(store, model, wanted, auto_approve_usd=limit)

    assert (done.stop_kind, done.answered, done.waiting) == ("ceiling", 5, 15)
    assert "limits.auto_approve_usd" in done.stopped_by
    assert billed(store) <= nano(limit)
    assert run(store, model, wanted, auto_approve_usd=limit).answered == 0
    assert (
        run(store, model, wanted, approve(store, wanted, 1), auto_approve_usd=limit).answered == 15
    )


def test_a_plan_whose_estimate_fits_is_done_to_its_end_though_the_worst_case_does_not_fit(store):
    wanted = items(12)
    ceiling = sum(estimate(each, PRICE).expected for each in wanted) / 1e9

    done = run(store, ScriptedModel(), wanted, approve(store, wanted, ceiling))

    assert (done.answered, done.stop_kind) == (12, "")


def test_the_limit_of_a_month_holds_whatever_was_approved(store):
    wanted = items(20)

    done = run(
        store,
        ScriptedModel(),
        wanted,
        approve(store, wanted, 9),
        monthly_usd=3.5 * ANSWER_NANO / 1e9,
    )

    assert (done.stop_kind, done.answered) == ("ceiling", 3)
    assert "limits.monthly_usd" in done.stopped_by


def test_what_was_spent_yesterday_or_last_month_is_over(store):
    now = [1_937_000_000.0]
    limits = {"auto_approve_usd": 2.5 * ANSWER_NANO / 1e9, "monthly_usd": 4.5 * ANSWER_NANO / 1e9}
    wanted = items(20)

    def answered() -> int:
        return run(store, ScriptedModel(), wanted, clock=lambda: now[0], **limits).answered

    assert (answered(), answered()) == (2, 0)
    now[0] += 24 * 3600 + 1
    assert (answered(), answered()) == (2, 0)
    now[0] += 24 * 3600 + 1
    assert answered() == 0  # the month is spent
    now[0] += 30 * 24 * 3600
    assert answered() == 2


@pytest.mark.parametrize("state", ["waiting", "declined", "month", "free"])
def test_without_a_permission_nothing_is_asked_and_what_is_known_is_counted(store, state):
    run(store, ScriptedModel(), items(2))
    model = ScriptedModel()

    done = run(store, model, items(5), Permission(state, "", nano(9), "It waits."))

    assert (model.asked, done.cached, done.waiting, done.stop_kind) == ([], 2, 3, "ceiling")


def test_a_forged_approval_spends_nothing(store):
    wanted, model = items(2), ScriptedModel()
    others = [
        Permission("approved", "no such approval", nano(9), ""),
        approve(store, wanted, 9, folder="another"),
        approve(store, wanted, 9, stage="another"),
        approve(store, wanted, 0),
    ]
    for forged in others:
        done = run(store, model, wanted, forged._replace(ceiling_nano=nano(9)))
        assert (model.asked, done.waiting, done.stop_kind) == ([], 2, "ceiling")


def test_only_the_requests_that_were_approved_are_asked(store):
    wanted = items(5)
    model = ScriptedModel()

    done = run(store, model, wanted, approve(store, wanted[:3], 9))

    assert (done.answered, done.waiting, len(model.asked)) == (3, 2, 3)
    assert "not part of what was approved" in done.stopped_by


def test_a_group_is_approved_by_its_parts(store):
    parts = tuple(content_id(f"part {number}") for number in range(3))
    group = Item(request("group"), parts, 100)

    none = Item(request("no part"), (), 100)

    assert run(store, ScriptedModel(), [none], approve(store, [], 9, keys=parts)).waiting == 1
    assert run(store, ScriptedModel(), [group], approve(store, [], 9, keys=parts[:2])).waiting == 1
    assert run(store, ScriptedModel(), [group], approve(store, [], 9, keys=parts)).answered == 1


def test_a_model_on_this_machine_costs_nothing_and_is_written_down_all_the_same(store):
    model = ScriptedModel(is_local=True)

    done = run(
        store, model, items(4), Permission("free", "", 0, ""), auto_approve_usd=0, monthly_usd=0
    )

    assert (done.answered, done.billed_nano, store.spent_since(0)) == (4, 0, 0)
    assert states(store) == ["settled"] * 4
    assert run(store, model, items(4), Permission("free", "", 0, "")).cached == 4


def test_a_hosted_model_without_a_price_is_refused(store):
    with pytest.raises(SettingsError, match="has no price"):
        PaidCalls(store, ScriptedModel(), None, LimitSettings(), LLMSettings())


def test_tokens_a_minute_are_kept_to(store):
    wanted = items(5)
    tokens = sum(estimate(each, PRICE).tokens for each in wanted[:4])
    start = time.monotonic()

    done = run(store, ScriptedModel(), wanted, tokens_per_minute=tokens * 60 * 5)

    assert done.answered == 5
    assert time.monotonic() - start >= 0.2  # the first four fill a fifth of a second


def test_a_defect_costs_one_request_and_its_words_are_kept_nowhere(store, caplog):
    wanted = items(4)
    model = ScriptedModel({wanted[1].request.key: [ValueError(SECRET)]})

    done = run(store, model, wanted)

    assert done.failed == {wanted[1].request.key: "ValueError"}
    assert (done.answered, states(store).count("lost")) == (3, 1)
    assert SECRET not in caplog.text + "".join(store._db.iterdump())


def test_an_answer_that_is_none_costs_one_request_and_its_words_are_kept_nowhere(store, caplog):
    wanted = items(4)
    huge = answer(tokens=Tokens(10**30, 1))
    wrong = answer()
    object.__setattr__(wrong, "raw", [SECRET])
    model = ScriptedModel({wanted[1].request.key: [huge], wanted[2].request.key: [wrong]})

    done = run(store, model, wanted)

    assert done.failed == {
        wanted[1].request.key: "OverflowError",
        wanted[2].request.key: "AttributeError",
    }
    assert (done.answered, states(store).count("lost")) == (2, 2)
    assert SECRET not in caplog.text + "".join(store._db.iterdump())


def test_a_client_that_never_ends_is_taken_for_a_broken_connection(store):
    (wanted,) = items(1)
    model = ScriptedModel(seconds=30)
    llm = LLMSettings(timeout_seconds=0.01)
    with PaidCalls(store, model, PRICE, LimitSettings(), llm) as calls:
        done = calls.run([wanted], PURPOSE, FREELY)

    assert "may have been billed" in done.failed[wanted.request.key]
    assert states(store) == ["lost", "lost"]


def test_progress_is_told_as_answers_arrive(store):
    told = []

    run(store, ScriptedModel(), items(4), progress=lambda done, total: told.append((done, total)))

    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_several_runs_use_one_loop_and_let_go_of_the_model_once(store):
    model = ScriptedModel()
    with PaidCalls(store, model, PRICE, LimitSettings(), LLMSettings()) as calls:
        first = calls.run(items(2), PURPOSE, FREELY)
        second = calls.run(items(5), PURPOSE, FREELY)
        assert calls.run([], PURPOSE, FREELY).answered == 0

    assert (first.answered, second.answered, model.closed) == (2, 3, 1)


def test_an_interrupted_run_leaves_its_rows_lost_and_the_next_goes_on(store):
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    wanted = items(12)
    calls = PaidCalls(store, ScriptedModel(seconds=0.02), PRICE, LimitSettings(), LLMSettings())
    with pytest.raises(KeyboardInterrupt):
        calls.run(wanted, PURPOSE, FREELY, progress=stop)
    calls.close()

    assert "open" not in states(store)
    known = len(store.answers([each.request.key for each in wanted]))
    done = run(store, ScriptedModel(), wanted)
    assert (done.cached, done.answered) == (known, 12 - known)


def test_an_answer_that_cannot_be_kept_is_an_error(store, monkeypatch):
    def full(*_, **__):
        raise StoreError("The disk is full.")

    wanted = items(3)
    with monkeypatch.context() as broken:
        broken.setattr("resources.paid_answers.Answers.keep", full)
        with pytest.raises(StoreError, match="disk is full"):
            run(store, ScriptedModel(), wanted)

    assert "open" not in states(store)
    assert run(store, ScriptedModel(), wanted).answered == 3


def test_what_a_dead_process_had_in_flight_counts_at_its_estimate(store):
    (wanted,) = items(1)
    script = "from resources.processes import this_process; print(this_process())"
    dead = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    new = NewRow("f", "s", "p", "m", bytes.fromhex(wanted.request.key), b"", "", 10, 40)
    with store.transaction():
        store.ledger.open(new, dead.stdout.strip(), time.time() + 99, time.time())
        store.ledger.open(new._replace(key=b"k" * 16), dead.stdout.strip(), time.time() + 99, 0)

    assert run(store, ScriptedModel(), [wanted]).answered == 1
    assert states(store) == ["lost", "lost", "settled"]
    assert store.spent_since(0) == 20 + ANSWER_NANO


def test_what_an_owner_elsewhere_pays_for_is_waited_for_until_its_time_is_up(store, quick_pauses):
    (wanted,) = items(1)
    now = [1_937_000_000.0]
    new = NewRow("f", "s", "p", "m", bytes.fromhex(wanted.request.key), b"", "", 10, 40)
    with store.transaction():
        store.ledger.open(new, "another-machine:77:ab", now[0] + 60, now[0])
    looks = []

    def deadline() -> bool:
        looks.append(1)
        if len(looks) == 5:
            now[0] += 61
        return False

    done = run(store, ScriptedModel(), [wanted], clock=lambda: now[0], deadline=deadline)

    assert (done.answered, len(looks) >= 5) == (1, True)
    assert states(store) == ["lost", "settled"]


def test_two_runs_at_once_in_one_process_pay_nothing_twice(path):
    model_of = {number: ScriptedModel(seconds=0.005) for number in range(2)}
    done = {}

    def pay(number: int) -> None:
        with PaidStore(path) as store:
            done[number] = run(store, model_of[number], items(60))

    threads = [threading.Thread(target=pay, args=(number,)) for number in model_of]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    asked = model_of[0].asked + model_of[1].asked
    assert len(asked) == len(set(asked)) == 60
    assert [each.answered + each.cached for each in done.values()] == [60, 60]


def test_paying_works_inside_a_dagster_op(path):
    @dg.op
    def pay() -> int:
        with PaidStore(path) as store:
            return run(store, ScriptedModel(), items(3)).answered

    @dg.job
    def job():
        pay()

    assert job.execute_in_process().output_for_node("pay") == 3


def test_a_model_is_never_asked_from_a_running_loop_by_mistake(store):
    async def inside() -> None:
        run(store, ScriptedModel(), items(1))

    with pytest.raises(RuntimeError, match="running event loop"):
        asyncio.run(inside())
    assert store.rows() == []


@pytest.fixture
def service(monkeypatch):
    """Anthropic's real client before a stand-in for its service, over real HTTP."""
    pytest.importorskip("anthropic", reason="the anthropic package is not installed")
    with AnthropicStandIn() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.scenario.key)
        yield server


def pay_service(store, service, wanted, **options):
    llm = LLMSettings(engine="anthropic", url=service.url, max_parallel=8)
    limits = LimitSettings(auto_approve_usd=1)
    with PaidCalls(store, open_llm(llm), PRICE, limits, llm) as calls:
        return calls.run(wanted, PURPOSE, FREELY, **options)


def service_items(count: int) -> list[Item]:
    schema = {
        "type": "object",
        "properties": {"keep": {"type": "boolean"}},
        "required": ["keep"],
        "additionalProperties": False,
    }
    asked = [replace(request(f"text {number}"), schema=schema) for number in range(count)]
    return [Item(each, (each.key,), 20) for each in asked]


def test_the_ledger_is_the_providers_bill_to_the_nano_dollar(store, service):
    service.scenario.spend_limit_after = 9
    wanted = service_items(40)

    stopped = pay_service(store, service, wanted)

    assert (stopped.stop_kind, stopped.answered) == ("SpendLimitError", 9)
    assert len(service.calls("/v1/messages")) <= 9 + 8
    assert billed(store) == stopped.billed_nano == service.billed_nano > 0
    service.scenario.spend_limit_after = None
    done = pay_service(store, service, wanted)
    assert (done.answered, done.cached, service.repeats()) == (31, 9, 0)
    assert billed(store) == service.billed_nano


def test_a_parcel_whose_answer_broke_off_is_found_and_paid_for_once(store, service, monkeypatch):
    monkeypatch.setattr(paid_fetching, "_FIRST_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(paid_run, "_FIRST_PAUSE_SECONDS", 0.001)
    service.scenario.drop_batch_create = service.scenario.break_results = 1

    done = pay_service(store, service, service_items(6), is_batch=True)

    assert (done.answered, service.repeats()) == (6, 0)
    assert (
        len([call for call in service.calls("/v1/messages/batches") if call.method == "POST"]) == 1
    )
    assert billed(store) == done.billed_nano == service.billed_nano > 0


KINDS = st.sampled_from(["said", "cut", "billed", "unbilled", "drop", "defect", "pause"])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(KINDS, max_size=3), min_size=1, max_size=10),
    st.integers(0, 12),
    st.sampled_from(["auto", "approved", "month"]),
    st.integers(1, 6),
)
def test_the_ledger_is_the_models_own_bill_and_no_ceiling_is_passed_by_more_than_an_answer(
    scripts, affordable, ceiling, parallel
):
    wanted = items(len(scripts))
    steps = {
        "said": lambda asked: answer(asked.text),
        "cut": lambda asked: answer("", CUT, Tokens(2, 1_000)),
        "billed": BadRequestError("Billed.", Tokens(3, 400)),
        "unbilled": BadRequestError("Not billed."),
        "drop": DroppedError("It broke."),
        "defect": ValueError(SECRET),
        "pause": PauseError("Busy.", 0.001),
    }
    model = ScriptedModel(
        {
            each.request.key: [steps[kind] for kind in script]
            for each, script in zip(wanted, scripts, strict=True)
        }
    )
    worst = max(estimate(each, PRICE).worst for each in wanted)
    usd = affordable * worst / 4 / 1e9
    limits = {"auto": {"auto_approve_usd": usd}, "month": {"monthly_usd": usd}}.get(ceiling, {})
    with TemporaryDirectory() as folder, PaidStore(Path(folder) / "paid.sqlite") as store:
        permission = approve(store, wanted, usd) if ceiling == "approved" else FREELY
        done = run(store, model, wanted, permission, max_parallel=parallel, **limits)
        rows = store.rows()
        spent = store.spent_since(0)
        kept = store.answers([each.request.key for each in wanted])

    settled = [row for row in rows if row.state == "settled"]
    assert sum(row.billed_nano for row in settled) == done.billed_nano == model.billed_nano
    assert {row.state for row in rows} <= {"settled", "lost", "void"}
    assert spent < nano(usd) + worst
    assert done.answered + done.waiting + len(done.failed) == len(wanted)
    assert len(kept) == done.answered == len(model.answered) == len(set(model.answered))
    for key in {row.key for row in rows}:
        drops = sum(row.state == "lost" for row in rows if row.key == key)
        assert sum(row.key == key for row in rows if row.state != "void") <= 1 + drops
    assert done.waiting == 0 or done.stop_kind == "ceiling"


def start(path: Path, folder: Path, count: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.standins.scripted_llm", "--store", str(path)]
    command += ["--folder", str(folder), "--count", str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_a_killed_process_pays_again_at_most_what_it_had_in_flight(path, tmp_path):
    count, rounds = 120, 3
    for number in range(rounds):
        child = start(path, tmp_path, count)
        while len(read_lines(tmp_path / "billed")) < 25 * (number + 1):
            assert child.poll() is None
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.communicate()

    model = ScriptedModel(folder=tmp_path)
    with PaidStore(path) as store:
        done = run(store, model, items(count))
        known = store.answers([each.request.key for each in items(count)])
        rows = store.rows()

    assert (done.answered + done.cached, len(known)) == (count, count)
    paid = read_lines(tmp_path / "billed")
    assert len(set(paid)) == count
    assert len(paid) - count <= 8 * rounds
    assert sum(row.state == "settled" for row in rows) == count
    assert sum(row.state == "lost" for row in rows) <= 8 * rounds


def test_two_processes_at_once_pay_nothing_twice(path, tmp_path):
    children = [start(path, tmp_path, 80) for _ in range(2)]
    done = [json.loads(child.communicate()[0]) for child in children]

    paid = read_lines(tmp_path / "billed")
    assert len(paid) == len(set(paid)) == 80
    assert sum(each["asked"] for each in done) == 80
    assert all(each["answered"] + each["cached"] == 80 for each in done)
