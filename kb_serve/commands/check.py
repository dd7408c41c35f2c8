"""`kb check`: coverage, what is not read, broken links, and what was odd."""

import click

from kb_core.errors import NotBuiltError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, table

_MOST = 20


@click.command(short_help="Is every file accounted for? Which links lead nowhere?")
@click.option("--all", "show_all", is_flag=True, help="List everything, not the first twenty.")
@json_option
@home_option
def command(show_all: bool, as_json: bool, home: str | None) -> None:
    """Check that every file is accounted for, and list what is not read and links to nowhere.

    Ends with status 1 if indexed + skipped + failed is not the number of files.

    \b
    Examples:  kb check
               kb check --json
    """
    from kb_serve.coverage import findings, folder_rows, links, not_read, unread_notes
    from resources.home import Home

    opened = Home.open(home_root(home))
    rows = folder_rows(opened)
    if not rows:
        raise NotBuiltError("Nothing was read yet. Run `kb build` first.")
    ended, missing = links(opened)
    values = {
        "adds_up": all(row["adds_up"] for row in rows),
        "folders": rows,
        "not_read": [{"status": s, "reason": r, "files": n} for s, r, n in not_read(opened)],
        "unread_notes": [{"path": p, "reason": r} for p, r in unread_notes(opened)],
        "links": ended,
        "missing_targets": [{"target": t, "links": n} for t, n in missing],
        "findings": [{"code": c, "notes": n} for c, n in findings(opened)],
    }
    if as_json:
        emit(values)
    else:
        _show(values, None if show_all else _MOST)
    if not values["adds_up"]:
        raise SystemExit(1)


def _show(values: dict, most: int | None) -> None:
    columns = ("folder", "files", "indexed", "skipped", "failed", "texts", "with_vectors")
    names = tuple(name.replace("_", " ") for name in columns)
    table(names, [[row[name] for name in columns] for row in values["folders"]], "Coverage")
    total = {name: sum(row[name] for row in values["folders"]) for name in columns[1:5]}
    verdict = "adds up" if values["adds_up"] else "DOES NOT ADD UP: run `kb build`"
    click.echo(
        f"{total['indexed']} indexed + {total['skipped']} skipped + {total['failed']} failed "
        f"= {counted(total['files'], 'file')}: {verdict}."
    )
    _list("Not read", values["not_read"], ("status", "reason", "files"), most)
    _list("Notes that were not read", values["unread_notes"], ("path", "reason"), most)
    if values["links"]:
        ended = ", ".join(f"{number} {status}" for status, number in values["links"].items())
        click.echo(f"Links: {ended}.")
    _list("Links to notes that do not exist", values["missing_targets"], ("target", "links"), most)
    _list("Odd, but read", values["findings"], ("code", "notes"), most)


def _list(title: str, rows: list[dict], columns: tuple[str, ...], most: int | None) -> None:
    if not rows:
        return
    table(columns, [[row[column] for column in columns] for row in rows[:most]], title)
    if most is not None and len(rows) > most:
        click.echo(f"… and {len(rows) - most} more: kb check --all")
