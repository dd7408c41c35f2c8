"""The rules for reading notes, gathered from kb.toml and the vault's own settings."""

import json

import pytest

from kb_assets.notes.rules import read_rules
from resources.home import Home


@pytest.mark.parametrize(
    ("daily", "formats"),
    [({"format": "YYYY/MM/DD"}, ("YYYY/MM/DD",)), ({"folder": "Daily"}, ()), (None, ())],
)
def test_the_daily_format_is_the_vaults_own(tmp_path, daily, formats):
    vault, home = tmp_path / "vault", tmp_path / "home"
    (vault / ".obsidian").mkdir(parents=True)
    home.mkdir()
    (home / "kb.toml").write_text(f'[vault]\npath = "{vault}"\n[notes]\ntenant = "us"\n')
    if daily is not None:
        (vault / ".obsidian" / "daily-notes.json").write_text(json.dumps(daily))

    rules = read_rules(Home.open(home))

    assert (rules.daily_formats, rules.tenant) == (formats, "us")
