"""`make run`: build the sample knowledge base, ask it three questions, say what to open next."""

import subprocess
import sys
from pathlib import Path

import click

from kb_core.settings import find_home, read_settings

# Each asks for a dated fact of the sample's company; the answers are found, not written here.
QUESTIONS = (
    "Who tested the bricks from Albera, and how many cracked?",
    "Why did the tour with a kiln in a van never happen?",
    "What was decided about building the controller ourselves?",
)


def main() -> int:
    """Run the tour; return the exit status."""
    root = find_home(None, Path(__file__).resolve().parent.parent)
    click.echo("Building the sample knowledge base. Nothing leaves this machine.")
    built = subprocess.run([sys.executable, "-m", "kb_serve.cli", "build", "--home", str(root)])
    if built.returncode:
        return built.returncode
    _ask(root)
    _scores(root)
    _what_next()
    return 0


def _ask(root: Path) -> None:
    from kb_search.engine import Engine

    engine = Engine.open(root, read_settings(root))
    for question in QUESTIONS:
        result = engine.search(question, notes=1).to_json()
        click.echo(f"\n{click.style(question, bold=True)}")
        for row in result["results"]:
            click.echo(f"  “{row['quote']}”")
            click.echo(f"  {row['date'] or 'undated'}  {row['note']}")


def _scores(root: Path) -> None:
    from resources.builds import Builds

    builds = Builds(root / "data")
    scored = builds.report(builds.current()).get("evaluation")
    if scored:
        click.echo(f"\nScores: {scored['headline']}.")


def _what_next() -> None:
    kb = Path(sys.executable).with_name("kb")
    command = kb.relative_to(Path.cwd()) if kb.is_relative_to(Path.cwd()) else kb
    click.echo("\nNext:")
    click.echo(f'  {command} search "why did we stop buying bricks from Wexcombe"')
    click.echo(f"  {command} eval                            how good the answers are, by category")
    click.echo("  make ui                                  the build's page, on 127.0.0.1:3000")
    click.echo(f"  {command} init ~/Notes --home ~/knowledge     the same for your own notes")
    click.echo("  README.md                                what else there is")


if __name__ == "__main__":
    sys.exit(main())
