"""What an operating system's own schedule needs to run `kb refresh`. Pure: texts out, nothing done.

For whom no page shall stay open: a systemd user timer, a launchd agent, a task of the Windows
scheduler. Each starts one quiet `kb refresh` and never a second beside it.
"""

import plistlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from xml.sax.saxutils import escape

NAME = "kb-refresh"
LABEL = "org.vault-knowledge-base.refresh"
LOG = "data/refresh.log"  # below the home; systemd keeps a journal of its own

_SERVICE = """\
[Unit]
Description=Bring the knowledge base of {home} up to date

[Service]
Type=oneshot
ExecStart={command}
Nice=10
IOSchedulingClass=idle
UMask=0077
NoNewPrivileges=yes
"""
_TIMER = """\
[Unit]
Description=Bring a knowledge base up to date every {minutes} minutes

[Timer]
OnBootSec=2min
OnUnitInactiveSec={minutes}min
AccuracySec=1min

[Install]
WantedBy=timers.target
"""
# Without an encoding in its head the file may be saved as UTF-8 or, as PowerShell does, as UTF-16.
_TASK = """\
<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Bring the knowledge base of {home} up to date</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <StartBoundary>2024-01-01T00:00:00</StartBoundary>
      <Repetition>
        <Interval>PT{minutes}M</Interval>
      </Repetition>
    </TimeTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
  </Settings>
  <Actions>
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
_STEPS = {
    "systemd": (
        f"Save the two parts as {NAME}.service and {NAME}.timer in ~/.config/systemd/user, then: "
        f"systemctl --user daemon-reload && systemctl --user enable --now {NAME}.timer"
    ),
    "launchd": (
        f"Save it as ~/Library/LaunchAgents/{LABEL}.plist, then: "
        f"launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{LABEL}.plist"
    ),
    "windows": f"Save it as {NAME}.xml, then: schtasks /Create /TN {NAME} /XML {NAME}.xml",
}
KINDS = tuple(_STEPS)


@dataclass(frozen=True)
class Plan:
    """What is to be run, and how often."""

    python: PurePath
    home: PurePath
    minutes: int
    time_box: float | None = None  # minutes one run may spend on vectors

    def arguments(self) -> list[str]:
        """Return what Python is started with. -P: the working directory is no place to import."""
        box = [] if self.time_box is None else ["--time-box", f"{self.time_box:g}"]
        return ["-P", "-m", "kb_serve.cli", "refresh", "--home", str(self.home), *box]


def schedule_files(kind: str, plan: Plan) -> dict[str, str]:
    """Return the files a schedule is made of, by name."""
    return _MAKERS[kind](plan)


def printed(files: Mapping[str, str]) -> str:
    """Return what is shown: one file as it is, several under their names."""
    if len(files) == 1:
        return next(iter(files.values()))
    return "\n".join(f"# {name}\n{text}" for name, text in files.items())


def steps(kind: str) -> str:
    """Say what to do with the files."""
    return _STEPS[kind]


def _systemd(plan: Plan) -> dict[str, str]:
    command = " ".join(_in_unit(each) for each in [str(plan.python), *plan.arguments()])
    home = " ".join(str(plan.home).split()).replace("%", "%%")
    return {
        f"{NAME}.service": _SERVICE.format(home=home, command=command),
        f"{NAME}.timer": _TIMER.format(minutes=plan.minutes),
    }


def _in_unit(argument: str) -> str:
    """Quote an argument as unit files want it: % and $ stand for something there."""
    text = argument.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text.replace("%", "%%").replace("$", "$$")}"'


def _launchd(plan: Plan) -> dict[str, str]:
    log = str(plan.home / LOG)
    values = {
        "Label": LABEL,
        "ProgramArguments": [str(plan.python), *plan.arguments()],
        "StartInterval": plan.minutes * 60,
        "RunAtLoad": True,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Umask": 0o077,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    return {f"{LABEL}.plist": plistlib.dumps(values, sort_keys=False).decode()}


def _windows(plan: Plan) -> dict[str, str]:
    text = _TASK.format(
        home=escape(str(plan.home)),
        minutes=plan.minutes,
        command=escape(str(plan.python)),
        arguments=escape(_command_line(plan.arguments())),
    )
    return {f"{NAME}.xml": text}


def _command_line(arguments: Sequence[str]) -> str:
    """Quote arguments as programs under Windows take them apart."""
    return subprocess.list2cmdline(arguments)


_MAKERS = {"systemd": _systemd, "launchd": _launchd, "windows": _windows}
