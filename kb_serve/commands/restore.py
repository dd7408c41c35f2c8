"""`kb restore DIR`: make a home of a backup."""

from pathlib import Path

import click

from kb_serve.cli import json_option
from kb_serve.output import counted, emit, say


@click.command(short_help="Make a home of a backup.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--home",
    required=True,
    metavar="NEW",
    type=click.Path(path_type=Path),
    help="A new or empty folder for the home.",
)
@click.option(
    "--vault",
    metavar="VAULT",
    type=click.Path(path_type=Path),
    help="Where the notes are now, if not where they were.",
)
@json_option
def command(folder: Path, home: Path, vault: Path | None, as_json: bool) -> None:
    """Make a home of a backup. Every file is compared with what was copied before it counts.

    The home answers what it answered, and the next `kb build` does only what is new.

    \b
    Examples:  kb restore /media/disk/knowledge-2026-12-01 --home ~/knowledge
               kb restore /media/disk/knowledge-2026-12-01 --home ~/knowledge --vault ~/Notes
    """
    from kb_serve.keeping.restore import restore
    from resources.home import Home

    backup = restore(folder.expanduser().resolve(), home, vault)
    opened = Home.open(home.expanduser().resolve())
    if not opened.vault_path.is_dir():
        say(f"The vault {opened.vault_path} is not here: set `vault.path` in kb.toml.")
    if as_json:
        emit(
            {
                "home": str(opened.root),
                "vault": str(opened.vault_path),
                "build": backup.build,
                "files": len(backup.files),
                "bytes": backup.bytes,
            }
        )
        return
    click.echo(
        f"{counted(len(backup.files), 'file')} restored to {opened.root}, each as it was copied."
    )
    click.echo(f"Next:  kb search QUESTION --home {home}\n       kb build --home {home}")
