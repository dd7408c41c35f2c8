"""`kb approve-deletions`: confirm that notes which vanished at once were deleted on purpose."""

import click

from kb_core.errors import SettingsError
from kb_core.folder_names import folder_path
from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say, visible


@click.command(short_help="Confirm that notes were deleted on purpose.")
@click.option("--folder", required=True, metavar="F", help="The folder, as the error names it.")
@json_option
@home_option
def command(folder: str, as_json: bool, home: str | None) -> None:
    """Say that the notes missing from a folder were deleted on purpose.

    It covers exactly the notes missing now; the next build takes them out of the present. Their
    earlier versions stay in the history.

    \b
    Example:  kb approve-deletions --folder Work
    """
    from kb_assets.placeholders.observe import loss_id, lost_notes
    from resources.history import History
    from resources.home import Home
    from resources.vault import LocalVault

    opened = Home.open(home_root(home))
    path = folder_path(folder)
    partitions = {name: key for key, name in opened.folders().items()}
    if path not in partitions:
        raise SettingsError(f"No folder {folder!r} here. `kb folders` lists them.")
    partition = partitions[path]
    vault = LocalVault(opened.vault_path, opened.settings.vault)
    lost = lost_notes(vault.list(path), History(opened.data / "history").latest(partition))
    approved = opened.record("approved-deletions")
    opened.write_record("approved-deletions", {**approved, partition: loss_id(lost)})
    for note in lost:
        say(f"  {visible(note)}")
    if as_json:
        emit({"folder": path, "approved": len(lost)})
    else:
        approved_now = f"{counted(len(lost), 'deletion')} approved."
        click.echo(f"{approved_now} Run `kb build`; an open page goes on by itself.")
