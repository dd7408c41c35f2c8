"""How commands speak: tables for people, one JSON object for programs, errors with a remedy.

With `--json` the last line of stdout is one single-line object; everything else goes to stderr.
Names of notes may hold control characters: they are shown as visible escapes.
"""

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import click


def say(text: str = "") -> None:
    """Tell the person something; programs read stdout and are not disturbed."""
    click.echo("\n".join(map(visible, text.split("\n"))), err=True)


def emit(values: Mapping[str, Any]) -> None:
    """Print the command's result as one line of JSON, the last one on stdout."""
    click.echo(json.dumps(values, ensure_ascii=False, sort_keys=False))


def visible(text: str) -> str:
    """Make control and direction characters visible, so that a name cannot steer a terminal.

    >>> visible("a\\nb")
    'a\\\\x0ab'
    """
    return "".join(
        f"\\x{ord(char):02x}" if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char
        for char in text
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """Print a table on stdout: ruled on a terminal, tab-separated elsewhere."""
    cells = [[visible(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        if title:
            click.echo(title)
        click.echo("\t".join(columns))
        for row in cells:
            click.echo("\t".join(row))
        return
    from rich.console import Console  # 0.1 s, and only a terminal needs it
    from rich.markup import escape
    from rich.table import Table

    ruled = Table(title=title or None, title_justify="left")
    for column in columns:
        ruled.add_column(column, overflow="fold")  # a path that is cut short names nothing
    for row in cells:
        ruled.add_row(*(escape(cell) for cell in row))
    Console().print(ruled)


def duration(seconds: float) -> str:
    """Say a length of time as a person would.

    >>> duration(42), duration(300), duration(5000)
    ('42 s', '5 min', '1 h 23 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def counted(number: int, one: str, many: str = "") -> str:
    """Say how many.

    >>> counted(1, "note"), counted(2000, "note")
    ('1 note', '2,000 notes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
