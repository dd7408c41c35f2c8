"""A home whose notes a language model reads: the stand-in's, with limits as a test wants them."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.reading_stages import read_folder
from kb_assets.paid_work import paid_file
from kb_assets.workbench import Workbench
from resources.home import Home
from resources.paid_store import PaidStore
from tests.built_home import build, open_home
from tests.small_vault import put

NOTES = {
    "Work/Pier.md": "---\ndate: 2024-03-14\n---\n# Pier\n\nThe pier costs 120,000 euros.\n",
    "Work/Ferry.md": "---\ndate: 2024-05-02\n---\n# Ferry\n\nMara Lind works for Harbour Yard.\n",
    "People/Mara.md": "---\ndate: 2024-01-02\n---\n# Mara\n\nMara Lind leads the harbour.\n",
}
PLENTY = 100.0
_NOBODY = "http://127.0.0.1:9"


def settings_of(
    url: str,
    *,
    allow: tuple[str, ...] = ("Work", "People"),
    auto: float = PLENTY,
    month: float = PLENTY,
    llm: str = "",
    rest: str = "",
) -> str:
    """Return a kb.toml for the stand-in at this address."""
    return (
        f'[llm]\nengine = "anthropic"\nurl = "{url}"\n{llm}\n'
        f"[limits]\nauto_approve_usd = {auto}\nmonthly_usd = {month}\n"
        f"[egress]\nallow = {json.dumps(list(allow))}\n"
        f'[embedder]\nengine = "none"\n{rest}\n'
    )


def paid_home(root: Path, url: str, notes: dict[str, str] | None = None, **settings: Any) -> Home:
    """Make a vault and a home over it, with everything built that asks nobody.

    Equal notes are read and cut once only: a copy is as good.
    """
    notes = NOTES if notes is None else notes
    allow = settings.get("allow", ("Work", "People"))
    shutil.copytree(_built(json.dumps(notes), tuple(allow)), root, dirs_exist_ok=True)
    home = open_home(root / "home", root / "vault", settings_of(url, **settings))
    for partition in sorted(home.folders()):
        read_folder(Workbench(home), partition)
    return home


@cache
def _built(notes: str, allow: tuple[str, ...]) -> Path:
    root = Path(tempfile.mkdtemp(prefix="paid-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for path, text in json.loads(notes).items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault", settings_of(_NOBODY, allow=allow))
    build(home, with_vectors=False)
    return root


def partition_of(home: Home, folder: str) -> str:
    return next(key for key, path in home.folders().items() if path == folder)


def have_read(home: Home, folder: str) -> str:
    """Have the model asked about a folder; return why it was not, or nothing."""
    from kb_assets.extractions.run import run as extract
    from kb_assets.triage.run import run as judge

    bench = Workbench(home, may_pay=True)
    partition = partition_of(home, folder)
    notes = [stage(bench, partition)[1] for stage in (judge, extract)]
    read_folder(Workbench(home), partition)  # and the plan of what is left
    return next(filter(None, notes), "")


def states(home: Home, folder: str) -> list[tuple[str, str]]:
    """Return who read each chunk of a folder, and in which state it is."""
    rows = home.store.read("readings", partition_of(home, folder)).to_pylist()
    return sorted((row["extractor"], row["state"]) for row in rows)


def settled(home: Home) -> int:
    """Return what the ledger says was billed, in nano-dollars."""
    with PaidStore(paid_file(home)) as store:
        return sum(row.billed_nano for row in store.rows())
