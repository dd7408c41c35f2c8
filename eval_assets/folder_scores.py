"""Score one folder with the questions that it answers alone: asked within it, and in the vault.

The difference says what the other folders do to this folder's answers. Safe to repeat: a folder
whose content, questions and code are as before is not asked again.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_assets.evaluation import NO_QUESTIONS, figures
from eval_assets.judge import Judge
from eval_assets.questions import Posed, question_files, read_sets
from eval_assets.scoring import VERSION, Row, needs_view
from eval_assets.variants import BASELINE
from kb_core.folder_names import shown_path
from kb_core.ids import json_hash, partition_key
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.home import Home

_RECORD = "folder-scores"
_SIDES = ("inside", "whole")
# Five measures and n on both sides: as many keys as the page plots well.
_SHOWN = ("recall_at_10", "all_gold_at_8", "mrr", "fact_recall_at_8k", "latency_ms_p50")


@dataclass(frozen=True)
class FolderScored:
    """What became of scoring a folder."""

    folder: str
    build: str
    stamp: str = ""
    why_not: str = ""
    is_cached: bool = False
    figures: Mapping[str, float] = field(default_factory=dict)


def score_folder(home: Home, partition: str) -> FolderScored:
    """Score a folder of the last build, unless it has no questions or lacks vectors."""
    folder = home.folders().get(partition, partition)
    build = home.record("last-build").get("build", "")
    posed = folder_questions(home, partition)
    stamp = _stamp(home, partition, posed)
    why_not = _why_not(home, build, posed)
    if why_not:
        return FolderScored(folder, build, stamp, why_not)
    held = home.record(_RECORD).get(partition, {})
    if held.get("stamp") == stamp:
        return FolderScored(folder, held["build"], stamp, is_cached=True, figures=held["figures"])
    values = _ask(home, build, folder, posed)
    if not values:
        return FolderScored(folder, build, stamp, "no variant can be asked within a folder")
    with home.leases.hold("build"):
        record = home.record(_RECORD)
        record[partition] = {"stamp": stamp, "build": build, "figures": values}
        home.write_record(_RECORD, record)
        Evaluations(home.data / "history").append(_history_row(partition, build, values))
    return FolderScored(folder, build, stamp, figures=values)


def folders_to_score(home: Home) -> list[str]:
    """Return the partitions that have questions and moved since they were scored, sorted.

    Raises SettingsError for a broken question file.
    """
    build = home.record("last-build").get("build", "")
    record = home.record(_RECORD)
    by_folder = _by_partition(home, read_sets(question_files(home.data)))
    return [
        partition
        for partition in sorted(set(by_folder) & set(home.folders()))
        if not _why_not(home, build, by_folder[partition])
        and record.get(partition, {}).get("stamp") != _stamp(home, partition, by_folder[partition])
    ]


def folder_questions(home: Home, partition: str) -> list[Posed]:
    """Return the questions whose essential notes all lie in this folder."""
    return _by_partition(home, read_sets(question_files(home.data))).get(partition, [])


def _by_partition(home: Home, posed: Sequence[Posed]) -> dict[str, list[Posed]]:
    depth = home.settings.vault.folder_depth
    found: dict[str, list[Posed]] = {}
    for each in posed:
        folders = {"/".join(note.split("/")[:-1][:depth]) for note in each.question.essential}
        if len(folders) == 1 and not needs_view(each.question):
            found.setdefault(partition_key(folders.pop()), []).append(each)
    return found


def _why_not(home: Home, build: str, posed: Sequence[Posed]) -> str:
    if not home.settings.evaluation.during_build:
        return "scoring is switched off (`evaluation.during_build` in kb.toml)"
    if not Builds(home.data).report(build).get("is_complete"):
        return "parts of the build are pending; complete builds are scored"
    return "" if posed else f"no question is answered by this folder alone; or {NO_QUESTIONS}"


def _stamp(home: Home, partition: str, posed: Sequence[Posed]) -> str:
    build = home.record("last-build").get("build", "")
    manifest = Builds(home.data).read(build)
    content = manifest["folders"].get(partition, {}).get("fingerprint", "")
    keys = [each.question.key() for each in posed]
    return json_hash([VERSION, list(home.settings.evaluation.variants), keys, content])


def _ask(home: Home, build: str, folder: str, posed: Sequence[Posed]) -> dict[str, float]:
    """Return the first variant's figures, in the folder and in the whole vault."""
    judge = Judge.open(home, build)
    for name in home.settings.evaluation.variants:
        if name == BASELINE:
            continue
        inside = judge.score(posed, [name], [shown_path(folder)]).rows.get(name)
        whole = judge.score(posed, [name]).rows.get(name)
        if inside and whole:
            return _both(inside, whole)
    return {}


def _both(inside: Sequence[Row], whole: Sequence[Row]) -> dict[str, float]:
    values: dict[str, float] = {}
    sides = [figures(rows) for rows in (inside, whole)]
    for name in _SHOWN:
        for side, measured in zip(_SIDES, sides, strict=True):
            if name in measured:
                values[f"{name}_{side}"] = measured[name]
    return {"questions": sides[0]["questions"], **values}


def _history_row(partition: str, build: str, values: Mapping[str, float]) -> dict[str, Any]:
    return {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "build": build,
        "folder": partition,
        "figures": dict(values),
    }
