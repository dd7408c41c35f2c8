"""`kb check`: whether every file is accounted for, and what links, names and texts lack."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kb_core.errors import NotBuiltError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, table

if TYPE_CHECKING:
    from kb_serve.reports.section import Kind, Section

_FIRST = 10  # rows of each section on a terminal
_AMBIGUOUS = "ambiguous"


@click.command(short_help="Is every file accounted for? Which links lead nowhere?")
@click.option("--only", metavar="SECTION", help="One section, whole. The summary names them all.")
@click.option("--all", "show_all", is_flag=True, help="Every row, not the first ten of each.")
@json_option
@home_option
def command(only: str | None, show_all: bool, as_json: bool, home: str | None) -> None:
    """Check that every file is accounted for, and report on links, names, copies and cards.

    The summary comes first, then the first rows of each section. Ends with status 1 if indexed +
    skipped + failed is not the number of files.

    \b
    Examples:  kb check
               kb check --only dangling
               kb check --json
    """
    from kb_serve.coverage import folder_rows, links
    from kb_serve.reports.catalogue import make_sections
    from kb_serve.reports.present import Present
    from resources.home import Home

    kinds = _kinds(only)
    opened = Home.open(home_root(home))
    folders = folder_rows(opened)
    if not folders:
        raise NotBuiltError("Nothing was read yet. Run `kb build` first.")
    adds_up = all(row["adds_up"] for row in folders)
    sections = make_sections(Present(opened), kinds)
    if as_json:
        counts = {section.kind.name: len(section.rows) for section in sections}
        rows = {section.kind.name: section.rows for section in sections}
        emit({"adds_up": adds_up, "links": links(opened), "counts": counts, **rows})
    elif only:
        _show(sections[0], None)
    else:
        click.echo(f"{_verdict(folders, adds_up)}\n{_ended(links(opened))}\n")
        _summarise(sections)
        for section in sections:
            if section.rows:
                click.echo()
                _show(section, None if show_all else _FIRST)
    if not adds_up:
        raise SystemExit(1)


def _kinds(only: str | None) -> "Sequence[Kind]":
    from kb_serve.reports.catalogue import ALL

    chosen = [kind for kind in ALL if only in (None, kind.name, kind.command_name)]
    if not chosen:
        names = ", ".join(kind.command_name for kind in ALL)
        raise click.BadParameter(f"It is one of: {names}.", param_hint="--only")
    return chosen


def _verdict(folders: Sequence[Mapping[str, Any]], adds_up: bool) -> str:
    names = ("indexed", "skipped", "failed", "files")
    indexed, skipped, failed, files = (sum(row[name] for row in folders) for name in names)
    verdict = "adds up" if adds_up else "DOES NOT ADD UP: run `kb build`"
    return (
        f"{indexed:,} indexed + {skipped:,} skipped + {failed:,} failed = "
        f"{counted(files, 'file')}: {verdict}."
    )


def _ended(links: Mapping[str, int]) -> str:
    most_first = sorted(links.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{number:,} {status}" for status, number in most_first if status != _AMBIGUOUS]
    of_these = f" ({links[_AMBIGUOUS]:,} by a name of several notes)" if links[_AMBIGUOUS] else ""
    return f"Links: {', '.join(words) or 'none'}{of_these}."


def _summarise(sections: "Sequence[Section]") -> None:
    rows = []
    for section in sections:
        kind = section.kind
        advice = f"{kind.title}. {kind.advice}" if section.rows else f"{kind.title}: none."
        rows.append((kind.command_name, f"{len(section.rows):,}", advice))
    table(("section", "number", "what it is, and what to do"), rows, "Summary")


def _show(section: "Section", most: int | None) -> None:
    kind, number = section.kind, len(section.rows)
    if not number:
        click.echo(f"{kind.title}: none.")
        return
    columns, rows = section.shown(most)
    table(columns, rows, f"{kind.title} ({number:,})")
    if section.remark:
        click.echo(section.remark)
    if most is not None and number > most:
        click.echo(f"… and {number - most:,} more: kb check --only {kind.command_name}")
