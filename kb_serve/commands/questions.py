"""`kb questions`: draft questions on one's own vault, list those that are scored, drop one."""

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

from kb_core.errors import SettingsError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, table, visible

if TYPE_CHECKING:
    from eval_assets.suggestions.decisions import Decisions
    from eval_assets.suggestions.drafts import Draft

_KEYS = {"k": "keep", "e": "edit", "d": "drop", "q": "quit"}
_LONGEST_SHOWN = 600  # characters of an answer on a terminal
_ID = re.compile(r"own-[0-9a-f]{10}")


@click.group(short_help="Draft questions on your own notes, and list those that are scored.")
def command() -> None:
    """Draft questions on your own notes, keep the good ones, and see what is scored.

    \b
    Examples:  kb questions suggest
               kb questions list
               kb questions drop own-3f2a91c07d
    """


@command.command()
@click.option(
    "--count", type=click.IntRange(1, 500), default=40, show_default=True, help="How many drafts."
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Another number, other drafts."
)
@click.option("--folder", metavar="F", default="", help="Only on notes in this folder.")
@click.option("--keep", "keep", multiple=True, metavar="ID", help="Keep this one; may be repeated.")
@json_option
@home_option
def suggest(
    count: int, seed: int, folder: str, keep: tuple[str, ...], as_json: bool, home: str | None
) -> None:
    """Draft questions from the notes themselves, each with its answer and the note that says it.

    On a terminal each one is shown: k keeps it, e edits its wording, d drops it for good, q ends.
    Kept questions are scored with every build. Nothing leaves this machine.

    \b
    Examples:  kb questions suggest --count 20
               kb questions suggest --folder Projects --seed 2
               kb questions suggest --json
               kb questions suggest --keep own-3f2a91c07d
    """
    from eval_assets.suggestions.decisions import Decisions
    from eval_assets.suggestions.home_vault import vault_of
    from eval_assets.suggestions.suggest import suggest as drafts_for
    from kb_serve.languages import language_of
    from resources.home import Home

    opened = Home.open(home_root(home))
    vault = vault_of(opened, language_of)
    decisions = Decisions(opened)
    if keep:
        _keep(vault, decisions, keep, as_json)
        return
    inside = _folder(vault, folder)
    drafts = drafts_for(vault, count, seed, inside, decisions.taken())
    if as_json:
        rows = [{**draft.to_question().to_json(), "answer": draft.answer} for draft in drafts]
        _emit(decisions, suggestions=rows)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _decide(drafts, decisions)
    else:
        _list(drafts)


@command.command(name="list")
@json_option
@home_option
def list_questions(as_json: bool, home: str | None) -> None:
    """List the question files of this home, and the questions that no longer hold.

    A question is broken when one of its notes is gone, or no longer holds its quote.

    \b
    Example:  kb questions list --json
    """
    from eval_assets.questions import question_files, read_questions
    from eval_assets.suggestions.home_vault import texts_of
    from eval_assets.suggestions.standing import Standing
    from resources.home import Home

    opened = Home.open(home_root(home))
    standing = Standing(texts_of(opened))
    files: list[dict[str, Any]] = []
    for path in question_files(opened.data):
        rows = read_questions(path)
        broken = [vars(each) for each in standing.broken(rows)]
        files.append({"file": path.name, "questions": len(rows), "broken": broken})
    if as_json:
        emit({"questions": sum(row["questions"] for row in files), "files": files})
        return
    _show_files(files)


@command.command()
@click.argument("question_id", metavar="ID")
@json_option
@home_option
def drop(question_id: str, as_json: bool, home: str | None) -> None:
    """Drop a suggestion for good, or a question that was kept.

    \b
    Example:  kb questions drop own-3f2a91c07d
    """
    from eval_assets.suggestions.decisions import Decisions
    from resources.home import Home

    opened = Home.open(home_root(home))
    decisions = Decisions(opened)
    kept = {row.id for row in decisions.kept()}
    if question_id not in kept and not _ID.fullmatch(question_id):
        raise SettingsError(
            f"No kept question and no suggestion has the id {question_id!r}. `kb questions "
            "suggest --json` shows ids; a question of another file is deleted in that file."
        )
    was_kept = decisions.drop(question_id)
    if as_json:
        _emit(decisions, id=question_id, was_kept=was_kept)
        return
    click.echo("Dropped; it is scored no longer." if was_kept else "Dropped for good.")


def _keep(vault: Any, decisions: "Decisions", ids: tuple[str, ...], as_json: bool) -> None:
    """Keep drafts by their ids, whatever seed they came from."""
    from eval_assets.suggestions.suggest import find

    found = find(vault, ids)
    unknown = sorted(set(ids) - {draft.id for draft in found})
    if unknown:
        raise SettingsError(
            f"No suggestion has the id {unknown[0]!r}: the note may have changed. "
            "`kb questions suggest --json` shows what there is now."
        )
    decisions.keep(draft.to_question() for draft in found)
    if as_json:
        rows = [{**draft.to_question().to_json(), "answer": draft.answer} for draft in found]
        _emit(decisions, suggestions=rows)
        return
    click.echo(f"{counted(len(found), 'question')} kept; `kb questions list` shows what is scored.")


def _folder(vault: Any, folder: str) -> str:
    """Return the folder as notes are named, or say that it holds none."""
    inside = folder.strip("/")
    if inside and not any(note.note_id.startswith(inside + "/") for note in vault.notes):
        raise SettingsError(f"No note lies in the folder {folder!r}. `kb folders` lists them.")
    return inside


def _emit(decisions: "Decisions", **values: Any) -> None:
    emit({**values, "kept": len(decisions.kept()), "dropped": len(decisions.dropped())})


def _list(drafts: "list[Draft]") -> None:
    """Print every draft: for a pipe, a file or a pager."""
    if not drafts:
        click.echo("No question could be drafted from these notes.")
    for draft in drafts:
        _show(draft)
    click.echo(f"{counted(len(drafts), 'draft')}. Keep one: kb questions suggest --keep ID")


def _decide(drafts: "list[Draft]", decisions: "Decisions") -> None:
    """Show one draft after the other; what was decided is saved at once."""
    kept = dropped = 0
    for number, draft in enumerate(drafts, start=1):
        click.echo(f"\n{number} of {len(drafts)}")
        _show(draft)
        chosen = _key()
        if chosen == "quit":
            break
        if chosen == "drop":
            decisions.drop(draft.id)
            dropped += 1
        else:
            decisions.keep([_edited(draft) if chosen == "edit" else draft.to_question()])
            kept += 1
    if not drafts:
        click.echo("No question could be drafted from these notes.")
    click.echo(f"\n{kept} kept, {dropped} dropped. Kept questions are scored with every build.")


def _key() -> str:
    click.echo("  [k]eep  [e]dit  [d]rop  [q]uit  ", nl=False)
    while True:
        char = click.getchar().lower()
        if char in _KEYS:
            click.echo(_KEYS[char])
            return _KEYS[char]


def _edited(draft: "Draft") -> Any:
    """Ask for another wording; an empty one leaves the draft's."""
    wording = click.prompt("  New wording", default="", show_default=False).strip()
    row = draft.to_question()
    return row.model_copy(update={"question": wording}) if wording else row


def _show(draft: "Draft") -> None:
    width = min(shutil.get_terminal_size((100, 20)).columns, 100)
    click.echo(click.style(textwrap.fill(visible(draft.question), width), bold=True))
    answer = textwrap.shorten(visible(draft.answer), _LONGEST_SHOWN, placeholder=" …")
    click.echo(_indented(answer, width))
    for fact in draft.facts:
        click.echo(click.style(_indented(f"“{visible(fact.quote)}”", width), dim=True))
        click.echo(click.style(f"    {visible(fact.note)}", dim=True))
    click.echo(click.style(f"    {draft.category} · {draft.id}", dim=True))


def _indented(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="    ", subsequent_indent="    ")


def _show_files(files: list[dict[str, Any]]) -> None:
    if not files:
        click.echo("No questions yet: `kb questions suggest` drafts some from your notes.")
        return
    rows = [[row["file"], row["questions"], len(row["broken"])] for row in files]
    table(("file", "questions", "broken"), rows, "Questions")
    for row in files:
        for each in row["broken"]:
            gone = ", ".join(visible(note) for note in each["missing_notes"]) or "none"
            changed = ", ".join(visible(note) for note in each["missing_quotes"]) or "none"
            click.echo(f"{row['file']} {each['id']}: notes gone: {gone}; quotes gone: {changed}")
