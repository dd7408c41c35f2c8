"""A run whose process was killed is shown as failed by whoever opens the home next."""

import subprocess
import sys

import dagster as dg
import pytest

from kb_serve.dagster_instance import open_instance
from kb_serve.definitions import PUBLISH, make_definitions
from kb_serve.orphan_runs import TAG, end_orphans, run_tags
from resources.home import Home
from resources.processes import is_gone, this_process
from tests.kb_command import kb_json, make_home
from tests.small_vault import make_vault


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    root = tmp_path_factory.mktemp("orphans")
    return Home.open(make_home(make_vault(root / "vault"), root / "home"))


def a_name_that_is_gone() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    host, _, random = this_process().split(":")
    return f"{host}:{process.pid}:{random}"


def test_a_process_is_known_to_be_gone_on_this_machine_alone():
    assert is_gone(a_name_that_is_gone())
    assert not is_gone(this_process())
    assert not is_gone("another-machine:1:abcd")
    assert is_gone("no number")


def started_run(instance, tags):
    job = make_definitions().resolve_job_def(PUBLISH)
    run = instance.create_run_for_job(job, tags=tags)
    instance.report_engine_event("started", run)
    instance.add_run_tags(run.run_id, tags)
    event = dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, job.name)
    instance.report_dagster_event(event, run.run_id)
    return run.run_id


def test_only_runs_of_processes_that_are_gone_end(home):
    with open_instance(home) as instance:
        gone = started_run(instance, {TAG: a_name_that_is_gone()})
        mine = started_run(instance, run_tags())
        other = started_run(instance, {"somebody": "else"})

        assert end_orphans(instance) == 1
        status = {name: instance.get_run_by_id(name).status for name in (gone, mine, other)}
        assert status[gone] == dg.DagsterRunStatus.FAILURE
        assert status[mine] == status[other] == dg.DagsterRunStatus.STARTED
        assert end_orphans(instance) == 0


def test_the_runs_of_a_build_carry_its_process(home):
    kb_json("build", "--home", str(home.root))

    with open_instance(home) as instance:
        runs = instance.get_runs(filters=dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
    assert runs
    assert all(TAG in run.tags for run in runs)
