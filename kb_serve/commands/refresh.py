"""`kb refresh`: the same as a build, once and quietly, for a schedule of the operating system."""

import sys
from pathlib import Path

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.commands.build import run_build
from kb_serve.output import emit, say
from kb_serve.schedules import KINDS, Plan, printed, schedule_files, steps


@click.command(short_help="Build once, quietly, for a schedule.")
@click.option(
    "--time-box",
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    help="Stop making vectors after so many minutes; the next run goes on.",
)
@click.option(
    "--print-schedule",
    type=click.Choice(KINDS),
    help="Print what your system's schedule needs to do this, and do nothing.",
)
@click.option(
    "--every",
    type=click.IntRange(1, 1440),
    default=60,
    show_default=True,
    metavar="MINUTES",
    help="How often the printed schedule does it.",
)
@json_option
@home_option
def command(
    time_box: float | None, print_schedule: str | None, every: int, as_json: bool, home: str | None
) -> None:
    """Bring everything up to date once, and speak only when something is wrong.

    \b
    Examples:  kb refresh --home ~/knowledge
               kb refresh --print-schedule systemd --every 30
               0 * * * *  kb refresh --home ~/knowledge --time-box 20   (crontab)
    """
    if print_schedule is None:
        run_build(home, (), time_box, migrate=False, as_json=as_json, quiet=True)
        return
    plan = Plan(_python(), home_root(home), every, time_box)
    files = schedule_files(print_schedule, plan)
    if as_json:
        emit({"files": files, "steps": steps(print_schedule)})
        return
    say(steps(print_schedule))
    click.echo(printed(files), nl=False)


def _python() -> Path:
    """Return this Python; under Windows the one that opens no window."""
    here = Path(sys.executable)
    windowless = here.with_name("pythonw.exe")
    return windowless if windowless.is_file() else here
