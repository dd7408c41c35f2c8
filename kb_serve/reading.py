"""Print what an answerer would read of a search, and why it was found, for a person."""

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kb_serve.output import counted, visible

if TYPE_CHECKING:
    from kb_core.settings import Settings
    from kb_search.context import Context
    from kb_search.results import SearchResult

_IN = "    "


def read_context(found: "SearchResult", root: Path, settings: "Settings") -> "Context":
    """Assemble what an answerer reads, by the token counter of the home."""
    from kb_assets.choices import read_choices, token_counter
    from kb_search.context import assemble
    from resources.home import Home

    counter = token_counter(read_choices(Home(root, settings)))
    return assemble(found.ranked, found.lines, counter.count)


def show_context(context: dict[str, Any]) -> None:
    """Print each item with its id, role, date, path and size; nothing in it steers the terminal."""
    width = _width()
    for item in context["items"]:
        head = click.style(f"[{item['id']}] {item['role']}", bold=True)
        where = visible(item["note"])
        click.echo(f"{head}  {item['date'] or 'undated'}  {where}  {item['tokens']} tokens")
        for line in item["text"].splitlines():
            click.echo(
                textwrap.fill(visible(line), width, initial_indent=_IN, subsequent_indent=_IN)
            )
    left = counted(context["over_budget"], "item")
    repeated = counted(context["repeated"], "line")
    click.echo(f"\n{context['tokens']:,} tokens; {left} over the budget, {repeated} repeated.")


def show_explained(explained: dict[str, Any]) -> None:
    """Print the reasons behind a result."""
    route = explained["route"]
    click.echo(f"\nRoute: {'graph' if route['uses_graph'] else 'base ranking'}")
    for reason in route["reasons"]:
        click.echo(f"  because {visible(reason)}")
    if "decision" not in explained:
        return
    decision = explained["decision"]
    click.echo(f"Decision: {decision['behaviour']}  {visible(decision['reason'])}".rstrip())
    for title, key in (("Named", "named"), ("Asked", "asked"), ("Entries", "entries")):
        click.echo(f"{title}: {visible(', '.join(explained[key])) or 'nothing'}")
    for line in explained["lines"]:
        marks = [line["role"], *(["asked for"] if line["asked_for"] else [])]
        click.echo(f"  {line['score']:.3f}  {visible(line['text'])}  [{', '.join(marks)}]")
    cut = counted(explained["trimmed"], "line")
    more = counted(explained["lines_not_shown"], "line")
    click.echo(f"{cut} trimmed, {more} not shown.")


def _width() -> int:
    return min(shutil.get_terminal_size((100, 20)).columns, 100)
