"""What a build's report says of the policy questions: figures of both ways, never note text.

A slip in the question file, or a principal that kb.toml does not know, keeps no build from being
scored: the report says why they were not asked.
"""

from collections.abc import Mapping
from typing import Any

from eval_assets.judge import Judge
from eval_assets.policy_questions import read_policy_questions
from eval_assets.policy_scoring import MEASURES, VERSION, policy_values, score_policy
from eval_assets.report import Table
from kb_core.errors import NotBuiltError, SettingsError
from kb_core.ids import json_hash
from resources.home import Home

_TIMES = ("p50_ms", "p95_ms")
_NO_VALUE = "–"


def policy_stamp(home: Home) -> str:
    """Hash what decides these figures besides the build; empty without policy questions."""
    try:
        keys = [each.key() for each in read_policy_questions(home.data)]
    except SettingsError as problem:
        keys = [str(problem)]
    return json_hash([VERSION, keys]) if keys else ""


def policy_report(home: Home, judge: Judge) -> dict[str, Any]:
    """Ask a build the policy questions; empty without any."""
    try:
        questions = read_policy_questions(home.data)
        scores = score_policy(judge.engine, home.settings, questions) if questions else {}
    except (SettingsError, NotBuiltError) as problem:
        return {"why_not": str(problem)}
    return policy_values(scores, with_times=True)


def policy_markdown(report: Mapping[str, Any]) -> str:
    """Return the part of a report about policy questions; empty where there is none."""
    if not report:
        return ""
    if "why_not" in report:
        return f"Policy questions were not asked: {report['why_not']}\n"
    rows = tuple(
        (name, str(values["n"]), *(_cell(values, each) for each in (*MEASURES, *_TIMES)))
        for name, values in report.items()
    )
    return Table("Policy questions", ("asked of", "n", *MEASURES, *_TIMES), rows).markdown()


def _cell(values: Mapping[str, Any], name: str) -> str:
    return f"{values[name]:g}" if name in values else _NO_VALUE
