"""`kb plan`: what a language model would have to answer, what it costs, what becomes of it."""

from typing import TYPE_CHECKING

import click

from kb_core.errors import SettingsError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import duration, emit, say, table

if TYPE_CHECKING:
    from kb_assets.gate import Standing
    from resources.home import Home


@click.command(short_help="What a language model would cost, before anything is sent.")
@click.option(
    "--folder", "folders", multiple=True, metavar="F", help="Only this folder; may be repeated."
)
@click.option(
    "--try",
    "pilot",
    type=click.IntRange(1, 200),
    metavar="N",
    help="Have N passages of one folder read, and show before and after.",
)
@click.option("--usd", type=float, metavar="X", help="With --try: at most so many dollars.")
@json_option
@home_option
def command(
    folders: tuple[str, ...],
    pilot: int | None,
    usd: float | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Read what changed in the vault, send nothing, and show what a language model would cost.

    Each folder's stage is a plan with a name of its own. What is below the limit for a day goes on
    by itself with the next `kb build`; the rest waits for `kb approve`. What was answered once is
    never paid for again.

    With --try a few passages of one folder are read at once, for at most --usd dollars or within
    the limit for a day; each is shown as the rules read it and as the model did.

    \b
    Examples:  kb plan
               kb plan --folder Work
               kb plan --folder Work --try 20 --usd 0.05
    """
    from resources.home import Home

    opened = Home.open(home_root(home))
    _refuse_without_model(opened)
    if usd is not None and not pilot:
        raise click.UsageError("--usd belongs to --try; a plan is approved by `kb approve`.")
    if pilot:
        if len(folders) != 1:
            raise click.UsageError("--try reads passages of one folder: give --folder once.")
        _try(opened, folders[0], pilot, usd, as_json=as_json)
        return
    plans = _plans(opened, folders)
    if as_json:
        _emit_plans(opened, plans)
    else:
        _show_plans(opened, plans)


def _refuse_without_model(home: "Home") -> None:
    from kb_assets.paid_work import reader_of

    reader, problem = reader_of(home)
    if problem:
        raise SettingsError(problem)
    if reader is None:
        raise SettingsError(
            'The notes are read by rules, which cost nothing ([llm] engine = "rules" in kb.toml). '
            'Choose "anthropic" or "ollama" there, and list the folders that may be sent under '
            "[egress]; then `kb plan` says what that would cost."
        )


def _plans(home: "Home", folders: tuple[str, ...]) -> "list[Standing]":
    from kb_assets.workbench import Workbench  # Dagster: 2 to 4 s
    from kb_serve.builder import Builder
    from kb_serve.progress import ProgressLines

    builder = Builder(Workbench(home, progress=ProgressLines(say, duration)), say, folders=folders)
    return builder.plan()


def _emit_plans(home: "Home", plans: "list[Standing]") -> None:
    from kb_serve.plans import plan_rows

    limits = home.settings.limits
    emit(
        {
            "plans": plan_rows(plans),
            "estimated_usd": sum(each.plan.cost_nano for each in plans) / 1e9,
            "auto_approve_usd": limits.auto_approve_usd,
            "monthly_usd": limits.monthly_usd,
            **_spent(home),
        }
    )


def _show_plans(home: "Home", plans: "list[Standing]") -> None:
    from kb_core.money import DOLLAR, dollars
    from kb_serve.plans import COLUMNS, plan_cells, waiting_line

    if not plans:
        click.echo("Nothing is left to ask: everything that may be sent was answered.")
        return
    table(COLUMNS, plan_cells(plans), title="What the language model has still to answer")
    limits, spent = home.settings.limits, _spent(home)
    day, month = spent["spent_day_nano"], spent["spent_month_nano"]
    click.echo(
        f"Together about {dollars(sum(each.plan.cost_nano for each in plans))}. By itself goes "
        f"{dollars(round(limits.auto_approve_usd * DOLLAR))} a day ({dollars(day)} spent), and "
        f"{dollars(round(limits.monthly_usd * DOLLAR))} a month at most ({dollars(month)} spent)."
    )
    if line := waiting_line(plans):
        click.echo(line)


def _spent(home: "Home") -> dict[str, int]:
    import datetime as dt
    import time

    from kb_assets.paid_work import paid_file
    from resources.paid_store import PaidStore

    now = dt.datetime.now(dt.UTC)
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
    with PaidStore(paid_file(home)) as store:
        return {
            "spent_day_nano": store.spent_since(time.time() - 86_400, auto_only=True),
            "spent_month_nano": store.spent_since(month),
        }


def _try(home: "Home", folder: str, size: int, usd: float | None, *, as_json: bool) -> None:
    from kb_assets.pilot import run_pilot  # the stages' rules
    from kb_assets.workbench import Workbench
    from kb_serve.pilot import show_pilot
    from kb_serve.progress import ProgressLines

    _plans(home, (folder,))
    bench = Workbench(home, progress=ProgressLines(say, duration), may_pay=True)
    pilot = run_pilot(bench, folder, size, usd)
    if as_json:
        emit(pilot.to_json())
        return
    show_pilot(pilot)
    if pilot.problem:
        raise SystemExit(1)
