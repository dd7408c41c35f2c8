"""The sensor asks for folders that are affordable or approved, and says what waits for what."""

import dagster as dg
import pytest

from kb_assets.approvals import ASSET, JOB
from kb_assets.gate import Standing, standing
from kb_assets.workbench import Workbench
from kb_serve.definitions import PAID, WORDS, bench_for, make_definitions
from resources.spending import Permission, Plan
from sensors.paid_gate import decide, paid_gate, waiting_words
from tests.built_home import open_home
from tests.paid_home import paid_home, partition_of, states
from tests.standins.anthropic_server import KEY, MODEL, AnthropicStandIn
from tests.watched_home import Watched


def plan(folder: str, state: str = "auto", name: str = "a" * 32, items: int = 3) -> Standing:
    made = Plan(name, f"{folder.lower()}-key", "extractions", MODEL, ("k",), 1_500_000_000, False)
    why = "extractions (about $1.50) waits: `kb approve aaaaaaaa --usd 1.50`."
    return Standing(folder, made, items, False, Permission(state, "", 0, why))


def asked(plans, busy=(), held=None, now=1000.0, failed=None):
    held = {} if held is None else held
    return decide(
        plans,
        frozenset(busy),
        held,
        job=PAID,
        now=now,
        last_failure=lambda _job, _key, _since: failed,
    )


def test_what_is_affordable_or_approved_is_asked_for():
    plans = [plan("Work"), plan("Home", "approved"), plan("Yard", "free"), plan("Pier", "waiting")]
    requests, words = asked(plans)
    assert [each.partition for each in requests] == ["work-key", "home-key", "yard-key"]
    assert len(words) == 1


def test_what_waits_names_folder_dollars_and_plan():
    words = waiting_words(plan("Work", "waiting"))
    assert words.startswith("Work (3 requests, plan aaaaaaaa): ")
    assert "$1.50" in words


@pytest.mark.parametrize("state", ["waiting", "declined", "month"])
def test_what_nobody_allowed_is_not_asked_for(state):
    assert asked([plan("Work", state)])[0] == []


def test_a_folder_that_is_being_read_is_left_alone():
    requests, words = asked([plan("Work")], busy=["work-key"])
    assert requests == []
    assert words == ["Work is being read"]


def test_a_run_that_did_not_help_is_asked_for_again_later_and_another_plan_at_once():
    held = {}
    assert len(asked([plan("Work")], held=held)[0]) == 1
    requests, words = asked([plan("Work")], held=held, now=1010.0)
    assert requests == []
    assert "asked for again in 20 s" in words[0]
    assert len(asked([plan("Work", name="b" * 32)], held=held, now=1010.0)[0]) == 1
    assert asked([plan("Work", name="b" * 32)], held=held, now=2000.0)[0][0].times == 2


def test_two_stages_of_one_folder_are_one_run():
    requests, _ = asked([plan("Work"), plan("Work", name="c" * 32)])
    assert len(requests) == 1


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with AnthropicStandIn() as found:
        yield found


def watched(home) -> Watched:
    found = Watched.__new__(Watched)
    found.home, found.vault = home, home.vault_path
    found.instance = dg.DagsterInstance.ephemeral()
    found.cursor, found.ahead = None, 0.0
    found.instance.add_dynamic_partitions("folder", list(home.folders()))
    home.write_record("last-build", {"build": "one"})
    return found


def tick(watch: Watched) -> tuple[list[dg.RunRequest], str]:
    result = watch.evaluate(paid_gate(watch.wiring(), watch.home.settings.refresh))
    if isinstance(result, dg.SkipReason):
        return [], result.skip_message or ""
    watch.cursor = result.cursor
    reason = result.skip_reason.skip_message if result.skip_reason else ""
    return list(result.run_requests or []), reason or ""


def approve(watch: Watched, **values) -> dg.ExecuteInProcessResult:
    job = make_definitions(Workbench(watch.home)).resolve_job_def(JOB)
    config = {"ops": {"approve_plan": {"config": {"usd": 0.05, "who": "mara", **values}}}}
    return job.execute_in_process(instance=watch.instance, run_config=config, raise_on_error=False)


def test_an_approved_folder_is_read_by_the_run_that_is_asked_for(tmp_path, server):
    watch = watched(paid_home(tmp_path, server.url, auto=0.0, allow=("Work",)))
    requests, words = tick(watch)
    assert requests == []
    waits = standing(watch.home)[0]
    assert waits.folder in words
    assert waits.plan.plan_id[:8] in words
    wrong = {"plan": waits.plan.plan_id, "folder": "People", "stage": waits.plan.stage}
    assert not approve(watch, **wrong).success
    assert not approve(watch, **{**wrong, "folder": "Work", "stage": "triage"}).success
    assert not approve(watch, **{**wrong, "folder": "Work", "plan": "f" * 32}).success
    assert tick(watch)[0] == []
    assert server.billed_nano == 0
    assert approve(watch, **{**wrong, "folder": "Work"}).success
    event = watch.instance.get_latest_materialization_event(dg.AssetKey(ASSET))
    assert event is not None
    (request,) = tick(watch)[0]
    assert (request.job_name, watch.folder(request)) == (PAID, "Work")
    assert watch.run(request)
    assert set(states(watch.home, "Work")) == {(MODEL, "read")}
    assert standing(watch.home) == []
    assert tick(watch) == ([], "Nothing waits for a language model.")


@pytest.mark.parametrize(
    ("job", "may_pay"),
    [(PAID, True), ("__ASSET_JOB", True), (WORDS, False), ("vectors", False), ("vault", False)],
)
def test_only_its_own_job_or_a_person_has_a_model_asked(tmp_path, job, may_pay):
    bench = Workbench(open_home(tmp_path / "home", tmp_path))
    assert bench_for(bench, dg.DagsterRun(job_name=job)).may_pay is may_pay


def test_reading_words_asks_no_model_whatever_is_allowed(tmp_path, server):
    watch = watched(paid_home(tmp_path, server.url, allow=("Work",)))
    assert standing(watch.home)[0].is_due
    run = dg.RunRequest(partition_key=partition_of(watch.home, "Work"), job_name=WORDS)
    watch.run(run)
    assert server.billed_nano == 0
