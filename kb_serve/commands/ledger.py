"""`kb ledger`: what was spent, on which folder, stage, model and day; estimated against billed."""

from typing import TYPE_CHECKING, Any

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import emit, table

if TYPE_CHECKING:
    from resources.home import Home

_BY = ("folder", "stage", "model", "day")


@click.command(short_help="What language models cost so far.")
@click.option(
    "--by",
    type=click.Choice(_BY),
    multiple=True,
    help="Add up by this; may be repeated (default: folder and stage).",
)
@click.option("--approvals", is_flag=True, help="List who approved or declined what instead.")
@json_option
@home_option
def command(by: tuple[str, ...], approvals: bool, as_json: bool, home: str | None) -> None:
    """Show what was spent on language models: estimated before, billed after.

    Billed is what the provider counted. A request whose end nobody saw, because the machine went
    down, counts at its estimate.

    \b
    Examples:  kb ledger
               kb ledger --by day --by model
               kb ledger --approvals
    """
    from resources.home import Home

    opened = Home.open(home_root(home))
    if approvals:
        _show_decisions(opened, as_json=as_json)
    else:
        _show_totals(opened, list(by) or ["folder", "stage"], as_json=as_json)


def _show_totals(home: "Home", by: list[str], *, as_json: bool) -> None:
    from kb_assets.paid_work import paid_file
    from kb_core.folder_names import shown_path
    from kb_core.money import DOLLAR, dollars
    from resources.paid_store import PaidStore

    if not paid_file(home).exists():
        _say_nothing(as_json=as_json)
        return
    names = home.folders()
    with PaidStore(paid_file(home)) as store:
        totals = store.totals(by)
    rows: list[dict[str, Any]] = []
    for each in totals:
        keys = dict(zip(by, each.group, strict=True))
        if "folder" in keys:
            keys["folder"] = shown_path(names.get(keys["folder"], keys["folder"]))
        spent = {
            "requests": each.calls,
            "estimated_nano": each.estimated_nano,
            "billed_nano": each.billed_nano,
        }
        rows.append({**keys, **spent})
    sums = {
        name: sum(row[name] for row in rows)
        for name in ("requests", "estimated_nano", "billed_nano")
    }
    if as_json:
        emit({"by": by, "rows": rows, **sums, "billed_usd": sums["billed_nano"] / DOLLAR})
        return
    cells = [
        [*(row[key] for key in by), f"{row['requests']:,}", dollars(row["estimated_nano"]),
         dollars(row["billed_nano"])]
        for row in rows
    ]  # fmt: skip
    total = ["all", *[""] * (len(by) - 1)]
    cells.append(
        [
            *total,
            f"{sums['requests']:,}",
            dollars(sums["estimated_nano"]),
            dollars(sums["billed_nano"]),
        ]
    )
    table([*by, "requests", "estimated", "billed"], cells, title="Spent on language models")


def _show_decisions(home: "Home", *, as_json: bool) -> None:
    import datetime as dt

    from kb_assets.paid_work import paid_file
    from kb_core.folder_names import shown_path
    from kb_core.money import dollars
    from resources.paid_store import PaidStore

    if not paid_file(home).exists():
        _say_nothing(as_json=as_json)
        return
    names = home.folders()
    with PaidStore(paid_file(home)) as store:
        decisions = store.decisions()
    rows: list[dict[str, Any]] = [
        {
            "at": dt.datetime.fromtimestamp(each.at, dt.UTC).isoformat(timespec="seconds"),
            "decision": each.kind,
            "folder": shown_path(names.get(each.folder, each.folder)),
            "stage": each.stage,
            "plan": each.plan,
            "ceiling_nano": each.ceiling_nano,
            "spent_nano": each.spent_nano,
            "who": each.who,
        }
        for each in decisions
    ]
    if as_json:
        emit({"decisions": rows})
        return
    cells = [
        [row["at"], row["decision"], row["folder"], row["stage"], row["plan"][:8],
         dollars(row["ceiling_nano"]), dollars(row["spent_nano"]), row["who"]]
        for row in rows
    ]  # fmt: skip
    columns = ("at", "decision", "folder", "stage", "plan", "ceiling", "spent", "who")
    table(columns, cells, title="Who approved or declined what")


def _say_nothing(*, as_json: bool) -> None:
    if as_json:
        emit({"rows": [], "requests": 0, "estimated_nano": 0, "billed_nano": 0, "billed_usd": 0.0})
    else:
        click.echo("Nothing was spent: no language model was ever asked here.")
