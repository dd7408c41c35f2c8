"""`kb init`: make a home for a vault."""

from pathlib import Path

import click

from kb_serve.cli import json_option
from kb_serve.output import emit, say


@click.command(short_help="Make a home for your own vault.")
@click.argument("vault", type=click.Path(path_type=Path))
@click.option(
    "--home",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where the knowledge base lives (default: ~/knowledge-bases/NAME-OF-VAULT).",
)
@json_option
def command(vault: Path, home: Path | None, as_json: bool) -> None:
    """Make a home for your own vault: settings and state, outside of the notes.

    The vault is only ever read. Nothing is built yet.

    \b
    Examples:  kb init ~/Notes
               kb init ~/Notes --home ~/knowledge
    """
    from kb_assets.choices import read_choices
    from kb_serve.new_home import make_home, synced_by

    root = home or Path.home() / "knowledge-bases" / vault.expanduser().resolve().name
    made = make_home(vault, root)
    choices = read_choices(made)
    made.remember(vault=str(made.vault_path))
    cloud = synced_by(made.root)
    if cloud:
        say(f"Warning: {cloud} is synced; a database in it can be damaged. Move the home out.")
    if as_json:
        emit({"home": str(made.root), "vault": str(made.vault_path), **choices.to_json()})
        return
    click.echo(f"Made {made.root} for the notes in {made.vault_path}.")
    click.echo(
        f"Tokens are counted by {choices.token_counter!r}; {made.root / 'kb.toml'} says more."
    )
    click.echo(f"Next:  kb doctor --home {made.root}\n       kb build --home {made.root}")
