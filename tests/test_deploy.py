"""The files for schedules of the operating system: sound, quoted, and the very ones in deploy/."""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from kb_serve.commands.refresh import command
from kb_serve.schedules import KINDS, LABEL, Plan, printed, schedule_files
from tests.kb_command import ROOT

TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
IN_DEPLOY = {
    "systemd": Plan(
        PurePosixPath("/home/you/.local/share/pipx/venvs/vault-knowledge-base/bin/python"),
        PurePosixPath("/home/you/knowledge"),
        60,
    ),
    "launchd": Plan(
        PurePosixPath("/Users/you/.local/pipx/venvs/vault-knowledge-base/bin/python"),
        PurePosixPath("/Users/you/knowledge"),
        60,
    ),
    "windows": Plan(
        PureWindowsPath(r"C:\Users\you\pipx\venvs\vault-knowledge-base\Scripts\pythonw.exe"),
        PureWindowsPath(r"C:\Users\you\knowledge"),
        60,
    ),
}
ODD = PurePosixPath('/home/a b/100% "of" $HOME/<&>/知识')


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_in_deploy_are_what_the_command_prints(kind):
    for name, text in schedule_files(kind, IN_DEPLOY[kind]).items():
        assert (ROOT / "deploy" / name).read_text() == text


@pytest.mark.parametrize("home", [ODD, PurePosixPath("/home/you/knowledge")])
def test_systemd_takes_the_units_as_they_are(tmp_path, home):
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("no systemd on this machine")
    files = schedule_files("systemd", Plan(Path(sys.executable), home, 30))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [analyze, "verify", *(str(tmp_path / name) for name in files)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    ours = [line for line in done.stderr.splitlines() if "kb-refresh" in line]
    assert ours == []


def test_a_unit_quotes_what_systemd_would_take_for_something_else():
    service = schedule_files("systemd", Plan(PurePosixPath("/py"), ODD, 5))["kb-refresh.service"]
    (start,) = [line for line in service.splitlines() if line.startswith("ExecStart=")]

    words = shlex.split(start.removeprefix("ExecStart="))  # % and $ are systemd's own
    assert words[-1].replace("%%", "%").replace("$$", "$") == str(ODD)


def test_launchd_reads_the_list_with_every_argument_whole():
    (text,) = schedule_files("launchd", Plan(PurePosixPath("/py"), ODD, 30, 20)).values()
    values = plistlib.loads(text.encode())

    assert values["Label"] == LABEL
    assert values["StartInterval"] == 1800
    assert values["ProgramArguments"] == [
        "/py", "-P", "-m", "kb_serve.cli", "refresh", "--home", str(ODD), "--time-box", "20",
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_windows_reads_the_task_however_it_was_saved(encoding):
    home = PureWindowsPath(r"C:\Users\a b\<&>\知识")
    (text,) = schedule_files("windows", Plan(PureWindowsPath(r"C:\py.exe"), home, 15)).values()
    task = ElementTree.fromstring(text.encode(encoding))  # noqa: S314 - our own text

    assert task.findtext(f".//{TASK}Interval") == "PT15M"
    assert task.findtext(f".//{TASK}Command") == r"C:\py.exe"
    assert task.findtext(f".//{TASK}Arguments").endswith(rf'--home "{home}"')
    assert task.findtext(f".//{TASK}MultipleInstancesPolicy") == "IgnoreNew"


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_fills_in_this_home_and_this_python(tmp_path, monkeypatch, kind):
    (tmp_path / "kb.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KB_HOME", str(tmp_path))

    done = CliRunner().invoke(command, ["--print-schedule", kind, "--every", "45"])

    assert done.exit_code == 0
    assert str(tmp_path) in done.stdout
    assert sys.executable in done.stdout
    assert "45" in done.stdout or "2700" in done.stdout


def test_several_files_are_shown_under_their_names():
    text = printed(schedule_files("systemd", IN_DEPLOY["systemd"]))

    assert text.startswith("# kb-refresh.service\n[Unit]")
    assert "\n# kb-refresh.timer\n[Unit]" in text
