"""`kb publish`: which build answers, and going back to an earlier one."""

from typing import TYPE_CHECKING, Any

import click

from kb_core.errors import NotBuiltError, SettingsError
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import emit, table

if TYPE_CHECKING:
    from resources.home import Home


@click.command(short_help="Let a build answer, go back to an earlier one, or pin it.")
@click.option("--rollback", is_flag=True, help="Go back to the build before, and pin it.")
@click.option("--to", "target", metavar="BUILD", help="With --rollback: to this build.")
@click.option("--unpin", is_flag=True, help="Let newer builds answer again.")
@click.option("--accept", is_flag=True, help="Let the last build answer although its scores fell.")
@click.option("--list", "show", is_flag=True, help="List the builds that are kept.")
@json_option
@home_option
def command(
    rollback: bool,
    target: str | None,
    unpin: bool,
    accept: bool,
    show: bool,
    as_json: bool,
    home: str | None,
) -> None:
    """Let the last build answer if it passes the gates; or choose another one.

    A build that was gone back to is pinned: new builds are made and scored, but it goes on
    answering until `kb publish --unpin`.

    \b
    Examples:  kb publish
               kb publish --list
               kb publish --rollback
               kb publish --rollback --to 1f3a
               kb publish --unpin
               kb publish --accept
    """
    from resources.home import Home

    if rollback + unpin + accept + show > 1:
        raise click.UsageError("Give one of --rollback, --unpin, --accept and --list.")
    if target and not rollback:
        raise click.UsageError("--to belongs to --rollback.")
    opened = Home.open(home_root(home))
    if show:
        _list(opened, as_json=as_json)
        return
    values = _rollback(opened, target) if rollback else _publish(opened, unpin, accept)
    if as_json:
        emit(values)
    else:
        click.echo(values["message"])
    if values["problems"]:
        raise SystemExit(1)


def _publish(home: "Home", unpinning: bool, accepting: bool) -> dict[str, Any]:
    from kb_assets.build.publish import accept, run_published, unpin

    last = home.record("last-build").get("build")
    if not last:
        raise NotBuiltError("There is no build yet. Run `kb build` first.")
    if accepting:
        _, verdict = accept(home, last)
    else:
        _, verdict = unpin(home) if unpinning else run_published(home)
    if verdict.why_not:
        message = f"Build {last[:12]} does not answer: {verdict.why_not}."
    else:
        message = f"Build {last[:12]} answers{'' if verdict.is_moved else ' already'}."
    return _values(home, verdict.answers, message, list(verdict.problems))


def _rollback(home: "Home", target: str | None) -> dict[str, Any]:
    from kb_assets.build.publish import pin
    from resources.builds import Builds

    builds = Builds(home.data)
    name = builds.find(target) if target else builds.before()
    if name is None:
        raise SettingsError(
            "No build answered before this one. `kb publish --list` shows those that are kept."
        )
    pin(home, name)
    message = f"Build {name[:12]} answers and is pinned. `kb publish --unpin` ends that."
    return _values(home, name, message, [])


def _values(home: "Home", current: str, message: str, problems: list[str]) -> dict[str, Any]:
    from kb_assets.build.publish import pinned

    return {"current": current, "pinned": pinned(home), "problems": problems, "message": message}


def _list(home: "Home", *, as_json: bool) -> None:
    from kb_assets.build.publish import pinned
    from resources.builds import Builds

    builds = Builds(home.data)
    current, kept, last = builds.current(), pinned(home), home.record("last-build").get("build")
    rows = []
    for name in builds.by_age():
        report = builds.report(name)
        scored = (report.get("evaluation") or {}).get("figures", {})
        marks = ((current, "answers"), (last, "last built"), (kept, "pinned"))
        said = [mark for build, mark in marks if build == name]
        rows.append(
            {
                "build": name,
                "notes": int(report.get("notes", 0)),
                "complete": bool(report.get("is_complete")),
                "recall_at_10": scored.get("recall_at_10"),
                "mrr": scored.get("mrr"),
                "is": ", ".join(said),
            }
        )
    if as_json:
        emit({"builds": rows})
        return
    columns = ("build", "notes", "complete", "recall@10", "mrr", "")
    table(columns, [_cells(row) for row in rows], title="Builds, oldest first")


def _cells(row: dict[str, Any]) -> list[str]:
    scores = ["–" if row[key] is None else f"{row[key]:.3f}" for key in ("recall_at_10", "mrr")]
    return [
        row["build"][:12],
        f"{row['notes']:,}",
        "yes" if row["complete"] else "no",
        *scores,
        row["is"],
    ]
