"""A command that is forked from a process with its imports done is the command itself."""

import pytest

from tests.kb_command import run_kb
from tests.ready_home import ready_home


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return ready_home(tmp_path_factory.mktemp("warm")).home


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("search", "ferry", "--notes", "0"),
        ("search", "ferry", "--folder", "Nope"),
        ("search", "what does the pier cost", "--json"),
        ("check", "--all"),
    ],
)
def test_it_ends_and_says_what_a_cold_one_does(home, arguments):
    where = {"KB_HOME": str(home)}
    warm, cold = (run_kb(*arguments, env=where, cold=cold) for cold in (False, True))

    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert warm.stderr == cold.stderr


def test_nothing_of_a_command_stays_for_the_next(home, tmp_path):
    found = run_kb("folders", env={"KB_HOME": str(home)}, cwd=tmp_path)
    lost = run_kb("folders", cwd=tmp_path)

    assert found.returncode == 0
    assert lost.returncode == 1
    assert "kb init" in lost.stderr
