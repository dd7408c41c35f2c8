"""The `kb` command: finds the home, loads the command asked for, and turns errors into words."""

import errno
import importlib
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kb_core.errors import KbError
from kb_core.settings import find_home
from kb_serve.output import emit, say

# Everyday commands first; `kb --help` shows them in this order.
EVERYDAY = (
    *("init", "doctor", "build", "search", "connected", "path"),
    *("plan", "approve", "ledger"),
    *("eval", "questions", "check", "ui"),
)
UPKEEP = (
    "refresh",
    "publish",
    "folders",
    "approve-deletions",
    "history",
    "verify",
    "gc",
    "backup",
    "restore",
)


_DAMAGED_DATABASE = (
    "A database of this home cannot be used ({problem}). Free some space if the disk is full; "
    "else `kb verify --mend` finds the damaged one and moves it away: it is made anew."
)


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
    _read_secrets(root / ".env")
    return root


def _read_secrets(path: Path) -> None:
    """Take over what a home's .env says, where the environment does not say otherwise."""
    if path.is_file():
        from dotenv import load_dotenv

        load_dotenv(path, override=False)


def main() -> None:
    """Run the command; a KbError ends it with its own words and status 1."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as problem:
        problem.show()
        _emit_error(type(problem).__name__, problem.format_message())
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("Stopped. What was done is kept; run the same command again to go on.")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as problem:
        words = _in_words(problem)
        if words is None:
            raise
        _fail(type(problem).__name__, words)


def _in_words(problem: Exception) -> str | None:
    """Say what went wrong and what to do; None for what nobody expected."""
    if isinstance(problem, KbError):
        return str(problem)
    if isinstance(problem, OSError):
        return _of_the_system(problem)
    database = _database_error(problem)
    return _DAMAGED_DATABASE.format(problem=database) if database else None


def _database_error(problem: BaseException | None) -> sqlite3.Error | None:
    """Return SQLite's own error: Dagster's come wrapped by what stands between."""
    while problem is not None:
        if isinstance(problem, sqlite3.Error):
            return problem
        original = getattr(problem, "orig", None)
        problem = original if isinstance(original, sqlite3.Error) else problem.__cause__
    return None


def _of_the_system(problem: OSError) -> str:
    """Say what the system refused, where, and what to do; the last build answers meanwhile."""
    where = f" at {problem.filename}" if problem.filename else ""
    remedy = {
        errno.ENOSPC: "Free some space and run the same command again; nothing is lost.",
        errno.EACCES: "Give this user the right to read and write there, or choose another home.",
        errno.EROFS: "The file system is read-only: choose another home.",
    }.get(problem.errno or 0, "Mend that and run the same command again.")
    return f"{problem.strerror or type(problem).__name__}{where}. {remedy}"


def _fail(kind: str, message: str) -> None:
    say(f"kb: {message}")
    _emit_error(kind, message)
    sys.exit(1)


def _emit_error(kind: str, message: str) -> None:
    if "--json" in sys.argv:
        emit({"error": kind, "message": message})


if __name__ == "__main__":
    main()
