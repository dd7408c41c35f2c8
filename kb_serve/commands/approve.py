"""`kb approve`: let a plan that waits be carried out, for so many dollars at most."""

import getpass
from typing import TYPE_CHECKING

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit

if TYPE_CHECKING:
    from kb_assets.gate import Standing
    from resources.home import Home


@click.command(short_help="Let a plan be paid for, up to a ceiling.")
@click.argument("plan")
@click.option("--usd", type=float, metavar="X", help="At most so many dollars for this plan.")
@click.option("--decline", is_flag=True, help="Say no instead; it can still be approved later.")
@json_option
@home_option
def command(plan: str, usd: float | None, decline: bool, as_json: bool, home: str | None) -> None:
    """Let the language model be asked what a plan says, for at most so many dollars.

    PLAN is what `kb plan` shows, or its first characters. The approval covers exactly what would
    be sent, and whatever of it is left later; a changed note makes another plan. The next
    `kb build` carries it out, or the open page within its next half minute.

    \b
    Examples:  kb approve 3f2a81c0 --usd 0.40
               kb approve 3f2a81c0 --decline
    """
    from kb_assets import gate  # stored tables: pyarrow
    from kb_core.money import dollars, nano
    from resources.home import Home

    if decline == (usd is not None):
        raise click.UsageError("Give --usd X, the most it may cost, or --decline.")
    opened = Home.open(home_root(home))
    who = getpass.getuser()
    if usd is None:
        decided = gate.decline(opened, plan, who)
        message = f"Declined: {decided.plan.stage} of {decided.folder}. Nothing is sent for it."
    else:
        decided = gate.approve(opened, plan, usd, who)
        message = (
            f"Approved: {decided.plan.stage} of {decided.folder}, "
            f"{counted(decided.items, 'request')} to {decided.plan.label}, about "
            f"{dollars(decided.plan.cost_nano)}, at most {dollars(nano(usd))}. "
            "Run `kb build`; an open page goes on by itself."
        )
    _tell_the_page(opened, decided, usd, who)
    if as_json:
        emit(
            {
                "plan": decided.plan.plan_id,
                "folder": decided.folder,
                "stage": decided.plan.stage,
                "requests": decided.items,
                "estimated_usd": decided.plan.cost_nano / 1e9,
                "ceiling_usd": usd,
                "state": decided.permission.state,
            }
        )
    else:
        click.echo(message)


def _tell_the_page(home: "Home", decided: "Standing", usd: float | None, who: str) -> None:
    """Let the decision stand in the page's history too, as those of the board do."""
    from kb_assets.approvals import event_of  # Dagster: 2 to 3 s
    from kb_serve.dagster_instance import open_instance

    decision = "declined" if usd is None else "approved"
    with open_instance(home) as instance:
        instance.report_runless_asset_event(event_of(decided, usd or 0.0, who, decision))
