"""A build by plain calls of the stages, and a full rebuild to compare one with.

The rebuild starts with an empty store over the same vault, history, caches and approvals,
elsewhere. What it makes must be what was made step by step: the same pointers, the same files,
byte for byte.
"""

import datetime as dt
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.reading_stages import read_folder
from kb_assets.build.publish import run_published
from kb_assets.build.run import run_build
from kb_assets.chunks.run import run as cut
from kb_assets.embedder_choice import open_for
from kb_assets.embeddings.run import is_fresh as vectors_are_fresh
from kb_assets.embeddings.run import run as embed
from kb_assets.entities.run import run as name_entities
from kb_assets.freshness import vault_is_fresh, words_are_fresh
from kb_assets.keyword_index.run import run as index
from kb_assets.knowledge.run import run as know
from kb_assets.lines.run import is_fresh as lines_are_fresh
from kb_assets.lines.run import run as embed_lines
from kb_assets.note_links.run import run as link
from kb_assets.notes.run import run as read
from kb_assets.placeholders.listing import begin_listing, folders_of, register_vault
from kb_assets.placeholders.run import run as look
from kb_assets.workbench import Workbench
from kb_core.errors import MassLossError
from kb_core.ids import bytes_hash
from kb_serve.new_home import default_text
from resources.builds import Builds
from resources.history import History
from resources.home import Home
from resources.vault import LocalVault
from tests.standins.ollama_server import OllamaStandIn

Build = Callable[[Home, dt.datetime, Sequence[str]], list[str]]

_KEPT = ("history", "cache")
_CHOICES, _APPROVALS, _FOLDERS = "home", "approved-deletions", "folders"


def make_home(root: Path, vault: Path, server: OllamaStandIn | None) -> Home:
    """Make a home that counts tokens by rule; without a server it makes no vectors."""
    root.mkdir(parents=True)
    engine = f'engine = "ollama"\nurl = "{server.url}"\n' if server else 'engine = "none"\n'
    text = f'[embedder]\n{engine}[vault]\npath = "{vault}"\n[chunks]\ntoken_counter = "regex"\n'
    (root / "kb.toml").write_text(text)
    (root / "dagster.yaml").write_text(default_text("dagster.yaml"))
    return Home.open(root)


def build_by_stages(home: Home, now: dt.datetime, partitions: Sequence[str]) -> list[str]:
    """Run what is not fresh, the folders in this order; return those that lost too much."""
    begin_listing(home, now)
    asked = []
    for partition in partitions:
        try:
            _words(home, partition, now)
        except MassLossError:
            asked.append(partition)
    if not vault_is_fresh(home):
        for stage in (link, name_entities, know):
            stage(home)
        run_build(home)
        run_published(home)
    embedder, _ = open_for(home)
    for partition in partitions:
        if partition not in asked and not vectors_are_fresh(home, partition, embedder):
            embed(Workbench(home, started=now), partition)
    if not lines_are_fresh(home, embedder):
        embed_lines(Workbench(home, started=now))
    run_build(home)
    run_published(home)
    return asked


def rebuild(home: Home, root: Path, server: OllamaStandIn | None, now: dt.datetime) -> Home:
    """Build a copy of the vault over copies of what a home keeps, in the opposite order.

    The copies carry new file times and the home has another path. It is told the folders only
    where it could not learn of them: those that are gone and never held a note, or were let go.
    """
    shutil.copytree(home.vault_path, root / "vault", copy_function=shutil.copyfile)
    fresh = make_home(root / "home", root / "vault", server)
    for name in _KEPT:
        shutil.copytree(home.data / name, fresh.data / name)
    records = [_CHOICES, _APPROVALS, *([] if _can_learn_folders(home) else [_FOLDERS])]
    for record in records:
        if home.record(record):
            fresh.write_record(record, home.record(record))
    register_vault(fresh)
    asked = build_by_stages(fresh, now, sorted(fresh.folders(), reverse=True))
    if asked:
        raise AssertionError(f"the rebuild was asked about {asked}")
    return fresh


def _words(home: Home, partition: str, now: dt.datetime) -> None:
    if words_are_fresh(home, partition, now):
        return
    look(home, partition, now)
    for stage in (read, cut, index):
        stage(home, partition)
    read_folder(Workbench(home, started=now), partition)


def _can_learn_folders(home: Home) -> bool:
    """Tell whether vault and journal know every folder of the home's register."""
    entries = LocalVault(home.vault_path, home.settings.vault).list()
    there = folders_of(entries, home.settings.vault.folder_depth)
    return set(home.folders()) <= {*there, *History(home.data / "history").partitions()}


def differences(one: Home, other: Home) -> list[str]:
    """Return what two homes' stores and last builds hold differently; empty when nothing."""
    builds = [Builds(home.data) for home in (one, other)]
    names = [home.record("last-build").get("build", "") for home in (one, other)]
    current = [each.current() for each in builds]
    found = list(_tables(one, other))
    if names[0] != names[1]:
        mine, theirs = (each.read(name) for each, name in zip(builds, names, strict=True))
        found += [f"manifest {part}" for part in _parts(mine, theirs)]
    if current != names:
        found.append("CURRENT")
    return found


def _tables(one: Home, other: Home) -> Iterator[str]:
    pointers = [
        {path.relative_to(home.store.root).as_posix(): each for path, each in home.store.pointers()}
        for home in (one, other)
    ]
    for name in sorted({*pointers[0], *pointers[1]}):
        first, second = (found.get(name) for found in pointers)
        if first != second:
            yield f"pointer {name}: {_which(first, second)}"
        elif first and not _are_whole([one, other], first.files.values()):
            yield f"bytes of {name}"


def _which(first: object, second: object) -> str:
    if first is None or second is None:
        return "only here" if second is None else "only in the rebuild"
    mine, theirs = vars(first), vars(second)
    return ", ".join(field for field in mine if mine[field] != theirs[field])


def _are_whole(homes: Sequence[Home], files: Iterable[str]) -> bool:
    paths = [home.store.root / file for file in files for home in homes]
    return all(bytes_hash(path.read_bytes()) == path.stem for path in paths)


def _parts(one: object, other: object, where: str = "") -> Iterator[str]:
    if not isinstance(one, dict) or not isinstance(other, dict):
        if one != other:
            yield where
        return
    for key in sorted({*one, *other}):
        yield from _parts(one.get(key), other.get(key), f"{where}/{key}")
