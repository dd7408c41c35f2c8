"""`kb verify`: look whether every stored byte is what was written."""

import time
from typing import TYPE_CHECKING, Any

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say, table

if TYPE_CHECKING:
    from kb_serve.keeping.checks import Verified
    from kb_serve.keeping.mending import Mended
    from resources.home import Home

_SECONDS_BETWEEN_LINES = 5.0
_WAIT_SECONDS = 10.0
_MEGABYTE = 1_000_000


@click.command(short_help="Check every stored byte.")
@click.option("--build", metavar="BUILD", help="Check only this build.")
@click.option("--all", "everything", is_flag=True, help="Also files that nothing names any more.")
@click.option("--mend", "mending", is_flag=True, help="Move away what can be made anew.")
@json_option
@home_option
def command(
    build: str | None, everything: bool, mending: bool, as_json: bool, home: str | None
) -> None:
    """Check every stored byte: tables, indexes, builds, journal, caches, records, Dagster's files.

    Says what is damaged, what that means and what to do; ends with status 1 if anything is.
    --mend moves away what can be made anew, so that the next build makes just that. Nothing is
    mended that only a backup can bring back. What you write yourself is not checked.

    \b
    Examples:  kb verify
               kb verify --build 1f3a
               kb verify --mend && kb build
    """
    from resources.builds import Builds
    from resources.home import Home

    if build and mending:
        raise click.UsageError("--mend works on the whole home: leave --build out.")
    opened = Home.open(home_root(home))
    name = Builds(opened.data).find(build) if build else None
    if mending:
        found, mended = _mend(opened, everything)
    else:
        found, mended = _check(opened, name, everything), []
    left = [each for each in found.damages if not (mending and each.kind.is_mendable)]
    if as_json:
        emit(_values(found, mended))
    else:
        _show(found, mended)
    if left:
        raise SystemExit(1)


def _check(home: "Home", build: str | None, everything: bool) -> "Verified":
    from kb_serve.keeping.checks import size_of, verify

    total = size_of(home)
    last = time.monotonic()

    def tell(read: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(f"  {read // _MEGABYTE:,} of about {total // _MEGABYTE:,} MB checked")

    return verify(home, build=build, everything=everything, progress=tell)


def _mend(home: "Home", everything: bool) -> tuple["Verified", list["Mended"]]:
    """Check and mend while nobody writes."""
    from contextlib import nullcontext

    from kb_serve.keeping.checks import leases_are_sound
    from kb_serve.keeping.mending import mend
    from resources.leases import HOME

    # Where the leases themselves are damaged, nobody can hold one: building stops there too.
    alone = home.leases.hold(HOME, _WAIT_SECONDS) if leases_are_sound(home) else nullcontext()
    with alone:
        found = _check(home, None, everything)
        return found, mend(home, found.damages)


def _values(found: "Verified", mended: list["Mended"]) -> dict[str, Any]:
    return {
        "sound": not found.damages,
        "files": found.files,
        "bytes": found.bytes,
        "damaged": [each.to_json() for each in found.damages],
        "mended": [{"path": each.path, "done": each.done} for each in mended],
    }


def _show(found: "Verified", mended: list["Mended"]) -> None:
    looked_at = f"{counted(found.files, 'file')}, {found.bytes / _MEGABYTE:,.1f} MB"
    if not found.damages:
        click.echo(f"{looked_at}: every byte is what was written.")
        return
    table(("damaged", "problem"), [(each.path, each.problem) for each in found.damages])
    for kind in dict.fromkeys(each.kind for each in found.damages):
        paths = [each.path for each in found.damages if each.kind == kind]
        click.echo(f"\n{paths[0] if len(paths) == 1 else counted(len(paths), 'file')}:")
        click.echo(f"  {kind.meaning}\n  {kind.remedy}")
    if mended:
        click.echo()
        table(("mended", "how"), [(each.path, each.done) for each in mended])
    click.echo(f"\n{looked_at}: {len(found.damages)} damaged, {len(mended)} mended.")
