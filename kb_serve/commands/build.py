"""`kb build`: bring everything up to date that may be, and publish it."""

import signal
import time

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, duration, emit, say


@click.command(short_help="Read what changed and make it searchable.")
@click.option(
    "--folder", "folders", multiple=True, metavar="F", help="Only this folder; may be repeated."
)
@click.option(
    "--time-box",
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    help="Stop making vectors after so many minutes; the next build goes on.",
)
@click.option("--migrate", is_flag=True, help="Accept changed chunk sizes or another embedder.")
@json_option
@home_option
def command(
    folders: tuple[str, ...],
    time_box: float | None,
    migrate: bool,
    as_json: bool,
    home: str | None,
) -> None:
    """Read what changed in the vault and make it searchable.

    Words and links can be searched within seconds; vectors follow folder by folder, the newest
    notes first. Stop it any time: what is done is kept, and the next build goes on from there.

    \b
    Examples:  kb build
               kb build --folder Work --folder Home
               kb build --time-box 10
    """
    run_build(home, folders, time_box, migrate=migrate, as_json=as_json, quiet=False)


def run_build(
    home: str | None,
    folders: tuple[str, ...],
    time_box: float | None,
    *,
    migrate: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build, report, and end with status 1 if anything went wrong."""
    root = home_root(home)
    # A schedule stops with SIGTERM, and a shell's background job ignores Ctrl-C: both end alike.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tell = _say_nothing if quiet else say
    tell("Loading …")
    from kb_assets.workbench import Workbench  # Dagster: 2 to 4 s
    from kb_serve.builder import Builder
    from kb_serve.progress import ProgressLines
    from resources.home import Home

    opened = Home.open(root)
    minutes = opened.settings.embedder.time_box_minutes if time_box is None else time_box
    until = time.monotonic() + minutes * 60 if minutes or time_box == 0 else None
    bench = Workbench(
        opened,
        progress=ProgressLines(tell, duration),
        is_time_up=lambda: until is not None and time.monotonic() >= until,
    )
    tell(f"Reading {opened.vault_path}")
    summary = Builder(bench, tell, folders=folders, migrate=migrate).run()
    values = summary.to_json()
    if as_json:
        emit(values)
    elif not quiet or values["errors"]:
        _show(values)
    if values["errors"]:
        raise SystemExit(1)


def _say_nothing(_text: str) -> None:
    """Keep quiet."""


def _show(values: dict) -> None:
    click.echo(_what_happened(values))
    if values["pinned"]:
        click.echo(f"Build {values['pinned'][:12]} is pinned; `kb publish --unpin` ends that.")
    if values["headline"]:
        click.echo(f"Scores: {values['headline']}.")
    _show_what_is_left(values)
    for error in values["errors"]:
        click.echo(f"Failed: {error['folder'] or 'publishing'}: {error['message']}")


def _what_happened(values: dict) -> str:
    embedded = counted(values["embedded"], "passage")
    took = duration(values["seconds"])
    if values["changed"]:
        return (
            f"Published build {values['build'][:12]} in {took}: "
            f"{counted(values.get('notes', 0), 'note')}, "
            f"{counted(values.get('chunks', 0), 'passage of text', 'passages of text')}, "
            f"{embedded} embedded."
        )
    if values["new_versions"] or values["gone"] or values["embedded"]:
        return (
            f"Build {values['build'][:12]} goes on answering ({took}): "
            f"{counted(values['new_versions'], 'new version')}, {values['gone']} gone, "
            f"{embedded} embedded."
        )
    return f"Nothing changed ({took}); {embedded} embedded."


def _what_was_paid(values: dict) -> str:
    from kb_core.money import DOLLAR, dollars

    estimated = dollars(round(values["estimated_usd"] * DOLLAR))
    return (
        f"Language model: {counted(values['asked'], 'request')}, estimated {estimated}, "
        f"billed {dollars(values['billed_nano'])}."
    )


def _show_what_is_left(values: dict) -> None:
    pending = values.get("texts_without_vectors", 0)
    if pending:
        complete, folders = values["folders_with_vectors"], values["folders_with_texts"]
        click.echo(
            f"Vectors: {complete} of {folders} folders are complete; "
            f"{counted(pending, 'text')} pending, found by their words."
        )
    if values["note"]:
        click.echo(values["note"])
    if values["asked"]:
        click.echo(_what_was_paid(values))
    if values["waiting"]:
        click.echo(values["waiting"])
    if values["skipped"] or values["failed"]:
        click.echo(
            f"Not read: {counted(values['skipped'], 'file')} skipped, {values['failed']} failed;"
            " `kb check` lists them."
        )
