"""`kb ui`: the Dagster page of this home, with its daemon, on this machine alone."""

import click

from kb_serve.cli import home_option, home_root
from kb_serve.output import say


@click.command(short_help="Open the build's page in the browser.")
@click.option("--port", default=3000, show_default=True, help="Where the page answers.")
@home_option
def command(port: int, home: str | None) -> None:
    """Open the build's page on 127.0.0.1: lineage, runs, folders, schedules.

    The page has no login and no guard yet: any page in your browser could start a run through
    it. Keep it closed while you browse elsewhere, and never make it reachable from outside.

    \b
    Example:  kb ui --port 3000
    """
    from kb_serve.dagster_page import serve
    from resources.home import Home

    opened = Home.open(home_root(home))
    say(f"The page of {opened.root}: http://127.0.0.1:{port}   (Ctrl-C stops it)")
    say("It has no guard yet: close it before you browse elsewhere, and never publish the port.")
    raise SystemExit(serve(opened, port))
