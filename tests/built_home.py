"""A home whose stages are run by plain calls: what a build makes, without Dagster and processes."""

import datetime as dt
from pathlib import Path

from benchmarks.reading_stages import read_folder
from kb_assets.build.run import run_build
from kb_assets.chunks.run import run as cut
from kb_assets.embeddings.run import run as embed
from kb_assets.entities.run import run as name_entities
from kb_assets.keyword_index.run import run as index
from kb_assets.knowledge.run import run as know
from kb_assets.lines.run import run as embed_lines
from kb_assets.note_links.run import run as link
from kb_assets.notes.run import run as read
from kb_assets.placeholders.listing import begin_listing
from kb_assets.placeholders.run import run as look
from kb_assets.workbench import Workbench
from resources.home import Home

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


def open_home(root: Path, vault: Path, settings: str = '[embedder]\nengine = "none"\n') -> Home:
    """Make a home that counts tokens by rule; it makes no vectors unless the settings say so."""
    root.mkdir(parents=True, exist_ok=True)
    text = f'{settings}\n[vault]\npath = "{vault}"\n[chunks]\ntoken_counter = "regex"\n'
    (root / "kb.toml").write_text(text)
    return Home.open(root)


def look_at(home: Home, now: dt.datetime = NOW) -> None:
    """List the vault and journal what is new."""
    begin_listing(home, now)
    for partition in sorted(home.folders()):
        look(home, partition, now)


def build(home: Home, now: dt.datetime = NOW, *, with_vectors: bool = True) -> str:
    """Run every stage up to the manifest; return the build's name."""
    look_at(home, now)
    bench = Workbench(home, started=now)
    for partition in sorted(home.folders()):
        for stage in (read, cut, index):
            stage(home, partition)
        read_folder(bench, partition)
        if with_vectors:
            embed(bench, partition)
    for of_vault in (link, name_entities, know):
        of_vault(home)
    if with_vectors:
        embed_lines(bench)
    return run_build(home).hash
