"""`kb folders`: the folders of the vault, and their partitions."""

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, emit, say, table, visible


@click.group(
    invoke_without_command=True, short_help="List the folders and how far their vectors are."
)
@json_option
@home_option
@click.pass_context
def command(context: click.Context, as_json: bool, home: str | None) -> None:
    """List the folders, what they hold and how far their vectors are.

    \b
    Examples:  kb folders
               kb folders prune      (forget folders that are gone from the vault)
    """
    if context.invoked_subcommand:
        return
    from kb_serve.coverage import folder_rows
    from resources.home import Home

    rows = folder_rows(Home.open(home_root(home)))
    if as_json:
        emit({"folders": rows})
        return
    columns = ("folder", "notes", "files", "texts", "with vectors", "partition")
    table(columns, [[row[column.replace(" ", "_")] for column in columns] for row in rows])


@command.command()
@json_option
@home_option
def prune(as_json: bool, home: str | None) -> None:
    """Forget folders that are gone from the vault. Their history stays.

    \b
    Example:  kb folders prune
    """
    from kb_assets.placeholders.listing import folders_of, register_vault
    from kb_serve.dagster_instance import open_instance, unregister
    from resources.history import History
    from resources.home import Home

    opened = Home.open(home_root(home))
    # Raises for a vault that is missing, empty or another one: then every folder would seem gone.
    there = folders_of(register_vault(opened), opened.settings.vault.folder_depth)
    gone = {key: path for key, path in opened.folders().items() if key not in there}
    with open_instance(opened) as instance:
        History(opened.data / "history").prune(gone)
        unregister(instance, opened, gone)
    if as_json:
        emit({"pruned": sorted(gone.values())})
        return
    for path in sorted(gone.values()):
        say(f"  {visible(path)}")
    click.echo(f"{counted(len(gone), 'folder')} forgotten. Run `kb build` to publish that.")
