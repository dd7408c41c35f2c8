"""Show a pilot: each passage as the rules read it and as the model did, side by side."""

from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from kb_core.money import dollars
from kb_serve.output import counted, table, visible

if TYPE_CHECKING:
    from kb_assets.pilot import Pilot


def show_pilot(pilot: "Pilot") -> None:
    """Print it for a person."""
    for each in pilot.passages:
        head = f"{each.note_id}  {each.breadcrumb}"
        rows = list(zip_longest(each.before, each.after, fillvalue=""))
        state = "" if each.state == "read" else f" ({each.state})"
        shown = rows or [("nothing", "nothing")]
        table(("by rules", f"by {pilot.label}{state}"), shown, title=visible(head))
    click.echo(
        f"{counted(pilot.asked, 'passage')} of {pilot.folder} read by {pilot.label}: estimated "
        f"{dollars(pilot.estimated_nano)}, billed {dollars(pilot.billed_nano)}. The rest of the "
        f"folder would cost about {dollars(pilot.folder_nano)}: `kb plan --folder` shows its plan."
    )
    if pilot.problem:
        click.echo(pilot.problem)
