"""A small home that was built, scored and published twice, to be damaged, collected and copied."""

import datetime as dt
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.direct_build import build_directly
from kb_serve.new_home import default_text
from resources.closure import stored_files
from resources.home import Home
from tests.eval_vault import TOPICS, make_eval_vault, note_path, note_text, write_questions
from tests.small_vault import put

LATER = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def make_kept_home(root: Path, url: str) -> Home:
    """Build a home over a small vault, edit a note and build again: there is an earlier build.

    `url` is where the stand-in for Ollama answers.
    """
    vault = make_eval_vault(root / "vault")
    put(vault, "Home.md", "# Home\n\nStart at [[Ferry]] or [[Pier]].\n")
    home = root / "home"
    put(
        home,
        "kb.toml",
        f'# Mine.\n[vault]\npath = "{vault}"\n[chunks]\ntoken_counter = "regex"\n'
        f'[embedder]\nengine = "ollama"\nurl = "{url}"\n'
        '[evaluation]\nvariants = ["hybrid", "keyword"]\n',
    )
    put(home, "dagster.yaml", default_text("dagster.yaml"))
    put(home / "data", "ontology.toml", 'silent = ["shelf"]\n')
    write_questions(home, TOPICS[:4])
    opened = Home.open(home)
    build_directly(opened)
    put(vault, note_path(TOPICS[0]), note_text(TOPICS[0], 0, "It was repaired in May."))
    build_directly(opened)
    with closing(sqlite3.connect(put(home / "data" / "dagster", "other.db", b""))) as db:
        db.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, body TEXT)")
        db.executemany("INSERT INTO runs (body) VALUES (?)", [("x" * 500,)] * 50)
        db.commit()
    return opened


def copy_home(source: Home, root: Path) -> Home:
    """Return a home of its own with the same content, over the same vault."""
    shutil.copytree(source.root, root)
    return Home.open(root)


def flip(path: Path, position: int = -1, bit: int = 2) -> None:
    """Change one bit of a file; by default in its middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if position < 0 else position] ^= 1 << bit
    path.write_bytes(data)


def first(home: Home, pattern: str) -> Path:
    """Return the first file below the home's data that fits and is not an earlier build's."""
    now = {home.store.root / f for _, each in home.store.pointers() for f in each.files.values()}
    old = set(stored_files(home.store)) - now
    return next(path for path in sorted(home.data.glob(pattern)) if path not in old)
