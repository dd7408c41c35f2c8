"""`kb backup DIR`: copy what cannot be made anew, and what answers now."""

from pathlib import Path

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say


@click.command(short_help="Copy a home into a new folder.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@json_option
@home_option
def command(folder: Path, as_json: bool, home: str | None) -> None:
    """Copy a home into a new folder: settings, journal, questions, caches and the build that
    answers, with what is needed to go on building. Every copy is read again and compared.

    It holds the texts of your notes: keep it as safe as them. The vault itself is not in it, nor
    is Dagster's history of runs. Nothing is built meanwhile; searching goes on.

    \b
    Examples:  kb backup /media/disk/knowledge-2026-12-01
    """
    from kb_serve.keeping.backup import make_backup
    from resources.home import Home

    opened = Home.open(home_root(home))
    say(f"Copying {opened.root}")
    made = make_backup(opened, folder.expanduser().resolve())
    values = {
        "folder": str(folder.expanduser().resolve()),
        "build": made.build,
        "files": len(made.files),
        "bytes": made.bytes,
    }
    if as_json:
        emit(values)
        return
    click.echo(
        f"{counted(len(made.files), 'file')}, {made.bytes / 1_000_000:,.1f} MB, are in {folder} "
        "and were compared with their originals."
    )
    click.echo(f"Bring it back with:  kb restore {folder} --home NEW")
