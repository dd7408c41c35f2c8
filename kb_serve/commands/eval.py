"""`kb eval`: score a build per variant, category and language; say what moved since another."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say, table

if TYPE_CHECKING:
    from eval_assets.questions import Posed
    from eval_assets.report import Table
    from eval_assets.scoring import Scores
    from kb_serve.scoring import Request
    from resources.home import Home

_NO_QUESTIONS = (
    "This knowledge base has no questions yet, so there is nothing to score.\n"
    "`kb questions suggest` drafts some from your notes and asks which to keep; your own go into\n"
    "data/eval/NAME.jsonl, one JSON object a line (README, Questions)."
)
_TIMES = ("p50 ms", "p95 ms")


@click.command(short_help="Score the answers, and say what moved since another build.")
@click.option(
    "--variant",
    "variants",
    metavar="V,…",
    help="What is asked: bm25s, keyword, vector, hybrid, hybrid:k=20, hybrid:cap=1 …",
)
@click.option(
    "--questions",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A question file; may be repeated (default: all in data/eval).",
)
@click.option("--folder", "folders", multiple=True, metavar="F", help="Ask within this folder.")
@click.option("--build", metavar="BUILD", help="Another build than the published one.")
@click.option("--against", metavar="BUILD", help="Show what moved since this build.")
@click.option("--sweep", metavar="WHAT", help="Turn k, cap, margin or split, or cap=1,2,5.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the sweep or the history into this .svg or .png file.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one file per variant here, a line for each question.",
)
@click.option("--policy", is_flag=True, help="Ask the policy questions, and search the same.")
@click.option("--history", is_flag=True, help="Show what every build scored when it was new.")
@click.option("--no-times", is_flag=True, help="Leave the times out: equal input, equal bytes.")
@json_option
@home_option
def command(
    variants: str | None,
    files: tuple[Path, ...],
    folders: tuple[str, ...],
    build: str | None,
    against: str | None,
    sweep: str | None,
    plot: Path | None,
    out: Path | None,
    policy: bool,
    history: bool,
    no_times: bool,
    as_json: bool,
    home: str | None,
) -> None:
    """Score the published build with the questions in data/eval.

    Measures are means over questions: recall@K (share of the essential notes among the first K
    notes), all_gold@K (all of them there), mrr, ndcg@10, fact_recall@8k (share of the key facts
    in the first 8,000 tokens that are read), precision@8k (share of those tokens from essential
    notes), current_first (today's note above outdated ones). Variants are compared question by
    question with the sign test.

    With --policy the questions of data/eval/policy.jsonl are asked of connected records and of
    plain search, each as its principal and as of its instant: what was required and found, what
    was forbidden or not there yet and came all the same (always 0), and who was asked back.

    \b
    Examples:  kb eval
               kb eval --variant keyword,hybrid --out scores
               kb eval --against 1f3a
               kb eval --sweep cap --plot cap.svg
               kb eval --policy
               kb eval --history --plot history.svg
    """
    from resources.home import Home

    if plot and not (history or sweep):
        raise click.UsageError("--plot draws a --sweep or the --history.")
    opened = Home.open(home_root(home))
    if history:
        _history(opened, plot, as_json=as_json)
        return
    if policy:
        from kb_serve.policy_eval import eval_policy

        _refuse(variants=variants, questions=files, folder=folders, against=against, sweep=sweep)
        eval_policy(opened, build, out, with_times=not no_times, as_json=as_json)
        return
    from eval_assets.questions import question_files, read_sets
    from kb_serve.scoring import Request

    posed = read_sets(files or question_files(opened.data))
    if not posed:
        say(_NO_QUESTIONS)
        if as_json:
            emit({"questions": 0, "variants": {}})
        return
    request = Request.make(opened, variants, build, folders, sweep)
    say(f"Asking {counted(len(posed), 'question')} of {', '.join(request.variants)} …")
    _score(opened, request, posed, _Output(against, plot, out, not no_times, as_json))


def _refuse(**options: object) -> None:
    """Say which options mean nothing beside --policy."""
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        raise click.UsageError(f"--policy asks its own questions: leave {', '.join(given)} out.")


@dataclass(frozen=True)
class _Output:
    """What is to be made of the scores."""

    against: str | None
    plot: Path | None
    out: Path | None
    with_times: bool
    as_json: bool


def _score(home: "Home", request: "Request", posed: "Sequence[Posed]", output: _Output) -> None:
    from eval_assets.plots import check_ending
    from kb_serve import scoring
    from kb_serve.comparison import moved_since
    from resources.builds import Builds

    if output.plot:  # a slip in an option is told before minutes of asking, not after
        check_ending(output.plot)
    if output.against:
        Builds(home.data).find(output.against)
    build, scores = request.ask(home, posed)
    if output.out:
        scoring.write_rows(output.out, scores, with_times=output.with_times)
    if output.plot and request.sweep:
        scoring.draw_sweep(output.plot, request.sweep, scores)
        say(f"Drawn: {output.plot}")
    since = moved_since(home, output.against, request, scores, posed) if output.against else None
    if output.as_json:
        values = scoring.as_values(build, scores, with_times=output.with_times)
        emit(values | (since.to_json() if since else {}))
        return
    shown = [*scoring.all_tables(request, scores), *(since.tables(posed) if since else [])]
    _warn(home, build)
    _show(build, scores, shown, with_times=output.with_times)


def _warn(home: "Home", build: str) -> None:
    from resources.builds import Builds

    if not Builds(home.data).report(build).get("is_complete"):
        say("Parts of this build are pending: what is missing in it counts as not found.")


def _show(build: str, scores: "Scores", shown: "list[Table]", *, with_times: bool) -> None:
    click.echo(f"Build {build[:12]}, {counted(scores.questions, 'question')}")
    for name, problem in scores.problems.items():
        click.echo(f"{name} was not asked. {problem}")
    if scores.broken:
        click.echo(
            f"{counted(len(scores.broken), 'question')} ask about notes that are not in this "
            "build and are not scored; `kb questions list` names them."
        )
    if scores.waiting:
        click.echo(f"{counted(scores.waiting, 'question')} need another reader's view: not asked.")
    for each in shown:
        click.echo()
        columns, rows = each.columns, each.rows
        if not with_times:
            kept = [at for at, column in enumerate(columns) if column not in _TIMES]
            columns = tuple(columns[at] for at in kept)
            rows = tuple(tuple(row[at] for at in kept) for row in rows)
        table(columns, rows, title=each.title)


def _history(home: "Home", plot: Path | None, *, as_json: bool) -> None:
    from kb_serve.scoring import draw_history, history_rows, history_table

    if plot:
        draw_history(plot, home)
        say(f"Drawn: {plot}")
    if as_json:
        emit({"history": history_rows(home)})
        return
    shown = history_table(home)
    if not shown.rows:
        click.echo("No build was scored yet. `kb build` scores each complete build.")
        return
    table(shown.columns, shown.rows, title=shown.title)
