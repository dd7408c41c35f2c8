"""`kb history`: the earlier versions of notes, and how more of them come in."""

import datetime as dt

import click

from kb_core.errors import SettingsError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say


@click.group(short_help="Bring in earlier versions of notes from git.")
def command() -> None:
    """The earlier versions of notes, kept in the home.

    \b
    Example:  kb history import
    """


@command.command("import")
@click.option("--git", "_git", is_flag=True, default=True, help="From git; there is no other yet.")
@click.option("--since", metavar="DATE", help="Only what was committed since: 2023-01-01.")
@click.option("--dry-run", is_flag=True, help="Say what would come in, and change nothing.")
@json_option
@home_option
def import_(_git: bool, since: str | None, dry_run: bool, as_json: bool, home: str | None) -> None:
    """Take earlier versions of the notes out of the git repository that the vault lies in.

    Each version counts as seen when it was committed. A note without a date of its own is dated
    by the commit that brought it. Only the main line of what is checked out is read, nothing is
    fetched, and the repository is not changed. It may be repeated: nothing comes in twice.

    \b
    Examples:  kb history import --dry-run
               kb history import --since 2023-01-01
    """
    from kb_assets.placeholders.git_import import import_git
    from resources.home import Home

    moment = _moment(since)
    opened = Home.open(home_root(home))
    done = import_git(opened, dt.datetime.now(dt.UTC), since=moment, is_dry=dry_run)
    if done.is_shallow:
        say(
            "This is a shallow clone: what is older than its oldest commit is not in it, and that "
            "commit dates no note. `git fetch --unshallow` brings the rest."
        )
    values = {
        "versions": done.versions,
        "notes": done.notes,
        "gone": done.gone,
        "known": done.known,
        "unreadable": done.unreadable,
        "first": done.first.isoformat() if done.first else None,
        "last": done.last.isoformat() if done.last else None,
        "shallow": done.is_shallow,
        "dry_run": dry_run,
    }
    if as_json:
        emit(values)
        return
    _show(values)


def _moment(since: str | None) -> dt.datetime | None:
    """Read a day or an instant; a day begins at midnight UTC. Raises SettingsError."""
    if since is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(since)
    except ValueError:
        raise SettingsError(f"--since {since!r} is no date. Write it as 2023-01-31.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _show(values: dict) -> None:
    if values["unreadable"]:
        say(f"Left out: {counted(values['unreadable'], 'version')}, too large or not there.")
    if not values["versions"] and not values["gone"]:
        click.echo(f"Nothing new in git ({counted(values['known'], 'version')} known).")
        return
    what = f"{counted(values['versions'], 'version')} of {counted(values['notes'], 'note')}"
    when = f"{values['first'][:10]} to {values['last'][:10]}"
    if values["dry_run"]:
        click.echo(f"Would import {what}, {when}.")
    else:
        click.echo(f"Imported {what}, {when}. Run `kb build`.")
