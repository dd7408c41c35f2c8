"""The `kb` command: finds the home, loads the command asked for, and turns errors into words."""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kb_core.errors import KbError
from kb_core.settings import find_home
from kb_serve.output import emit, say

# Everyday commands first; `kb --help` shows them in this order.
EVERYDAY = ("init", "doctor", "build", "search", "check", "ui")
UPKEEP = ("refresh", "folders", "approve-deletions")


class _Commands(click.Group):
    """Load a command's module when it is called: a search must not wait for the build's imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*EVERYDAY, *UPKEEP]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*EVERYDAY, *UPKEEP):
            return None
        module = importlib.import_module(f"kb_serve.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in (("Everyday", EVERYDAY), ("Upkeep", UPKEEP)):
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, c.get_short_help_str(70)) for name, c in commands if c is not None]
                )


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="vault-knowledge-base", prog_name="kb")
def cli() -> None:
    """Dated, cited answers from your own Markdown notes, on your own machine.

    \b
    Start:   kb init ~/Notes --home ~/knowledge
             kb build --home ~/knowledge
             kb search "what did we decide about pricing" --home ~/knowledge

    A home is where a knowledge base keeps its settings and its state. Every command finds it by
    --home, KB_HOME, or the nearest kb.toml upward. The vault itself is never written to.
    """


def home_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --home."""
    return click.option(
        "--home", metavar="DIR", help="The knowledge base's home (default: KB_HOME or nearest)."
    )(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")(
        function
    )


def home_root(given: str | None) -> Path:
    """Find the home and work from there, as relative paths in its settings mean it."""
    root = find_home(given, Path.cwd())
    os.environ["KB_HOME"] = str(root)
    return root


def main() -> None:
    """Run the command; a KbError ends it with its own words and status 1."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("Stopped. What was done is kept; run the same command again to go on.")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except KbError as problem:
        _fail(problem)


def _fail(problem: KbError) -> None:
    say(f"kb: {problem}")
    if "--json" in sys.argv:
        emit({"error": type(problem).__name__, "message": str(problem)})
    sys.exit(1)


if __name__ == "__main__":
    main()
