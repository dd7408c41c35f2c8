"""`kb doctor`: what is in the vault, what is missing on this machine, how long it would take."""

import click

from kb_serve.cli import home_option, home_root, json_option
from kb_serve.output import counted, duration, emit, table


@click.command(short_help="What is in the vault, what is missing, how long it takes.")
@json_option
@home_option
def command(as_json: bool, home: str | None) -> None:
    """Look at the vault and this machine before building: nothing is written.

    \b
    Example:  kb doctor --home ~/knowledge
    """
    from kb_serve.inspection import inspect, optional_packages
    from kb_serve.new_home import synced_by
    from kb_serve.reading_model import in_words, reading_model
    from resources.cores import cores
    from resources.extras import install_command
    from resources.home import Home

    opened = Home.open(home_root(home))
    found = inspect(opened)
    packages = optional_packages()
    cloud = synced_by(opened.root)
    reading = reading_model(opened)
    if as_json:
        about = {"packages": packages, "cores": cores(), "synced_by": cloud, "reading": reading}
        emit({**found.to_json(), **about})
        return
    click.echo(f"Vault    {opened.vault_path}")
    click.echo(f"Home     {opened.root}")
    click.echo(
        f"Inside   {counted(found.notes, 'note')} in {counted(len(found.folders), 'folder')}, "
        f"{found.bytes / 1e6:.1f} MB, about {found.tokens:,} tokens"
    )
    table(("folder", "notes"), list(found.folders.items()))
    table(("language (of a sample)", "notes"), list(found.languages.items()))
    if found.not_read:
        table(("not read, because", "files"), list(found.not_read.items()))
    if found.embedder:
        click.echo(
            f"Vectors  {found.embedder}: {found.passages_per_second:g} passages a second on "
            f"{counted(cores(), 'core')}, about {duration(found.vector_seconds)} for this vault. "
            "Words answer from the first minute."
        )
    else:
        click.echo(f"Vectors  none: {found.embedder_problem}")
    click.echo(f"Reading  {in_words(reading)}")
    for extra, is_there in packages.items():
        if not is_there:
            click.echo(f"Missing  extra {extra!r}: {install_command(extra)}")
    if cloud:
        click.echo(f"Warning  the home lies in {cloud}, which is synced; move it elsewhere.")
