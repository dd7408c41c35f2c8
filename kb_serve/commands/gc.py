"""`kb gc`: free the room that earlier builds take."""

from typing import TYPE_CHECKING

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit

if TYPE_CHECKING:
    from kb_serve.keeping.collecting import Collected

_KEEP = 3
_OLDER_THAN_DAYS = round(1 / 24, 3)


@click.command(short_help="Remove earlier builds and files that nothing needs.")
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=_KEEP,
    show_default=True,
    metavar="N",
    help="Published builds to keep, to go back to.",
)
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=_OLDER_THAN_DAYS,
    metavar="DAYS",
    help="Only what has not changed for so long (default: an hour).",
)
@click.option("--vectors", is_flag=True, help="Also vectors of texts that nothing holds any more.")
@click.option("--dry-run", is_flag=True, help="Say what would go; remove nothing.")
@json_option
@home_option
def command(
    keep: int, older_than: float, vectors: bool, dry_run: bool, as_json: bool, home: str | None
) -> None:
    """Remove earlier builds, files that nothing names any more, and what dead runs left behind.

    The build that answers, a pinned one, the last one and the one that scores are compared with
    always stay, and so do the journal and everything you wrote. Nothing runs beside a build.

    \b
    Examples:  kb gc --dry-run
               kb gc --keep 1
               kb gc --older-than 30 --vectors
    """
    from kb_serve.keeping.collecting import collect_garbage
    from resources.home import Home

    collected = collect_garbage(
        Home.open(home_root(home)),
        keep=keep,
        older_than_days=older_than,
        vectors=vectors,
        dry_run=dry_run,
    )
    if as_json:
        emit(collected.to_json(dry_run=dry_run))
    else:
        click.echo(_said(collected, dry_run=dry_run))


def _said(collected: "Collected", *, dry_run: bool) -> str:
    planned = collected.planned
    went = [
        counted(len(planned.builds), "build"),
        counted(len(planned.stored), "stored file"),
        counted(len(planned.leftovers), "leftover"),
        *([counted(collected.vectors, "vector")] if collected.vectors else []),
    ]
    what = "would be removed" if dry_run else "removed"
    return (
        f"{', '.join(went)} {what}: {collected.bytes / 1_000_000:,.1f} MB. "
        f"{counted(len(collected.kept), 'build')} kept."
    )
