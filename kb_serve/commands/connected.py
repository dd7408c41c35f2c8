"""`kb connected`: what a thing depends on, step by step, and the documents attached to all that."""

from typing import Any

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.commands.search import question_of
from kb_serve.output import counted, emit, table, visible

_MOST_DEPTH = 10


@click.command(short_help="Follow links of a type, and read what is attached.")
@click.argument("start")
@click.option(
    "--links", multiple=True, metavar="TYPE", help="Follow these, by type or property; repeatable."
)
@click.option(
    "--depth", type=click.IntRange(0, _MOST_DEPTH), default=1, show_default=True, metavar="N",
    help="How many links from the start.",
)  # fmt: skip
@click.option(
    "--kinds", multiple=True, metavar="KIND", help="Go through things of these kinds alone."
)
@click.option(
    "--attach", multiple=True, metavar="TYPE", help="Then take one link of these to a document."
)
@click.option("--as", "as_whom", metavar="NAME", help="Answer as a principal of kb.toml.")
@click.option("--as-of", metavar="WHEN", help="Answer with what could be read then: 2024-03-14.")
@click.option(
    "--nodes", type=click.IntRange(1, 10_000), default=200, show_default=True, metavar="N",
    help="Reach at most so many.",
)  # fmt: skip
@click.option(
    "--documents", type=click.IntRange(1, 10_000), default=50, show_default=True, metavar="N",
    help="Attach at most so many.",
)  # fmt: skip
@json_option
@home_option
def command(
    start: str,
    links: tuple[str, ...],
    depth: int,
    kinds: tuple[str, ...],
    attach: tuple[str, ...],
    as_whom: str | None,
    as_of: str | None,
    nodes: int,
    documents: int,
    as_json: bool,
    home: str | None,
) -> None:
    """Start from one thing, follow its links of some types, and read what is attached to them.

    START is a title, an alias, a note's path or a number such as "PEP 440", exactly; if several
    things are called so, or none, you are asked again. A link's type comes from the property it
    stands in: `depends_on: "[[Supply]]"` is DEPENDS_ON; both may be given. Links are followed
    from the note that states them to what they name; ^TYPE follows them the other way, so that
    ^DEPENDS_ON leads to all that depends on START. Without --attach the things reached are
    themselves what is read.

    With --json: one object with `start`, `asked_back`, `candidates`, `reached` (each with its
    depth and the links that led there), `attached`, `eligible` (the notes to be read), `passages`
    (note, date, text, link) and `truncated` (what a bound cut off).

    \b
    Examples:  kb connected "Brick saw" --links depends_on --depth 2 --attach has_manual
               kb connected "Brick saw" --links DEPENDS_ON --kinds Asset --as anna --as-of 2024-03
               kb connected "Mara Lind" --links ^OWNED_BY
               kb connected "PEP 440" --links superseded_by --depth 3 --json
    """
    from kb_core.settings import read_settings
    from kb_search.connecting import Asked, Connecting
    from kb_search.engine import Engine
    from kb_search.paths import Bounds
    from kb_serve.asking_as import policy_of

    start = question_of(start)
    if not start.strip():
        raise click.BadParameter("name something: it is empty.", param_hint="START")
    root = home_root(home)
    settings = read_settings(root)
    connecting = Connecting(Engine.open(root, settings), policy_of(settings, as_whom, as_of))
    asked = Asked(start, links, depth, kinds, attach, Bounds(nodes, documents))
    answer = connecting.connected(asked)
    if as_json:
        emit(answer)
    else:
        _show(answer)


def _show(answer: dict[str, Any]) -> None:
    if answer["asked_back"]:
        show_asked_back(answer["asked"], answer)
    else:
        table(("depth", "reached", "kind", "note", "by"), _stage(answer["reached"]), "Reached")
        if answer["attached"]:
            click.echo()
            table(
                ("depth", "attached", "kind", "note", "by"), _stage(answer["attached"]), "Attached"
            )
        for each in answer["passages"]:
            _show_passage(each)
        if not answer["eligible"]:
            click.echo("\nNothing of it has a note to read.")
    for cut in answer["truncated"]:
        more = "" if cut["is_exact"] else "at least "
        click.echo(
            f"\nCut off: {cut['kept']:,} {cut['what']} kept, {more}{cut['left_out']:,} left out."
        )
    if answer["note"]:
        click.echo(f"\n{visible(answer['note'])}")


def show_asked_back(asked: str, meant: dict[str, Any]) -> None:
    """Ask which thing was meant, or say that nothing is called so."""
    candidates = meant["candidates"]
    if not candidates:
        click.echo(f"Nothing here is called {visible(asked)!r}. Give its title, alias or path.")
        return
    things = counted(len(candidates), "thing")
    rows = sorted((each["name"], each["kind"], _notes(each)) for each in candidates)
    click.echo(f"{things} are called {visible(asked)!r}. Which one? Give its path.")
    table(("name", "kind", "note"), rows)


def _stage(rows: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [(row["depth"], row["name"], row["kind"], _notes(row), links_shown(row)) for row in rows]


def links_shown(row: dict[str, Any]) -> str:
    """Say which links led to a row."""
    links = (f"{each['source']} {each['type']} {each['target']}" for each in row["via"])
    return "; ".join(dict.fromkeys(links))


def _notes(row: dict[str, Any]) -> str:
    return ", ".join(row["notes"]) or "–"


def _show_passage(passage: dict[str, Any]) -> None:
    date = passage["date"] or "undated"
    weak = " (file time)" if passage["date_is_weak"] else ""
    where = passage["note"] + (f" › {passage['heading']}" if passage["heading"] else "")
    click.echo(f"\n{click.style(visible(passage['title']), bold=True)}  {date}{weak}")
    click.echo(click.style(visible(where), dim=True))
    click.echo(click.style(visible(passage["link"]), dim=True))
    click.echo("\n".join(f"    {visible(line)}" for line in passage["text"].splitlines()))
