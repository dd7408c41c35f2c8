"""Score one folder with the questions that it answers alone: asked within it, and in the vault.

The difference says what the other folders do to this folder's answers. Safe to repeat: a folder
whose content, questions and code are as before is not asked again.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_assets.evaluation import NO_QUESTIONS, figures, may_pass
from eval_assets.judge import Judge
from eval_assets.questions import Posed, question_files, read_sets
from eval_assets.scoring import VERSION, Row, needs_view
from eval_assets.variants import BASELINE
from kb_core.errors import NotBuiltError
from kb_core.folder_names import shown_path
from kb_core.ids import json_hash, partition_key
from kb_search.engine import VERSION as SEARCH_VERSION
from resources.builds import Builds
from resources.evaluations import Evaluations
from resources.home import Home

_RECORD = "folder-scores"
_NO_OWN = f"no question is answered by this folder alone; or {NO_QUESTIONS}"
_NOT_ASKED = "its questions ask about notes that are gone, or no variant can be asked in a folder"
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
    variant: str = ""  # what was asked: the first that can be asked within a folder
    figures: Mapping[str, float] = field(default_factory=dict)


def score_folder(home: Home, partition: str) -> FolderScored:
    """Score a folder of the last build, unless it has no questions or lacks vectors.

    Raises NotBuiltError before the first build, SettingsError for a broken question file.
    """
    folder = home.folders().get(partition, partition)
    build = home.record("last-build").get("build", "")
    if not build:
        raise NotBuiltError("There is no build yet. Run `kb build` first.")
    posed = folder_questions(home, partition)
    stamp = _stamp(home, Builds(home.data).read(build), partition, posed)
    why_not = _why_not(home, build) or ("" if posed else _NO_OWN)
    if why_not:
        return FolderScored(folder, build, stamp, why_not)
    held = home.record(_RECORD).get(partition, {})
    if held.get("stamp") == stamp:
        return _scored(folder, stamp, held, is_cached=True)
    found = _ask(home, build, partition, stamp, posed)
    with home.leases.hold("build"):
        home.write_record(_RECORD, {**home.record(_RECORD), partition: found})
        if found["figures"]:
            Evaluations(home.data / "history").append(_history_row(partition, found))
    return _scored(folder, stamp, found)


def folders_to_score(home: Home) -> list[str]:
    """Return the partitions that have questions and moved since they were scored, sorted.

    Raises SettingsError for a broken question file.
    """
    build = home.record("last-build").get("build", "")
    by_folder = _by_partition(home, read_sets(question_files(home.data)))
    if not by_folder or _why_not(home, build):
        return []
    record, manifest = home.record(_RECORD), Builds(home.data).read(build)
    return [
        partition
        for partition in sorted(set(by_folder) & set(home.folders()))
        if record.get(partition, {}).get("stamp")
        != _stamp(home, manifest, partition, by_folder[partition])
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


def _why_not(home: Home, build: str) -> str:
    if not home.settings.evaluation.during_build:
        return "scoring is switched off (`evaluation.during_build` in kb.toml)"
    if not Builds(home.data).report(build).get("is_complete"):
        return "parts of the build are pending; complete builds are scored"
    return ""


def _stamp(home: Home, manifest: Mapping[str, Any], partition: str, posed: Sequence[Posed]) -> str:
    content = manifest["folders"].get(partition, {}).get("fingerprint", "")
    keys = [each.question.key() for each in posed]
    return json_hash(
        [VERSION, SEARCH_VERSION, list(home.settings.evaluation.variants), keys, content]
    )


def _scored(
    folder: str, stamp: str, found: Mapping[str, Any], *, is_cached: bool = False
) -> FolderScored:
    values = found["figures"]
    why_not = "" if values else _NOT_ASKED
    return FolderScored(
        folder, found["build"], stamp, why_not, is_cached, found.get("variant", ""), values
    )


def _ask(
    home: Home, build: str, partition: str, stamp: str, posed: Sequence[Posed]
) -> dict[str, Any]:
    """Return what is kept of a scoring: the first variant that can be asked, and its figures."""
    judge = Judge.open(home, build)
    folder = shown_path(home.folders().get(partition, partition))
    kept = {"stamp": stamp, "build": build, "variant": "", "figures": {}}
    for name in home.settings.evaluation.variants:
        if name == BASELINE:
            continue
        inside = judge.score(posed, [name], [folder])
        whole = judge.score(posed, [name])
        if may_pass(judge, inside, partition) or may_pass(judge, whole):
            kept["stamp"] = ""  # it is asked again with the next build
        if name in inside.rows and name in whole.rows:
            return kept | {"variant": name, "figures": _both(inside.rows[name], whole.rows[name])}
    return kept


def _both(inside: Sequence[Row], whole: Sequence[Row]) -> dict[str, float]:
    values: dict[str, float] = {}
    sides = [figures(rows) for rows in (inside, whole)]
    for name in _SHOWN:
        for side, measured in zip(_SIDES, sides, strict=True):
            if name in measured:
                values[f"{name}_{side}"] = measured[name]
    return {"questions": sides[0]["questions"], **values}


def _history_row(partition: str, found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "build": found["build"],
        "folder": partition,
        "variant": found["variant"],
        "figures": dict(found["figures"]),
    }
