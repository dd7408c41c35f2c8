"""What follows a build, a week, a failure: scores, the sweep, alerts; and what is never retried."""

import datetime as dt
import json
import logging
import time

import dagster as dg
import pytest
from dagster._core.execution.retries import auto_reexecution_should_retry_run
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import should_retry

from kb_assets.failures import PERMANENT, Failed, failures_in, without_text
from kb_assets.soundness import vault_was_looked_at
from kb_assets.workbench import Workbench
from kb_core.errors import (
    BusyError,
    ContractError,
    EmbedderDownError,
    KbError,
    MassLossError,
    SettingsError,
    StoreError,
    VaultError,
)
from kb_core.ids import partition_key
from kb_core.settings import RefreshSettings
from kb_serve.definitions import make_definitions
from resources.history import History
from resources.webhook import post
from sensors.failure_alerts import alert_of, tell
from sensors.refresh_schedule import refresh_schedules
from tests.small_vault import put
from tests.standins.listening_post import listening_post
from tests.watched_home import NO_WAITING, Watched, rewrite

CANARY = "quetzalcoatlus"
QUESTION = {
    "id": "pier",
    "question": "What does the pier cost?",
    "category": "single_fact",
    "essential": ["Work/Pier.md"],
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


@pytest.fixture
def watched(tmp_path):
    return Watched.built(tmp_path)


def register(watched):
    """Make the folders partitions, as the page does at its start."""
    watched.instance.add_dynamic_partitions("folder", list(watched.home.folders()))


def give_question(watched):
    put(watched.home.data / "eval", "own.jsonl", json.dumps(QUESTION) + "\n")


# ---- scores after a build


def test_folders_that_moved_and_have_questions_are_scored(watched):
    give_question(watched)

    ticked, _ = watched.scores()

    assert [watched.folder(each) for each in ticked.requests] == ["Work"]
    register(watched)
    assert watched.run(of_job(ticked.requests[0], "scores"))
    again, _ = watched.scores()
    assert again.requests == []


def test_without_a_question_about_it_a_build_is_only_looked_at(watched):
    first, cursor = watched.scores()
    second, _ = watched.scores(cursor)

    assert "moved 3 folders; no question about them alone is left" in first.reason
    assert second.reason.startswith("No new build since ")


def test_scores_that_failed_are_asked_for_again_later(watched):
    give_question(watched)
    _, cursor = watched.scores()

    soon, cursor = watched.scores(cursor)
    watched.ahead = 40
    later, _ = watched.scores(cursor)

    assert soon.requests == []
    assert "its scores: is not done (1 run, asked for again in" in soon.reason
    assert len(later.requests) == 1


@pytest.mark.parametrize("cursor", ["", "[]", '{"build": 3}', '{"build": "gone", "asked": {}}'])
def test_a_cursor_of_a_build_that_was_collected_counts_everything_as_moved(watched, cursor):
    ticked, kept = watched.scores(cursor)

    assert "moved 3 folders" in ticked.reason
    assert json.loads(kept)["build"] == watched.home.record("last-build")["build"]


# ---- the week's sweep


@pytest.fixture
def kept(watched, tmp_path):
    """Return a watched home whose Dagster instance is on the disk, as a schedule wants it."""
    (tmp_path / "dagster").mkdir()
    watched.instance = dg.DagsterInstance.local_temp(str(tmp_path / "dagster"))
    register(watched)
    return watched


def sweep(watched, name, hours_ago=1.0):
    """Evaluate one of the schedules as the daemon would for an hour that has come."""
    due = dt.datetime.now(dt.UTC) - dt.timedelta(hours=hours_ago)
    context = dg.build_schedule_context(instance=watched.instance, scheduled_execution_time=due)
    schedules = refresh_schedules(watched.wiring(), RefreshSettings())
    (schedule,) = [each for each in schedules if each.name == name]
    return schedule(context)


def test_every_folder_is_read_and_the_listing_has_one_start(kept):
    before = History(kept.home.data / "history").listing().started

    requests = sweep(kept, "weekly_words")

    listing = History(kept.home.data / "history").listing()
    assert sorted(each.partition_key for each in requests) == sorted(kept.home.folders())
    assert listing.started > before
    assert sorted(listing.waiting) == sorted(kept.home.folders())
    assert vault_was_looked_at(kept.home, dt.datetime.now(dt.UTC)).is_passed


def test_the_sweep_finds_what_no_file_time_tells(kept):
    """An edit that keeps size, time and inode is invisible to a listing."""
    import os

    note = kept.vault / "Work/Ferry.md"
    kept.tick()
    before = note.stat()
    with note.open("r+") as file:
        file.write("# FERRY")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kept.tick().requests == []

    requests = sweep(kept, "weekly_words")
    for partition in requests:
        kept.run(of_job(partition, "words"))

    table = kept.home.store.read("notes", partition_key("Work"), ["title"])
    assert "FERRY" in table["title"].to_pylist()


def of_job(request, name):
    return dg.RunRequest(partition_key=request.partition_key, job_name=name, tags=request.tags)


def test_values_are_checked_by_folder_and_the_vault_is_built_once(kept):
    assert len(sweep(kept, "weekly_values")) == 3
    assert [each.partition_key for each in sweep(kept, "weekly_vault")] == [None]


def test_one_sweep_stands_for_all_the_weeks_a_machine_slept(kept):
    (request,) = sweep(kept, "weekly_vault", hours_ago=400)
    kept.run(of_job(request, "vault"))

    again = sweep(kept, "weekly_vault", hours_ago=200)

    assert isinstance(again, dg.SkipReason)


def test_a_sweep_over_a_missing_vault_is_skipped_with_words(kept):
    kept.vault.rename(kept.vault.with_name("away"))

    skipped = sweep(kept, "weekly_words")

    assert "does not exist" in skipped.skip_message


def test_an_empty_schedule_is_none_and_no_watching_starts_nothing(tmp_path):
    watched = Watched(tmp_path, f'{NO_WAITING}watch = false\nschedule = ""\n')
    definitions = make_definitions(Workbench(watched.home))
    sensors = {each.name: each.default_status.value for each in definitions.sensors}

    assert list(definitions.schedules) == []
    assert sensors["vault_changes"] == sensors["after_build"] == "STOPPED"
    assert sensors["failure_alerts"] == "RUNNING"


# ---- alerts


def failed_run(watched, problem):
    """Run the words of a folder while its notes cannot be parsed; return the failed run."""
    register(watched)
    rewrite(watched.vault / "Work/Ferry.md", f"# Ferry\n\n{CANARY} {time.time()}\n")
    key = partition_key("Work")
    with pytest.MonkeyPatch.context() as patched:

        def broken(*_given, **_more):
            raise problem from ValueError(CANARY)

        patched.setattr("kb_assets.notes.run.parse_notes", broken)
        watched.run(dg.RunRequest(partition_key=key, job_name="words"))
    return watched.instance.get_runs(limit=1)[0]


def failures_of(watched, run):
    logs = watched.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    return list(failures_in(log.dagster_event for log in logs))


def test_an_alert_says_job_folder_status_and_the_errors_own_words(watched):
    run = failed_run(watched, ContractError("Table 'notes' repeats its key: 2 rows."))

    alert = alert_of(watched.home, run, failures_of(watched, run))

    assert alert == {
        "job": "words",
        "folder": "Work",
        "status": "FAILURE",
        "message": "Table 'notes' repeats its key: 2 rows.",
    }


def test_an_alert_of_what_nobody_expected_says_nothing_of_a_note(watched):
    run = failed_run(watched, KeyError(CANARY))

    alert = alert_of(watched.home, run, failures_of(watched, run))

    assert "KeyError" in alert["message"]
    assert CANARY not in str(alert)


def test_a_run_the_user_stopped_is_no_alert(watched):
    run = failed_run(watched, ContractError("x"))
    stopped = Failed("DagsterExecutionInterruptedError", "an unexpected stop")

    assert alert_of(watched.home, run, [stopped]) == {}


def test_by_default_an_alert_is_one_line_of_the_log_and_goes_nowhere(watched, caplog):
    with caplog.at_level(logging.WARNING, "kb.alerts"):
        tell(
            watched.home, {"job": "words", "folder": "Work", "status": "FAILURE", "message": "a\nb"}
        )

    assert caplog.messages == ["words of Work: FAILURE: a b"]


def test_an_address_is_sent_the_alert(tmp_path):
    alert = {"job": "vault", "folder": "", "status": "FAILURE", "message": "no"}
    with listening_post() as heard:
        watched = Watched(tmp_path, f'{NO_WAITING}[alerts]\nwebhook = "{heard.url}"\n')
        tell(watched.home, alert)

    assert heard.messages == [alert]


@pytest.mark.parametrize(("status", "said"), [(500, "status 500"), (302, "status 302")])
def test_an_address_that_refuses_or_sends_elsewhere_is_said_without_itself(status, said):
    with listening_post(status) as heard:
        assert post(heard.url, {"job": "vault"}) == said
    assert heard.paths == ["/hook/secret-token"]


def test_an_address_that_does_not_answer_holds_nobody_up():
    with listening_post(delay=30) as heard:
        start = time.monotonic()
        problem = post(heard.url, {"job": "vault"}, timeout=0.3)

    assert problem == "TimeoutError"
    assert time.monotonic() - start < 5


def test_what_is_not_delivered_is_logged_without_the_address(tmp_path, caplog):
    watched = Watched(
        tmp_path, f'{NO_WAITING}[alerts]\nwebhook = "http://127.0.0.1:9/secret-token"\n'
    )
    with caplog.at_level(logging.WARNING, "kb.alerts"):
        tell(watched.home, {"job": "vault", "folder": "", "status": "FAILURE", "message": "no"})

    assert "was not delivered" in caplog.messages[-1]
    assert "secret-token" not in caplog.text


# ---- what a repeat cannot mend is never repeated, in any place


@pytest.mark.parametrize("kind", [SettingsError, VaultError, MassLossError, ContractError])
def test_what_equal_input_gives_again_is_permanent(kind):
    assert issubclass(kind, PERMANENT)
    assert Failed(kind.__name__, "").is_permanent


@pytest.mark.parametrize("kind", [BusyError, EmbedderDownError, StoreError, KbError])
def test_what_may_be_over_by_itself_is_not(kind):
    assert not issubclass(kind, PERMANENT)
    assert not Failed(kind.__name__, "").is_permanent


@pytest.mark.parametrize(("problem", "tries"), [(VaultError("gone"), 1), (BusyError("busy"), 3)])
def test_no_retry_policy_tries_a_permanent_failure_again(problem, tries):
    tried = []

    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=2))
    @without_text
    def stage():
        tried.append(1)
        raise problem

    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([stage], instance=instance, raise_on_error=False)

    assert not result.success
    assert len(tried) == tries
    (failed, *_) = failures_in(result.all_events)
    assert failed == Failed(type(problem).__name__, str(problem))


def test_no_database_holds_what_led_to_a_permanent_failure():
    @dg.asset
    @without_text
    def choking():
        raise ContractError("3 rows") from ValueError(CANARY)

    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([choking], instance=instance, raise_on_error=False)
        logs = instance.all_logs(result.run_id)

    assert CANARY not in str(logs)


def test_no_run_of_ours_is_repeated_by_the_daemon_even_where_run_retries_are_on(tmp_path):
    retries = {"run_retries": {"enabled": True, "max_retries": 5}}
    jobs = {each.name: each for each in make_definitions().jobs}
    with dg.instance_for_test(overrides=retries, temp_dir=str(tmp_path)) as instance:
        for name in ("words", "vectors", "vault", "publish", "scores", "values"):
            tags = jobs[name].tags
            run = failed_by_a_step(instance, name, tags)
            assert not auto_reexecution_should_retry_run(instance, run, reason_of(run))
            assert not should_retry(run, instance)
        plain = failed_by_a_step(instance, "other", {})
        assert auto_reexecution_should_retry_run(instance, plain, reason_of(plain))


def failed_by_a_step(instance, name, tags):
    from dagster._core.test_utils import create_run_for_test

    marks = {**tags, "dagster/failure_reason": "STEP_FAILURE"}
    run = create_run_for_test(
        instance, job_name=name, tags=marks, status=dg.DagsterRunStatus.FAILURE
    )
    return instance.get_run_by_id(run.run_id)


def reason_of(run):
    from dagster._core.events import RunFailureReason

    return RunFailureReason(run.tags["dagster/failure_reason"])


def test_a_home_as_it_comes_has_no_run_retries():
    from importlib import resources

    from kb_core import defaults

    text = (resources.files(defaults) / "dagster.yaml").read_text()

    assert "run_retries: {enabled: true, max_retries: 0}" in text


def test_a_failed_automatic_run_is_not_asked_for_again_by_the_automation(watched):
    definitions = make_definitions(Workbench(watched.home))
    job = definitions.resolve_job_def("words")
    instance = watched.instance
    instance.add_dynamic_partitions("folder", list(watched.home.folders()))
    before = dg.evaluate_automation_conditions(definitions, instance)
    rewrite(watched.vault / "Work/Ferry.md", "# Ferry\n\nNow 402.\n")
    job.execute_in_process(instance=instance, partition_key=partition_key("Work"))
    first = dg.evaluate_automation_conditions(definitions, instance, cursor=before.cursor)
    with pytest.MonkeyPatch.context() as patched:

        def broken(*_given, **_more):
            raise ContractError("2 rows")

        patched.setattr("kb_assets.note_links.run._outcome", broken)
        failed = definitions.resolve_job_def("vault").execute_in_process(
            instance=instance, raise_on_error=False
        )
    again = dg.evaluate_automation_conditions(definitions, instance, cursor=first.cursor)

    key = dg.AssetKey("note_links")
    assert first.get_num_requested(key) == 1
    assert not failed.success
    assert again.get_num_requested(key) == 0


def test_links_and_build_wait_for_all_folders_that_are_read_and_then_run_once(watched):
    definitions, instance = make_definitions(Workbench(watched.home)), watched.instance
    register(watched)
    job = definitions.resolve_job_def("words")
    state = dg.evaluate_automation_conditions(definitions, instance)
    asked, under_way = [], {}
    for folder in ("Work", "People", "Archive"):
        key = partition_key(folder)
        put(watched.vault, f"{folder}/New.md", f"# New\n\nSomething about {folder}.\n")
        under_way[key] = queue(instance, job, key)
    for key, run in under_way.items():
        job.execute_in_process(instance=instance, partition_key=key)
        state = dg.evaluate_automation_conditions(definitions, instance, cursor=state.cursor)
        asked.append(state.total_requested)
        instance.report_run_canceled(instance.get_run_by_id(run.run_id))
    for _ in range(2):
        state = dg.evaluate_automation_conditions(definitions, instance, cursor=state.cursor)
        asked.append(state.total_requested)

    # Links, entities, knowledge, build, scores and publishing, once.
    assert asked == [0, 0, 6, 0, 0]


def queue(instance, job, key, assets=("keyword_index",)):
    """Put a run into Dagster's history that has not come to these assets yet."""
    return instance.create_run_for_job(
        job,
        tags={"dagster/partition": key},
        status=dg.DagsterRunStatus.STARTED,
        asset_selection=frozenset(dg.AssetKey(name) for name in assets),
    )


def test_links_and_build_do_not_wait_for_vectors(watched):
    definitions, instance = make_definitions(Workbench(watched.home)), watched.instance
    register(watched)
    state = dg.evaluate_automation_conditions(definitions, instance)
    queue(instance, definitions.resolve_job_def("vectors"), partition_key("Work"), ("embeddings",))
    rewrite(watched.vault / "People/Mara.md", "# Mara\n\nMara Lind left.\n")
    words = definitions.resolve_job_def("words")
    words.execute_in_process(instance=instance, partition_key=partition_key("People"))

    state = dg.evaluate_automation_conditions(definitions, instance, cursor=state.cursor)

    assert state.total_requested == 6
