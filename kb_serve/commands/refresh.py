"""`kb refresh`: the same as a build, once and quietly, for a schedule of the operating system."""

import click

from kb_serve.cli import home_option, json_option
from kb_serve.commands.build import run_build


@click.command(short_help="Build once, quietly, for a schedule.")
@click.option(
    "--time-box",
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    help="Stop making vectors after so many minutes; the next run goes on.",
)
@json_option
@home_option
def command(time_box: float | None, as_json: bool, home: str | None) -> None:
    """Bring everything up to date once, and speak only when something is wrong.

    \b
    Examples:  kb refresh --home ~/knowledge
               0 * * * *  kb refresh --home ~/knowledge --time-box 20   (crontab)
    """
    run_build(home, (), time_box, migrate=False, as_json=as_json, quiet=True)
