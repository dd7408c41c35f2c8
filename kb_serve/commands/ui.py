"""`kb ui`: the guarded page of this home, with its board and daemon, on this machine alone."""

import click

from kb_serve.cli import home_option, home_root
from kb_serve.output import say


@click.command(short_help="Open the build's page in the browser.")
@click.option(
    "--port",
    default=3000,
    show_default=True,
    type=click.IntRange(1, 65_535),
    help="Where the page answers.",
)
@home_option
def command(port: int, home: str | None) -> None:
    """Open the page of this home on 127.0.0.1: the board, lineage, runs, folders, sensors.

    Only this page itself may ask it: requests that other pages make in your browser are refused
    and named here. It has no login: whoever else works on this machine can reach it. Ctrl-C ends
    it with everything it started.

    \b
    Example:  kb ui --port 3000
    """
    from kb_serve.dagster_page import serve
    from resources.home import Home

    opened = Home.open(home_root(home))
    say(f"Starting the page of {opened.root} on port {port}. Ctrl-C stops it.")
    raise SystemExit(serve(opened, port))
