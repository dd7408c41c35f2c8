"""Whatever ends the page ends everything it started, runs included."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from benchmarks.page_requests import environment, free_port, get
from resources.home import Home
from tests.kb_command import make_home
from tests.running_page import ask, newest_run, wait_for
from tests.small_vault import make_vault

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")

LAUNCH = (
    'mutation { launchRun(executionParams: {selector: {jobName: "publish", '
    'repositoryName: "__repository__", repositoryLocationName: "knowledge_base"}, '
    "runConfigData: {}}) { __typename } }"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    return make_home(make_vault(folder / "vault"), folder / "home")


@pytest.fixture(autouse=True)
def heard_hangups():
    """Let children hear of a closed terminal even where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@contextmanager
def running(home):
    """Start `kb ui` as a terminal does; yield its process and its port."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "kb_serve.cli", "ui", "--home", str(home), "--port", str(port)],
        env=environment(),
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        assert wait_for(lambda: _is_up(port) or process.poll() is not None)
        assert process.poll() is None, process.stderr.read()
        yield process, port
    finally:
        process.kill()
        process.communicate()


def _is_up(port):
    try:
        return get(port, "/server_info") == 200
    except OSError:
        return False


def below(process):
    """Return the processes that one started, and those that these started."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    children = [int(child) for task in tasks for child in _listed(task)]
    return [found for child in children for found in (child, *below(child))]


def _listed(task):
    try:
        return task.read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []  # a thread that ended between the listing and the reading


def alive(processes):
    """Return those that run; what ended and waits for its status to be read does not."""
    return [number for number in processes if _state(number) not in ("", "Z", "X")]


def _state(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGHUP])
def test_stopping_the_page_leaves_no_process(home, sign):
    with running(home) as (page, _):
        started = below(page.pid)
        page.send_signal(sign)

        assert page.wait(60) == 0
        assert len(started) >= 3
        assert alive(started) == []


def test_a_killed_page_takes_everything_with_it(home):
    with running(home) as (page, _):
        started = below(page.pid)
        page.kill()

        assert wait_for(lambda: not alive(started))


def test_the_end_of_one_process_is_the_end_of_all_and_is_said(home):
    with running(home) as (page, _):
        started = below(page.pid)
        os.kill(started[0], signal.SIGKILL)

        assert page.wait(60) == 1
        assert alive(started) == []
        assert "ended by itself" in page.stderr.read()


def test_a_run_under_way_ends_with_the_page_and_says_that_it_failed(home):
    # The run waits for what this test holds, until it is ended.
    with Home.open(home).leases.hold("build"), running(home) as (page, port):
        ask(port, LAUNCH)
        assert wait_for(lambda: newest_run(port)["status"] == "STARTED")
        started = below(page.pid)
        page.terminate()

        assert page.wait(60) == 0
        assert len(started) >= 4  # the run has a process of its own
        assert alive(started) == []
    assert last_status(home) == "FAILURE"


def last_status(home):
    before = Path.cwd()
    os.chdir(home)
    try:
        with dg.DagsterInstance.from_config(str(home)) as instance:
            return instance.get_run_records(limit=1)[0].dagster_run.status.value
    finally:
        os.chdir(before)
