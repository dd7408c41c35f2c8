"""`kb search`: ranked passages with quote, date, path and a link that opens the note."""

import shutil
import textwrap

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, visible

_VARIANTS = (
    *("keyword", "vector", "hybrid", "keyword+linked", "hybrid+linked", "keyword+graph"),
    *("hybrid+graph", "hybrid+graph-untrimmed", "graph", "routed"),
)


@click.command(short_help="Find the notes that answer a question.")
@click.argument("question")
@click.option(
    "--folder", "folders", multiple=True, metavar="F", help="Only this folder; may be repeated."
)
@click.option(
    "--variant",
    type=click.Choice(_VARIANTS),
    metavar="V",
    help="keyword, vector, hybrid; +linked, +graph; routed decides itself (default: kb.toml).",
)
@click.option("--context", "as_context", is_flag=True, help="Show what an answerer would read.")
@click.option("--explain", is_flag=True, help="Show why these: route, names, lines with scores.")
@click.option("--as", "as_whom", metavar="NAME", help="Answer as a principal of kb.toml.")
@click.option("--as-of", metavar="WHEN", help="Answer with what could be read then: 2024-03-14.")
@click.option("--notes", type=click.IntRange(1, 200), help="How many notes (default: kb.toml).")
@json_option
@home_option
def command(
    question: str,
    folders: tuple[str, ...],
    variant: str | None,
    as_whom: str | None,
    as_of: str | None,
    notes: int | None,
    as_context: bool,
    explain: bool,
    as_json: bool,
    home: str | None,
) -> None:
    """Find the notes that answer a question, best first, each with its date and a quote.

    With --json: one object with `results` (rank, note, title, date, kind, quote, link, score,
    chunks), `pending` (what has no vectors yet) and `note` (what limits this answer); --context
    adds `context`, --explain adds `explained`.

    \b
    Examples:  kb search "what did we pay for the second kiln"
               kb search "Preiserhöhung" --folder Meetings --variant keyword
               kb search "who introduced Yolanda" --json
               kb search "what does a Heron cost" --as-of 2024-03 --as marit
               kb search "is the old price list still in force" --variant routed --explain
    """
    from kb_core.settings import read_settings
    from kb_search.engine import Engine
    from kb_search.explained import explained
    from kb_serve.asking_as import policy_of
    from kb_serve.reading import read_context, show_context, show_explained

    question = question_of(question)
    if not question.strip():
        raise click.BadParameter("ask something: the question is empty.", param_hint="QUESTION")
    root = home_root(home)
    settings = read_settings(root)
    engine = Engine.open(root, settings)
    found = engine.search(
        question,
        folders=list(folders) or None,
        variant=variant or settings.search.variant,
        policy=policy_of(settings, as_whom, as_of),
        notes=notes or (settings.search.notes if as_json else min(settings.search.notes, 10)),
    )
    result = found.to_json()
    if explain:
        result["explained"] = explained(found)
    if as_context:
        result["context"] = read_context(found, root, settings).to_json()
    if as_json:
        emit(result)
        return
    if as_context:
        show_context(result["context"])
    else:
        show_result(result)
    if explain:
        show_explained(result["explained"])


def question_of(given: str) -> str:
    """Return what was asked; a byte that is no text, which nothing could print, is a mark."""
    return given.encode("utf-8", "replace").decode()


def show_result(result: dict) -> None:
    """Print a search's result for a person; no name or text in it can steer the terminal."""
    width = min(shutil.get_terminal_size((100, 20)).columns, 100)
    decision = result.get("decision", {"behaviour": "answer"})
    if decision["behaviour"] != "answer":
        click.echo(f"The notes do not seem to answer this: {visible(decision['reason'])}.\n")
    if not result["results"]:
        click.echo("Nothing found for these words. Try other words, or fewer.")
    for row in result["results"]:
        kind = "" if row["kind"] == "note" else f"  {row['kind']}"
        title = click.style(visible(row["title"]), bold=True)
        click.echo(f"{row['rank']:>2}. {title}  {_date(row)}{kind}")
        quote = textwrap.fill(
            f"“{visible(row['quote'])}”", width, initial_indent="    ", subsequent_indent="    "
        )
        click.echo(quote)
        where = visible(row["note"])
        if row.get("heading"):
            where += f" › {visible(row['heading'])}"
        click.echo(click.style(f"    {where}", dim=True))
        click.echo(click.style(f"    {row['link']}", dim=True))
    pending = result["pending"]
    if pending["folders_without_words"]:
        waiting = counted(pending["folders_without_words"], "folder")
        click.echo(f"\n{waiting} of the vault are not read yet: `kb build` goes on.")
    if pending["texts_without_vectors"]:
        folders = pending["folders"] - pending["folders_without_vectors"]
        click.echo(
            f"\nVectors for {folders} of {counted(pending['folders'], 'folder')}; "
            f"{counted(pending['texts_without_vectors'], 'text')} still found by words alone."
        )
    if result.get("note"):
        click.echo(f"\n{result['note']}")


def _date(row: dict) -> str:
    if not row["date"]:
        return "undated"
    return f"{row['date']}{' (file time)' if row['date_is_weak'] else ''}"
