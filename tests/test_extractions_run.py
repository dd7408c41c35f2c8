"""The stage over a real home: it works once, and again when notes, chunks or ontology change."""

from pathlib import Path

import pytest

from kb_assets.chunks.run import run as cut
from kb_assets.extractions.run import NAMES, is_fresh, ontology_file, run
from kb_assets.notes.run import run as read
from kb_assets.workbench import Workbench
from kb_core.contracts import CONTRACTS
from kb_core.errors import SettingsError
from resources.home import Home
from tests.built_home import look_at, open_home
from tests.small_vault import make_vault


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = open_home(tmp_path / "home", make_vault(tmp_path / "vault"))
    look_at(made)
    for partition in sorted(made.folders()):
        read(made, partition)
        cut(made, partition)
    return made


def work(home: Home) -> str:
    return next(key for key, path in home.folders().items() if path == "Work")


def structured(home: Home, partition: str) -> list[dict]:
    rows = home.store.read("claim_observations", partition).to_pylist()
    return [row for row in rows if row["extractor"] == "structure"]


def test_a_folder_is_read_once(home: Home):
    partition = work(home)
    assert not is_fresh(home, partition)
    first = run(Workbench(home), partition)[0]
    assert not first.is_cached
    assert first.counts["rows_cut"] == 0
    assert is_fresh(home, partition)
    assert run(Workbench(home), partition)[0].is_cached
    for name in NAMES:
        CONTRACTS[name].check(home.store.read(name, partition))
    links = home.store.read("link_observations", partition).to_pylist()
    assert [(row["type"], row["target"]) for row in links] == []
    claims = structured(home, partition)
    assert [(row["attribute"], row["value"]) for row in claims] == [("status", "draft")]


def test_a_homes_own_ontology_makes_the_stage_work_again(home: Home):
    partition = work(home)
    run(Workbench(home), partition)[0]
    path = ontology_file(home)
    path.write_text('[attributes.phase]\nproperties = ["status"]\n', "utf-8")
    assert not is_fresh(home, partition)
    assert not run(Workbench(home), partition)[0].is_cached
    assert [row["attribute"] for row in structured(home, partition)] == ["phase"]


def test_an_ontology_that_cannot_be_used_stops_the_stage(home: Home):
    ontology_file(home).write_text("[types.Asset]\nwords = []\n", "utf-8")
    with pytest.raises(SettingsError, match="serves no question"):
        run(Workbench(home), work(home))
