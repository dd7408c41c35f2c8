"""A real year of a company's handbook: refreshed, it must hold what a full rebuild holds.

`python -m benchmarks.handbook` builds a copy of the snapshot of June 2022 by `kb build`'s Builder
against a stand-in for Ollama, replaces the files by those of June 2023, and builds again. The
guard must ask about exactly the folders that lost more than a fifth of their notes; then only
texts that were not known are embedded, and all tables are those of a full rebuild, byte for byte.
"""

import argparse
import datetime as dt
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from click.testing import CliRunner

from benchmarks.report import progress, report
from benchmarks.sequences_dagster import build_by_dagster
from kb_assets.placeholders.listing import register_vault
from kb_core.folder_names import shown_path
from kb_core.ids import content_id
from kb_serve.commands.approve_deletions import command as approve_deletions
from resources.history import History
from resources.home import Home
from tests.incremental_rebuild import differences, make_home, rebuild
from tests.standins.ollama_server import OllamaStandIn

DEFAULT_FOLDER = "../shared/vaults"
_BEFORE, _AFTER = "sourcegraph-handbook-2022-06", "sourcegraph-handbook-2023-06"
_CHANGES = "sourcegraph-handbook-changes.tsv"  # of git: a letter, a path, of a rename the new one
_KINDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed"}
_SHARE, _FEWEST = 0.2, 2
_THEN = dt.datetime(2022, 6, 30, tzinfo=dt.UTC)
_NOW = dt.datetime(2023, 6, 30, tzinfo=dt.UTC)

Change = tuple[str, str, str]  # letter, path before, path after


def main() -> int:
    """Run the refresh; status 1 if it asked, embedded or wrote anything else than it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vaults", type=Path, default=Path(DEFAULT_FOLDER))
    parser.add_argument("--scratch", help="where the homes are made; memory is faster than a disk")
    arguments = parser.parse_args()
    changes = _on_disk(_changes(arguments.vaults / _CHANGES), arguments.vaults)
    with (
        tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch,
        OllamaStandIn() as server,
    ):
        year = _Year(arguments.vaults, Path(scratch), server)
        figures = year.figures(changes)
    told = Counter(_KINDS[letter] for letter, _, _ in changes)
    aims = {kind: f"== {told[kind]}" for kind in _KINDS.values()}
    aims |= {"wrongly_asked": "<= 0", "differing": "<= 0", "embedded_again": "<= 0"}
    aims["embedded_over_new"] = "== 1"
    return 0 if report("handbook", figures, aims, asked=year.asked) else 1


class _Year:
    """The vault in two states, and the home over it."""

    def __init__(self, vaults: Path, scratch: Path, server: OllamaStandIn) -> None:
        self._before, self._after = vaults / _BEFORE, vaults / _AFTER
        self._scratch, self._server = scratch, server
        self._vault = scratch / "vault"
        shutil.copytree(self._before, self._vault)
        self._home = make_home(scratch / "home", self._vault, server)
        self.asked: list[str] = []

    def figures(self, changes: Iterable[Change]) -> dict[str, float]:
        """Build, replace, build again and compare."""
        progress(f"building {_BEFORE}")
        self._build(_THEN)
        known, first = self._texts(), self._sent()
        _replace(self._vault, self._after)
        progress(f"building {_AFTER}")
        asked = self._build(_NOW)
        self.asked = sorted(shown_path(self._home.folders()[each]) for each in asked)
        _approve(self._home, self.asked)
        progress(f"asked about {self.asked}; approved")
        self._build(_NOW + dt.timedelta(minutes=1))
        new, sent = self._texts(is_current=True) - known, self._sent()
        expected = _that_lost_much(_files(self._before), _files(self._after))
        progress("rebuilding")
        fresh = rebuild(self._home, self._scratch / "full", self._server, _NOW)
        again, differing = self._sent(), differences(self._home, fresh)
        for each in differing[:20]:
            progress(f"  {each}")
        return {
            **_observed(self._home, changes),
            "asked_folders": len(self.asked),
            "wrongly_asked": len({*expected} ^ {*self.asked}),
            "texts_known": len(known),
            "texts_new": len(new),
            "embedded_over_new": len(sent - first) / len(new),
            "embedded_again": len(sent & first) + len(again),
            "differing": len(differing),
        }

    def _build(self, now: dt.datetime) -> list[str]:
        register_vault(self._home)
        return build_by_dagster(self._home, now, sorted(self._home.folders()))

    def _texts(self, *, is_current: bool = False) -> set[str]:
        """Return the ids of the chunks' texts, those of the present alone if asked."""
        chunks = self._home.store.read_all("chunks", ["text_id", "is_current"])
        kept = chunks.filter(chunks["is_current"]) if is_current else chunks
        return set(kept["text_id"].to_pylist())

    def _sent(self) -> set[str]:
        """Return the ids of the texts sent to the embedder since this was last asked.

        Words that are sent to measure its speed are no texts of the vault.
        """
        sent = {content_id(text) for batch in self._server.scenario.batches() for text in batch}
        self._server.scenario.seen.clear()
        return sent & self._texts()


def _changes(listed: Path) -> list[Change]:
    rows = [line.split("\t") for line in listed.read_text("utf-8").splitlines()]
    return [(row[0][0], row[1], row[-1]) for row in rows]


def _on_disk(changes: Iterable[Change], vaults: Path) -> list[Change]:
    """Leave out the changes of files that the snapshots do not hold."""
    before, after = vaults / _BEFORE, vaults / _AFTER
    return [
        change
        for change in changes
        if (change[0] == "A" or (before / change[1]).exists())
        and (change[0] == "D" or (after / change[2]).exists())
    ]


def _replace(vault: Path, by: Path) -> None:
    """Delete what is gone, write what is new or other; leave the rest as it is."""
    wanted = _files(by)
    for path, content in _files(vault).items():
        if path not in wanted:
            (vault / path).unlink()
        elif wanted[path] == content:
            del wanted[path]
    for path, content in wanted.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(content)


def _files(vault: Path) -> dict[str, bytes]:
    files = (path for path in sorted(vault.rglob("*")) if path.is_file())
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in files}


def _that_lost_much(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Return the folders over a fifth of whose notes are gone, what only moved not counted."""
    moved = {content for path, content in after.items() if path not in before}
    notes = [path for path in before if path.endswith(".md")]
    held = Counter(_top(path) for path in notes)
    lost = Counter(_top(path) for path in notes if path not in after and before[path] not in moved)
    return [each for each in lost if _FEWEST <= lost[each] > _SHARE * held[each]]


def _top(path: str) -> str:
    return shown_path(path.split("/")[0] if "/" in path else "")


def _approve(home: Home, folders: Iterable[str]) -> None:
    for folder in folders:
        options = ["--folder", folder, "--home", str(home.root), "--json"]
        done = CliRunner().invoke(approve_deletions, options)
        if done.exit_code:
            raise RuntimeError(f"kb approve-deletions failed: {done.output}")


def _observed(home: Home, changes: Iterable[Change]) -> dict[str, float]:
    """Count what the journal saw, a deletion and a new note as one where git knows a rename."""
    gone: set[str] = set()
    new: set[str] = set()
    edited: set[str] = set()
    history = History(home.data / "history")
    for partition in history.partitions():
        rows = history.read(partition, with_content=False).to_pylist()
        before = {row["note_id"] for row in rows if row["observed_at"] < _NOW}
        for row in rows:
            if row["observed_at"] < _NOW:
                continue
            seen = edited if row["note_id"] in before else new
            (gone if row["content_hash"] is None else seen).add(row["note_id"])
    renames = {(old, now) for letter, old, now in changes if letter == "R"}
    renamed = [pair for pair in renames if pair[0] in gone and pair[1] in new]
    return {
        "added": len(new - {now for _, now in renamed}),
        "modified": len(edited),
        "deleted": len(gone - {old for old, _ in renamed}),
        "renamed": len(renamed),
    }


if __name__ == "__main__":
    sys.exit(main())
