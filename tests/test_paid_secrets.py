"""What was not opened is never sent, whatever speaks of it; no log holds a note or a key."""

import sqlite3
from contextlib import closing

import pytest

from benchmarks.egress import canary, canary_notes
from benchmarks.reading_stages import read_folder
from kb_assets.workbench import Workbench
from kb_serve.new_home import default_text
from tests.built_home import open_home
from tests.kb_command import run_kb
from tests.paid_home import paid_home, settings_of
from tests.small_vault import put
from tests.standins.anthropic_server import KEY, AnthropicStandIn

OPEN = ("Folder 00", "Folder 02")
FOLDERS = tuple(f"Folder {n:02}" for n in range(5))


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def test_nothing_of_a_folder_that_is_not_listed_is_sent(tmp_path):
    with AnthropicStandIn() as server:
        home = paid_home(tmp_path, server.url, canary_notes(FOLDERS), allow=OPEN)
        for partition in sorted(home.folders()):
            read_folder(Workbench(home, may_pay=True), partition)
        sent = server.sent_text()
    for folder in FOLDERS:
        for place in ("title", "alias", "text", "chat"):
            is_sent = canary(folder, place) in sent
            # Aliases are no part of a passage: nobody is sent them.
            assert is_sent == (folder in OPEN and place != "alias"), (folder, place)
        assert canary(folder, "private") not in sent


def test_a_rule_that_closes_a_folder_holds_before_the_next_build(tmp_path):
    with AnthropicStandIn() as server:
        home = paid_home(tmp_path, server.url)
        (home.root / "kb.toml").write_text(
            settings_of(server.url, allow=("People",))
            + f'[vault]\npath = "{home.vault_path}"\n[chunks]\ntoken_counter = "regex"\n'
        )
        for partition in sorted(home.folders()):  # this process read the old rules
            read_folder(Workbench(home, may_pay=True), partition)
        assert "Mara Lind leads" in server.sent_text()
        assert "120,000" not in server.sent_text()


SCENARIOS = (["bad-request"] * 3, ["spend-429"])  # what the provider says, build by build


def test_no_log_database_or_output_holds_a_note_or_the_key(tmp_path):
    text = "Zqlogtextxv"
    notes = {
        "Work/Pier.md": f"# Pier\n\nThe pier {text} costs 3 euros.\n",
        "Work/Odd.md": f"# Odd\n\n{text} [stand-in: malformed] pier.\n",
    }
    with AnthropicStandIn() as server:
        for path, words in notes.items():
            put(tmp_path / "vault", path, words)
        settings = settings_of(server.url, allow=("Work",))
        home = open_home(tmp_path / "home", tmp_path / "vault", settings)
        (home.root / "dagster.yaml").write_text(default_text("dagster.yaml"))
        said = ""
        for scenario in SCENARIOS:
            server.scenario.queue = list(scenario)
            env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_LOG": "debug"}
            done = run_kb("build", "--home", str(home.root), env=env)
            said += done.stdout + done.stderr
        assert text in server.sent_text()
    assert "limit" in said
    found = [
        path
        for path in (home.data / "dagster").rglob("*")
        if path.is_file()
        and any(each in path.read_bytes() for each in (text.encode(), KEY.encode()))
    ]
    assert found == []
    assert text not in said
    assert KEY not in said
    # The answers are kept by hash alone; they tell of notes, and only the owner may read them.
    assert (home.data / "cache" / "paid.sqlite").stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(home.data / "cache" / "paid.sqlite")) as db:
        rows = db.execute("SELECT reason FROM failures").fetchall()
    assert all(text not in reason for (reason,) in rows)
