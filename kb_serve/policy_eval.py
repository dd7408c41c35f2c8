"""What `kb eval --policy` does: the policy questions, asked of a build and of plain search."""

from pathlib import Path

import click

from eval_assets.judge import Judge
from eval_assets.policy_questions import read_policy_questions
from eval_assets.policy_scoring import policy_tables, policy_values, score_policy, write_policy
from kb_core.errors import SettingsError
from kb_serve.output import counted, emit, say, table
from resources.builds import Builds
from resources.home import Home


def eval_policy(
    home: Home, build: str | None, out: Path | None, *, with_times: bool, as_json: bool
) -> None:
    """Score the policy questions of a home and show it.

    Raises SettingsError when there are none, or none of this build can be asked.
    """
    questions = read_policy_questions(home.data)
    if not questions:
        raise SettingsError(
            f"{home.data / 'eval' / 'policy.jsonl'} is missing: there are no policy questions. "
            "README, Who may read what, says how one is written."
        )
    judge = Judge.open(home, Builds(home.data).find(build) if build else None)
    say(f"Asking {counted(len(questions), 'question')} of connected records and of search …")
    scores = score_policy(judge.engine, home.settings, questions)
    if out:
        write_policy(out, scores, with_times=with_times)
    if as_json:
        values = policy_values(scores, with_times=with_times)
        emit({"build": judge.build, "questions": len(questions), "policy": values})
        return
    click.echo(f"Build {judge.build[:12]}, {counted(len(questions), 'policy question')}")
    for each in policy_tables(scores, with_times=with_times):
        click.echo()
        table(each.columns, each.rows, title=each.title)
