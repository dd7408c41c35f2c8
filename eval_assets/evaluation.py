"""Score one build with the home's questions, keep the scores beside it and in the history.

Safe to repeat: a build that was scored with these questions and this code is not asked again.
An incomplete build is not scored: its missing vectors would look like a loss.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_assets.judge import Judge
from eval_assets.metrics import mean
from eval_assets.policy_report import policy_report, policy_stamp
from eval_assets.questions import Posed, question_files, read_sets
from eval_assets.report import headline, percentile
from eval_assets.scoring import VERSION, Row, Scores, median_ratio, needs_view
from kb_assets.build.publish import baseline
from kb_assets.embedder_choice import open_for
from kb_core.errors import KbError, SettingsError, StoreError
from kb_core.ids import json_hash
from kb_search.engine import VERSION as SEARCH_VERSION
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.home import Home

NO_QUESTIONS = "there are no questions yet: `kb questions suggest` drafts some from the notes"

# Measures as the page plots them: at most twelve flat keys, equal on every build.
FIGURES = {
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
    "all_gold_at_8": "all_gold@8",
    "mrr": "mrr",
    "ndcg_at_10": "ndcg@10",
    "fact_recall_at_8k": "fact_recall@8k",
    "note_recall_at_8k": "note_recall@8k",
    "precision_at_8k": "precision@8k",
    "current_first": "current_first",
}
_TIMED_QUESTIONS = 30


@dataclass(frozen=True)
class Evaluated:
    """What became of scoring a build."""

    build: str
    why_not: str = ""  # why it was not scored
    is_cached: bool = False
    scores: Scores | None = None
    variant: str = ""  # the one that is judged
    stamp: str = ""  # changes with what decides the scores besides the build
    figures: Mapping[str, float] = field(default_factory=dict)


def evaluate(home: Home) -> Evaluated:
    """Score the last build, unless something speaks against it."""
    builds = Builds(home.data)
    build = home.record("last-build").get("build", "")
    posed, why_not = _posed(home, builds, build)
    if why_not:
        return Evaluated(build, why_not)
    stamp = _stamp(home, posed)
    held = _held(builds, build, stamp)
    if held:
        return _evaluated(home, build, held, stamp, is_cached=True)
    judge = Judge.open(home, build)
    # The plainest first: the sign tests then say what each adds to those before it.
    scores = judge.score(posed, list(reversed(home.settings.evaluation.variants)))
    done = _evaluated(home, build, scores, stamp)
    judged, policy = _for_gate(home, judge, done, posed), policy_report(home, judge)
    with home.leases.hold("build"):
        if _held(builds, build, stamp):  # another process was as quick: one row in the history
            return done
        kept = "" if may_pass(judge, scores) else stamp
        builds.write_scores(build, {"stamp": kept, "scores": scores.to_json()})
        report = {**builds.report(build), "evaluation": judged, "policy": policy}
        builds.write_report(build, report)
        if done.variant:
            Evaluations(home.data / "history").append(_history_row(done, len(posed)))
    return done


def is_fresh(home: Home) -> bool:
    """Tell whether the last build needs no scoring."""
    builds = Builds(home.data)
    build = home.record("last-build").get("build", "")
    try:
        posed, why_not = _posed(home, builds, build)
    except StoreError:
        return False
    return bool(why_not) or _held(builds, build, _stamp(home, posed)) is not None


def may_pass(judge: Judge, scores: Scores, partition: str | None = None) -> bool:
    """Tell whether a variant was not asked for a reason that may be gone in an hour.

    An embedder that opens, made vectors of what was asked (a folder, or anything), and then gives
    no answer: the next build asks again.
    """
    embedder = open_for(judge.home)[0] if scores.problems else None
    made = {
        folder.vector_profile
        for folder in judge.engine.build.folders
        if partition in (None, folder.partition)
    }
    return embedder is not None and embedder.profile.key() in made


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the flat figures of one variant's rows; a measure nothing has is left out."""
    means = mean([dict(row.measures) for row in rows])
    times = [row.ms for row in rows]
    return {
        "questions": sum(row.is_scored for row in rows),
        **{key: round(means[name], 4) for key, name in FIGURES.items() if name in means},
        "latency_ms_p50": round(percentile(times, 0.5), 2),
        "latency_ms_p95": round(percentile(times, 0.95), 2),
    }


def _posed(home: Home, builds: Builds, build: str) -> tuple[list[Posed], str]:
    """Return the questions for a build, or why it is not scored."""
    if not home.settings.evaluation.during_build:
        return [], "scoring is switched off (`evaluation.during_build` in kb.toml)"
    if not build:
        return [], "there is no build yet"
    if not builds.report(build).get("is_complete"):
        return [], "parts of it are pending; complete builds are scored"
    try:
        posed = read_sets(question_files(home.data))
    except SettingsError as problem:  # a slip in a question file keeps no note from answering
        return [], str(problem)
    return posed, "" if posed else NO_QUESTIONS


def _stamp(home: Home, posed: Sequence[Posed]) -> str:
    """Hash what decides a build's scores besides the build."""
    embedder, _ = open_for(home)
    profile = embedder.profile.key() if embedder else ""
    keys = [each.question.key() for each in posed]
    variants = list(home.settings.evaluation.variants)
    return json_hash([VERSION, SEARCH_VERSION, variants, keys, profile, policy_stamp(home)])


def _held(builds: Builds, build: str, stamp: str) -> Scores | None:
    """Return what a build scored under this stamp, if its report has its part of that too."""
    held = builds.scores(build)
    is_whole = held.get("stamp") == stamp and "evaluation" in builds.report(build)
    return Scores.from_json(held["scores"]) if is_whole else None


def _evaluated(
    home: Home, build: str, scores: Scores, stamp: str, *, is_cached: bool = False
) -> Evaluated:
    wanted = home.settings.evaluation.variants
    variant = next((name for name in wanted if scores.rows.get(name)), "")
    values = figures(scores.rows[variant]) if variant else {}
    why_not = "" if variant else "; ".join(scores.problems.values()) or "no question can be asked"
    return Evaluated(build, why_not, is_cached, scores, variant, stamp, values)


def _for_gate(
    home: Home, judge: Judge, done: Evaluated, posed: Sequence[Posed]
) -> dict[str, Any] | None:
    """Return what publishing compares of two builds."""
    if done.scores is None or not done.variant:
        return None
    questions = {
        row.id: {"key": row.key, **row.measures}
        for row in done.scores.rows[done.variant]
        if row.is_scored
    }
    ratio = _latency_ratio(home, judge, done, posed)
    timed = {} if ratio is None else {"latency_ratio": round(ratio, 3)}
    return {
        "variant": done.variant,
        "headline": headline(done.scores, done.variant),
        "figures": done.figures,
        "questions": questions,
        **timed,
    }


def _latency_ratio(
    home: Home, judge: Judge, done: Evaluated, posed: Sequence[Posed]
) -> float | None:
    """Ask the baseline's build the same questions in turn; None if it cannot be asked."""
    before = baseline(home)
    asked = [each.question for each in posed if not needs_view(each.question)][:_TIMED_QUESTIONS]
    if before in ("", done.build):
        return None
    try:
        old = Judge.open(home, before).variant(done.variant)
        return median_ratio(judge.variant(done.variant), old, asked)
    except KbError:  # files of an old build may be gone: then nothing is compared
        return None


def _history_row(done: Evaluated, questions: int) -> dict[str, Any]:
    return {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "build": done.build,
        "folder": None,
        "variant": done.variant,
        "in_files": questions,
        "figures": dict(done.figures),
    }
