"""Parcels of requests: written down before they are sent, fetched by whoever comes next."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb_core.errors import LLMMissingError
from kb_core.money import Tokens, nano
from kb_core.settings import LimitSettings, LLMSettings
from resources import paid_batches, paid_fetching, paid_run
from resources.llm import CUT, BadRequestError, DroppedError, PauseError
from resources.paid_calls import PaidCalls
from resources.paid_items import estimate
from resources.paid_store import PaidStore
from tests.standins.scripted_llm import (
    FREELY,
    PRICE,
    PURPOSE,
    ScriptedBatches,
    ScriptedModel,
    answer,
    items,
    read_lines,
)

ROOT = Path(__file__).resolve().parent.parent
ANSWER_NANO = (1 * 100 + 100 * 500) // 2  # at half the price


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(paid_run, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(paid_run, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(paid_fetching, "_FIRST_LOOK_SECONDS", 0.002)
    monkeypatch.setattr(paid_fetching, "_LATE_SECONDS", 0.05)
    monkeypatch.setattr(paid_batches, "_LOOK_AGAIN_SECONDS", 0.01)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "paid.sqlite"


@pytest.fixture
def store(path):
    with PaidStore(path) as opened:
        yield opened


@pytest.fixture
def batches(tmp_path):
    return ScriptedBatches(tmp_path / "provider")


def run(store, batches, wanted, *, is_batch=True, usd=20.0, permission=FREELY, **options):
    model = ScriptedModel()
    model.batches = batches
    limits = LimitSettings(auto_approve_usd=usd, monthly_usd=20)
    with PaidCalls(store, model, PRICE, limits, LLMSettings(max_parallel=8)) as calls:
        done = calls.run(wanted, PURPOSE, permission, is_batch=is_batch, **options)
    assert not is_batch or not model.asked
    return done


def keys(wanted) -> list[str]:
    return [each.request.key for each in wanted]


def states(store) -> list[str]:
    return [row.state for row in store.rows()]


def test_a_parcel_is_sent_once_at_half_the_price_and_every_answer_kept(store, batches):
    wanted, told = items(30), []

    done = run(store, batches, wanted, progress=lambda *counts: told.append(counts))

    assert (done.answered, done.asked, done.waiting, done.stop_kind) == (30, 30, 0, "")
    assert batches.sent == [keys(wanted)]
    assert list(store.answers(keys(wanted))) == keys(wanted)
    assert done.billed_nano == store.spent_since(0) == 30 * ANSWER_NANO
    assert done.estimated_nano == sum(
        estimate(each, PRICE, is_batch=True).expected for each in wanted
    )
    assert all(row.is_batch and row.state == "settled" for row in store.rows())
    assert told == [(count, 30) for count in range(1, 31)]
    assert run(store, batches, wanted).cached == 30


def test_a_model_without_parcels_is_asked_one_by_one(store):
    model = ScriptedModel()
    with PaidCalls(store, model, PRICE, LimitSettings(), LLMSettings()) as calls:
        assert calls.run(items(3), PURPOSE, FREELY, is_batch=True).answered == 3
    assert len(model.asked) == 3


def test_answers_that_are_cut_or_refused_or_missing_are_told_apart(store, batches):
    wanted = items(4)
    batches.answers = {
        keys(wanted)[0]: answer("[", CUT, Tokens(2, 1_000)),
        keys(wanted)[1]: BadRequestError("It expired."),
        keys(wanted)[2]: None,
    }

    done = run(store, batches, wanted)

    assert (done.answered, len(done.failed)) == (2, 2)
    assert done.failed[keys(wanted)[1]] == "It expired."
    assert "without an answer" in done.failed[keys(wanted)[2]]
    assert store.answers(keys(wanted))[keys(wanted)[0]].stop == CUT
    assert sorted(states(store)) == ["settled", "settled", "void", "void"]
    assert store.spent_since(0) == ANSWER_NANO + (2 * 100 + 1_000 * 500) // 2


def test_a_parcel_holds_only_so_many_requests(store, batches, monkeypatch):
    monkeypatch.setattr(paid_batches, "MOST_IN_PARCEL", 4)

    assert run(store, batches, items(10)).answered == 10
    assert [len(parcel) for parcel in batches.sent] == [4, 4, 2]


def test_time_that_is_up_leaves_the_parcel_under_way_for_the_next_run(store, tmp_path):
    batches = ScriptedBatches(tmp_path / "provider", looks=5)
    wanted = items(6)

    done = run(store, batches, wanted, deadline=lambda: bool(batches.sent))

    assert (done.answered, done.waiting, done.stop_kind) == (0, 6, "time")
    assert "under way" in done.stopped_by
    assert states(store) == ["open"] * 6
    assert store.spent_since(0) == sum(
        estimate(each, PRICE, is_batch=True).worst for each in wanted
    )
    later = run(store, batches, wanted)
    assert (later.answered, later.asked, len(batches.sent)) == (6, 0, 1)
    assert later.billed_nano == store.spent_since(0) == 6 * ANSWER_NANO


def test_a_run_without_parcels_waits_for_one_that_holds_what_it_needs(store, batches):
    wanted = items(6)
    run(store, batches, wanted[:4], deadline=lambda: bool(batches.sent))

    done = run(store, batches, wanted, is_batch=False)

    assert (done.answered, done.asked, len(batches.sent)) == (6, 2, 1)


def test_a_run_that_needs_nothing_of_a_parcel_does_not_wait_for_it(store, tmp_path):
    batches = ScriptedBatches(tmp_path / "provider", looks=1_000)
    run(store, batches, items(4), deadline=lambda: bool(batches.sent))

    done = run(store, batches, items(8)[4:], is_batch=False)

    assert (done.answered, states(store).count("open")) == (4, 4)


def test_a_fetch_that_breaks_is_done_again_and_nothing_is_counted_twice(store, batches):
    batches.breaks = [3, 5]
    wanted = items(8)

    done = run(store, batches, wanted)

    assert (done.answered, batches.fetches) == (8, 3)
    assert done.billed_nano == store.spent_since(0) == 8 * ANSWER_NANO


def test_a_parcel_that_arrived_though_its_id_did_not_is_found_again(store, batches):
    def lose_it() -> None:
        batches.after_send = lambda: None
        raise DroppedError("It broke.")

    batches.after_send = lose_it
    wanted = items(5)

    done = run(store, batches, wanted)

    assert (done.answered, len(batches.sent)) == (5, 1)
    assert store.spent_since(0) == 5 * ANSWER_NANO


def test_a_parcel_that_never_arrived_is_sent_again(store, tmp_path):
    batches = ScriptedBatches(tmp_path / "provider", script=[DroppedError("It broke.")])

    done = run(store, batches, items(5))

    assert (done.answered, len(batches.sent)) == (5, 1)
    assert sorted(states(store)) == ["settled"] * 5 + ["void"] * 5


def test_a_parcel_of_somebody_else_is_not_taken_for_ours(store, batches, tmp_path):
    other = ScriptedModel()
    with PaidStore(tmp_path / "other.sqlite") as theirs:
        other.batches = batches
        limits = LimitSettings(auto_approve_usd=20)
        with PaidCalls(theirs, other, PRICE, limits, LLMSettings()) as calls:
            calls.run(items(9)[5:], PURPOSE, FREELY, is_batch=True)
    mine = ScriptedBatches(tmp_path / "provider", script=[DroppedError("It broke.")])

    done = run(store, mine, items(5))

    assert (done.answered, len(mine.sent)) == (5, 1)


def test_an_older_parcel_of_ours_is_not_taken_for_the_one_that_was_lost(store, batches, tmp_path):
    wanted = items(2)
    batches.answers = {keys(wanted)[0]: BadRequestError("It expired.")}
    run(store, batches, wanted)
    again = ScriptedBatches(tmp_path / "provider", script=[DroppedError("It broke.")])

    done = run(store, again, wanted)

    assert (done.answered, done.cached, again.sent) == (1, 1, [keys(wanted)[:1]])


def test_an_answer_that_two_runs_fetch_is_counted_once(store, batches):
    (wanted,) = items(1)
    run(store, batches, [wanted], deadline=lambda: bool(batches.sent))
    (row,) = store.rows()
    given = {"key": row.key, "row": row.id, "billed": 5, "label": "haiku"}

    with store.transaction():
        assert paid_fetching.take(store, answer=BadRequestError("No.", Tokens(1, 1)), **given)
        assert not paid_fetching.take(store, answer=BadRequestError("No."), **given)
        assert not paid_fetching.take(store, answer=answer(), **given)

    assert store._db.execute("SELECT times FROM failures").fetchall() == [(1,)]
    assert (states(store), store.answers([row.key])) == (["settled"], {})


def test_a_connection_that_breaks_at_each_parcel_stops_the_run(store, tmp_path):
    batches = ScriptedBatches(tmp_path / "provider", script=[DroppedError("It broke.")] * 9)

    done = run(store, batches, items(2))

    assert (done.stop_kind, done.waiting) == ("DroppedError", 2)


def test_one_request_that_is_refused_keeps_no_other_back(store, batches):
    wanted = items(8)
    batches.refused_keys = {keys(wanted)[2]}

    done = run(store, batches, wanted)

    assert done.failed == {keys(wanted)[2]: "This parcel was refused."}
    assert done.answered == 7
    assert store.spent_since(0) == 7 * ANSWER_NANO


def test_a_busy_provider_is_asked_again_and_a_refused_key_stops_the_run(store, tmp_path):
    batches = ScriptedBatches(
        tmp_path / "provider", script=[PauseError("Busy.", 0.001), LLMMissingError("The key.")]
    )

    done = run(store, batches, items(3))

    assert (done.stop_kind, done.stopped_by, done.waiting) == ("LLMMissingError", "The key.", 3)
    assert (states(store), store.spent_since(0)) == (["void"] * 3, 0)
    assert run(store, batches, items(3)).answered == 3


def test_a_parcel_the_provider_has_forgotten_counts_as_lost(store, batches, tmp_path):
    wanted = items(3)
    run(store, batches, wanted, deadline=lambda: bool(batches.sent))
    for file in (tmp_path / "provider").glob("*.json"):
        file.unlink()

    done = run(store, batches, wanted)

    assert (len(done.failed), states(store)) == (3, ["lost"] * 3)
    assert run(store, batches, wanted).answered == 3


def test_a_defect_in_a_parcel_ends_the_run_without_its_words(store, tmp_path):
    batches = ScriptedBatches(tmp_path / "provider", script=[ValueError("the ferry costs 4000")])

    done = run(store, batches, items(3))

    assert (done.stop_kind, done.waiting) == ("DefectError", 3)
    assert "ValueError" in done.stopped_by
    assert "ferry" not in done.stopped_by + "".join(store._db.iterdump()).replace("'text", "")
    assert run(store, batches, items(3)).answered == 3


def test_parcels_keep_to_the_ceiling(store, batches):
    wanted = items(20, max_tokens=200)
    worst = estimate(wanted[0], PRICE, is_batch=True).worst
    usd = 3 * worst / 1e9

    done = run(store, batches, wanted, usd=usd)

    assert done.stop_kind == "ceiling"
    assert len(batches.sent[0]) == 3  # what fits at the most it can cost
    assert done.answered + done.waiting == 20
    assert done.waiting > 0
    assert nano(usd) - ANSWER_NANO <= store.spent_since(0) <= nano(usd)


def test_no_parcel_is_sent_without_a_permission(store, batches):
    waiting = FREELY._replace(state="waiting", why="It waits.")

    done = run(store, batches, items(3), permission=waiting)

    assert (batches.sent, done.waiting, done.stopped_by) == ([], 3, "It waits.")
    assert store.parcels.under_way("anthropic/claude-haiku-5-5") == []


def start(path: Path, folder: Path, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.standins.scripted_llm", "--store", str(path)]
    command += ["--folder", str(folder), "--count", "12", "--batch", *options]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("options", [("--silent",), ()])
def test_a_killed_process_pays_for_no_parcel_twice(path, tmp_path, options):
    provider = tmp_path / "provider"
    child = start(path, provider, *options)
    while not read_lines(provider / "parcels") and child.poll() is None:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.communicate()

    batches = ScriptedBatches(provider)
    with PaidStore(path) as store:
        done = run(store, batches, items(12))
        spent = store.spent_since(0)

    assert done.answered + done.cached == 12
    assert batches.sent == []
    assert len(read_lines(provider / "parcels")) == 1
    assert spent == 12 * ANSWER_NANO


def test_two_processes_at_once_send_nothing_twice(path, tmp_path):
    children = [start(path, tmp_path / "provider") for _ in range(2)]
    done = [json.loads(child.communicate()[0]) for child in children]

    sent = " ".join(read_lines(tmp_path / "provider" / "parcels")).split()
    assert len(sent) == len(set(sent)) == 12
    assert all(each["answered"] + each["cached"] == 12 for each in done)
