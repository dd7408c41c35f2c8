"""A home over an edited vault: built stage by stage, cut off, approved, and told earlier versions.

It keeps count of what a build wrote without need, of texts embedded twice, and of folders whose
losses the guard should have asked about and did not, or the other way round: 0 of each is right.
"""

import datetime as dt
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from kb_assets.chunks.run import run as cut
from kb_assets.embeddings.run import run as embed
from kb_assets.keyword_index.run import run as index
from kb_assets.notes.run import run as read
from kb_assets.placeholders.listing import register_vault
from kb_assets.placeholders.run import run as look
from kb_assets.workbench import Workbench
from kb_core.folder_names import shown_path
from kb_core.ids import bytes_hash, partition_key
from kb_serve.commands.approve_deletions import command as approve_deletions
from resources.history import History
from tests.incremental_cuts import CutOffError, cut_off_at, shuffled
from tests.incremental_rebuild import Build, build_by_stages, differences, make_home, rebuild
from tests.incremental_vault import Content, EditedVault, Note, Pick, top_folder
from tests.standins.ollama_server import OllamaStandIn

START = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
_WHOLE = "all"
_FEWEST_LOST, _LARGEST_SHARE = 2, 0.2

Marks = dict[tuple[str, str], tuple[int, int]]


class EditedHome:
    """A home, and what was true of its vault when it was last brought up to date."""

    def __init__(
        self,
        root: Path,
        vault: EditedVault,
        server: OllamaStandIn | None = None,
        build: Build | None = None,
    ) -> None:
        self.vault = vault
        self.home = make_home(root, vault.root, server)
        self.server = server
        self.now = START
        self.counts: Counter[str] = Counter()
        self._build = build or build_by_stages
        self._built: dict[str, dict[str, Content]] = {}
        self._names: object = None
        self._targets: object = None
        self._daily = b""
        self._retold: set[str] = set()  # folders that were told earlier versions
        self._is_cut_off = False
        self.embedded: set[str] = set()
        self.needless: list[tuple[str, str]] = []  # table and partition

    def wait(self, seconds: float) -> None:
        """Let time pass, or set the clock back."""
        self.now += dt.timedelta(seconds=seconds)

    def build(self, pick: Pick) -> None:
        """Bring everything up to date; whoever deleted notes says so when asked."""
        self.wait(1)
        before = self.marks()
        register_vault(self.home)
        expected = self._losses()
        asked = self._build(self.home, self.now, shuffled(sorted(self.home.folders()), pick))
        self.counts["wrongly_asked"] += len({*expected} ^ {*asked})
        self.counts["asked"] += len(asked)
        for partition in asked:
            self._approve(partition)
        if asked:
            self._build(self.home, self.now, shuffled(sorted(self.home.folders()), pick))
        self.needless += self._needless(before)
        self._remember()
        self.counts["builds"] += 1

    def differences(self, root: Path) -> list[str]:
        """Rebuild everything below `root` and return what differs; count what it embedded."""
        fresh = rebuild(self.home, root, self.server, self.now)
        self._count_embedded()
        return differences(self.home, fresh)

    def cut_off(self, pick: Pick) -> None:
        """Start a build and end it at a moment; what it had done is there."""
        folders = shuffled(sorted(self.home.folders()), pick)
        self.cut_off_at(pick(range(1, 60)), is_done=pick((True, False)), folders=folders)

    def cut_off_at(
        self, number: int, *, is_done: bool, folders: Sequence[str] | None = None
    ) -> None:
        """End a build at the n-th file that is put in its place, before or after that."""
        self.wait(1)
        some = sorted(self.home.folders()) if folders is None else folders
        with cut_off_at(number, is_done=is_done) as calls:
            try:
                build_by_stages(self.home, self.now, some)
            except CutOffError:
                self.counts["cut_off"] += 1
        self._is_cut_off |= bool(calls)

    def look_alone(self, folder: str) -> None:
        """Look at one folder outside of a listing, as a user on the page may."""
        self.wait(1)
        look(self.home, partition_key(folder), self.now)
        self._is_cut_off = True

    def is_present(self, note: str) -> bool:
        """Tell whether the last build counts a note to the present."""
        notes = self.home.store.read("notes", partition_key(top_folder(note)))
        return note in notes.filter(notes["is_current"])["note_id"].to_pylist()

    def run_again(self, pick: Pick) -> None:
        """Run one folder's stages although nothing is to be done, as a user on the page may."""
        built = [each for each in self._built if partition_key(each) in self.home.folders()]
        if self._losses() or not built:
            return
        partition = partition_key(pick(built))
        self.wait(1)
        bench = Workbench(self.home, started=self.now)
        look(self.home, partition, self.now)
        for stage in (read, cut, index, read):
            stage(self.home, partition)
        embed(bench, partition)
        self._is_cut_off = True  # its tables may have been written again

    def tell_earlier(self, pick: Pick) -> None:
        """Journal an earlier version of a note, as an import of another history does."""
        path = pick(sorted(self.vault.notes))
        partition = partition_key(top_folder(path))
        history = History(self.home.data / "history")
        if path not in history.latest(partition):
            return
        at = START - dt.timedelta(days=pick(range(1, 400)), seconds=self.counts["told"])
        text = Note(heading="Earlier", lines=(pick(("One.", "Two.")),)).to_bytes()
        row = {
            "note_id": path,
            "observed_at": at,
            "content_hash": bytes_hash(text),
            "file_time": None,
            "is_first_listing": pick((True, False)),
            "content": text,
        }
        history.append(partition, [row])
        self.counts["told"] += 1
        self._retold.add(partition)

    def prune(self) -> None:
        """Let go of the folders that the vault has no more, as `kb folders prune` does."""
        there = {partition_key(folder) for folder in self.vault.folders()}
        folders = self.home.folders()
        gone = sorted(set(folders) - there)
        History(self.home.data / "history").prune(gone)
        kept = {key: path for key, path in folders.items() if key not in gone}
        self.home.write_record("folders", kept)
        for partition in gone:
            self.home.store.drop(partition)
        self.counts["pruned"] += len(gone)
        self._targets = None  # their files were there to be linked

    def marks(self) -> Marks:
        """Return what tells whether a pointer was replaced: each is a new file."""
        found = {}
        for path in sorted(self.home.store.root.glob("*/*.json")):
            status = path.stat()
            found[path.parent.name, path.stem] = (status.st_ino, status.st_mtime_ns)
        return found

    def _needless(self, before: Marks) -> list[tuple[str, str]]:
        """Return the tables that were written although nothing they depend on had changed."""
        if self._is_cut_off or self.vault.daily != self._daily:
            return []
        after = self.marks()
        written = [key for key, mark in sorted(before.items()) if after.get(key) != mark]
        notes = self._changed(only_notes=True) | self._retold
        files = self._changed() | self._retold
        return [
            (table, partition)
            for table, partition in written
            if partition != _WHOLE
            and partition not in (files if table == "files" else notes)
            and not self._may_follow(table)
        ]

    def _may_follow(self, table: str) -> bool:
        """Tell whether a table of a folder may follow from what happened in another."""
        is_moved = {
            "note_links": self._targets != _targets(self.vault),
            "note_mentions": self._names != _names(self.vault),
        }
        return is_moved.get(table, False)

    def _changed(self, *, only_notes: bool = False) -> set[str]:
        """Return the folders that hold something else than when they were last built."""
        then, now = self._built, self.vault.contents()
        if only_notes:
            then, now = _texts(then), _texts(now)
        return {partition_key(each) for each in {**now, **then} if now.get(each) != then.get(each)}

    def _remember(self) -> None:
        self._built = self.vault.contents()
        for path in self._unread():
            self._built[top_folder(path)][path] = Content(True, b"")
        self._names, self._targets = _names(self.vault), _targets(self.vault)
        self._daily = self.vault.daily
        self._retold, self._is_cut_off = set(), False
        self._count_embedded()

    def _unread(self) -> list[str]:
        """Return the notes whose text was online whenever anybody looked."""
        history = History(self.home.data / "history")
        known = {
            note
            for partition in history.partitions()
            for note, digest in history.latest(partition).items()
            if digest
        }
        return sorted(self.vault.stubs - known)

    def _count_embedded(self) -> None:
        """Count the texts that were sent to the embedder for the first time, and again."""
        if self.server is None:
            return
        # Within one build a text is sent again to see whether its batch came back in order.
        sent = {text for batch in self.server.scenario.batches() for text in batch}
        self.counts["embedded_twice"] += len(self.embedded & sent)
        self.embedded |= sent
        self.server.scenario.seen.clear()

    def _losses(self) -> list[str]:
        """Return the folders that lost more at once than is believed: the rule, said again."""
        history = History(self.home.data / "history")
        return [each for each in sorted(self.home.folders()) if self._is_loss(each, history)]

    def _is_loss(self, partition: str, history: History) -> bool:
        latest = {note: digest for note, digest in history.latest(partition).items() if digest}
        lost = [note for note in latest if note not in self.vault.notes]
        elsewhere = {
            bytes_hash(self.vault.notes[path].to_bytes())
            for path in self.vault.here()
            if path not in latest
        }
        real = [note for note in lost if latest[note] not in elsewhere]
        return len(real) >= _FEWEST_LOST and len(real) > _LARGEST_SHARE * len(latest)

    def _approve(self, partition: str) -> None:
        folder = shown_path(self.home.folders()[partition])
        options = ["--folder", folder, "--home", str(self.home.root), "--json"]
        with mock.patch.dict(os.environ):  # a command tells its process which home it is for
            done = CliRunner().invoke(approve_deletions, options)
        if done.exit_code:
            raise RuntimeError(f"kb approve-deletions failed: {done.output}") from done.exception


def _texts(contents: Mapping[str, Mapping[str, Content]]) -> dict[str, dict[str, Content]]:
    """Return what the notes alone say: not other files, nor how a name is spelled."""
    notes = {
        folder: {path: each for path, each in files.items() if each.is_note}
        for folder, files in contents.items()
    }
    return {folder: found for folder, found in notes.items() if found}


def _targets(vault: EditedVault) -> object:
    """Return all that a link can point at."""
    aliases = [(path, note.aliases) for path, note in sorted(vault.notes.items())]
    return aliases, sorted(vault.others), sorted(vault.stubs)


def _names(vault: EditedVault) -> object:
    """Return all that a text can name."""
    names = [(path, note.heading, note.aliases) for path, note in sorted(vault.notes.items())]
    return names, sorted(vault.stubs)
