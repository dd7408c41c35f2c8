"""`kb path`: how two things connect."""

from typing import Any

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.commands.connected import links_shown, show_asked_back
from kb_serve.commands.search import question_of
from kb_serve.output import counted, emit, table, visible


@click.command(short_help="Show how two things connect.")
@click.argument("start")
@click.argument("end")
@click.option("--as", "as_whom", metavar="NAME", help="Answer as a principal of kb.toml.")
@click.option("--as-of", metavar="WHEN", help="Answer with what could be read then: 2024-03-14.")
@json_option
@home_option
def command(
    start: str,
    end: str,
    as_whom: str | None,
    as_of: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Show the shortest way between two things, in at most four hops.

    A hop is a link of a type, a note's link to another, or a mention of it by name, in either
    direction. No way leads through a hub: what nearly everything speaks of connects nothing.
    START and END are titles, aliases, paths or numbers such as "PEP 440", exactly.

    With --json: one object with `from`, `to` (each with `asked_back` and `candidates`), and
    `hops`: null if there is no way, else what each leads to and what joins it to the one before.

    \b
    Examples:  kb path "Brick saw" "Mara Lind"
               kb path "PEP 440" "PEP 566" --json
    """
    from kb_core.settings import read_settings
    from kb_search.connecting import Connecting
    from kb_search.engine import Engine
    from kb_serve.asking_as import policy_of

    start, end = question_of(start), question_of(end)
    root = home_root(home)
    settings = read_settings(root)
    connecting = Connecting(Engine.open(root, settings), policy_of(settings, as_whom, as_of))
    answer = connecting.path(start, end)
    if as_json:
        emit(answer)
    else:
        _show(answer)


def _show(answer: dict[str, Any]) -> None:
    unclear = [each for each in (answer["from"], answer["to"]) if each["asked_back"]]
    for each in unclear:
        show_asked_back(each["asked"], each)
    if not unclear:
        _show_way(answer)
    if answer["note"]:
        click.echo(f"\n{visible(answer['note'])}")


def _show_way(answer: dict[str, Any]) -> None:
    ends = " and ".join(visible(answer[end]["start"]["name"]) for end in ("from", "to"))
    if answer["hops"] is None:
        click.echo(f"{ends} are not connected within four hops, hubs aside.")
        return
    if not answer["hops"]:
        click.echo(f"{ends} are one and the same.")
        return
    rows = [(at, row["name"], links_shown(row)) for at, row in enumerate(answer["hops"], start=1)]
    table(("hop", "leads to", "by"), rows, f"{ends}: {counted(len(rows), 'hop')}")
