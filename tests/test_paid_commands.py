"""The commands of the paid door, as a user runs them: a price first, then a word, then a ledger."""

import json

import pytest

from kb_serve.new_home import default_text
from tests.built_home import open_home
from tests.kb_command import kb_json, run_kb
from tests.paid_home import settings_of
from tests.small_vault import put
from tests.standins.anthropic_server import KEY, MODEL, AnthropicStandIn

ENV = {"ANTHROPIC_API_KEY": KEY}
NOTES = {
    "Work/Pier.md": "---\ndate: 2024-03-14\n---\n# Pier\n\nThe pier costs 120,000 euros.\n",
    "Work/Ferry.md": "---\ndate: 2024-05-02\n---\n# Ferry\n\nThe ferry carried 310 people.\n",
    "People/Mara.md": "# Mara\n\nMara Lind works for Harbour Yard.\n",
    "Closed/Diary.md": "# Diary\n\nNobody is sent this.\n",
}


@pytest.fixture(scope="module")
def server():
    with AnthropicStandIn() as found:
        yield found


@pytest.fixture(scope="module")
def home(server, tmp_path_factory):
    root = tmp_path_factory.mktemp("commands")
    for path, text in NOTES.items():
        put(root / "vault", path, text)
    settings = settings_of(server.url, auto=0.0005)
    made = open_home(root / "home", root / "vault", settings)
    (made.root / "dagster.yaml").write_text(default_text("dagster.yaml"))
    return made.root


def asked(server) -> int:
    return len(server.calls("/v1/messages"))


def test_a_price_is_seen_paid_within_limits_approved_and_never_paid_twice(home, server):
    planned = kb_json("plan", "--home", str(home), env=ENV)
    folders = {row["folder"]: row for row in planned["plans"]}
    assert set(folders) == {"Work", "People"}
    assert (folders["People"]["state"], folders["Work"]["state"]) == ("auto", "waiting")
    assert asked(server) == 0

    built = run_kb("build", "--home", str(home), env=ENV)
    assert built.returncode == 0, built.stderr
    assert built.stderr.index("plan: Work") < built.stderr.index("read by")
    assert f"kb approve {folders['Work']['plan'][:8]} --usd" in built.stderr
    assert "1 folder waits for your word" in built.stdout
    assert asked(server) == 1

    plan = folders["Work"]["plan"]
    refused = run_kb("approve", plan[:8], "--home", str(home), env=ENV)
    assert (refused.returncode, "--usd" in refused.stderr) == (2, True)
    approved = kb_json("approve", plan[:8], "--usd", "0.01", "--home", str(home), env=ENV)
    assert (approved["plan"], approved["state"], approved["requests"]) == (plan, "approved", 2)
    again = kb_json("build", "--home", str(home), env=ENV)
    assert (again["asked"], again["billed_nano"], again["plans"]) == (2, again["billed_nano"], [])
    assert asked(server) == 3

    last = kb_json("build", "--home", str(home), env=ENV)
    assert (last["asked"], last["changed"]) == (0, False)
    assert asked(server) == 3

    ledger = kb_json("ledger", "--by", "folder", "--by", "model", "--home", str(home), env=ENV)
    assert ledger["billed_nano"] == server.billed_nano
    assert {(row["folder"], row["model"]) for row in ledger["rows"]} == {
        ("Work", MODEL),
        ("People", MODEL),
    }
    shown = run_kb("ledger", "--approvals", "--home", str(home), env=ENV)
    assert "approved\tWork\textractions" in shown.stdout


def test_a_pilot_shows_both_readings_and_is_not_paid_for_again(home, server):
    put(home.parent / "vault", "Work/Crane.md", "# Crane\n\nThe crane costs 7 euros.\n")
    before = asked(server)
    tried = run_kb(
        "plan", "--folder", "Work", "--try", "5", "--usd", "0.01", "--home", str(home), env=ENV
    )
    assert tried.returncode == 0, tried.stderr
    assert "Work/Crane.md" in tried.stdout
    assert "by rules" in tried.stdout
    assert "crane = 7 euros" in tried.stdout or "7 euros" in tried.stdout
    assert asked(server) == before + 1
    built = kb_json("build", "--home", str(home), env=ENV)
    assert (built["asked"], built["plans"]) == (0, [])
    assert asked(server) == before + 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "--try", "5"], "--folder once"),
        (["plan", "--usd", "1"], "--usd belongs to --try"),
        (["approve", "ffffffff", "--usd", "1"], "No plan that waits begins with"),
        (["approve", "ff", "--usd", "1"], "too short"),
        (["approve", "ffffffff"], "--decline"),
        (["plan", "--folder", "Nowhere"], "No folder 'Nowhere'"),
    ],
)
def test_what_cannot_be_meant_is_said(home, arguments, words):
    done = run_kb(*arguments, "--home", str(home), env=ENV)
    assert done.returncode != 0
    assert words in done.stderr


def test_where_rules_read_a_plan_says_how_to_choose_a_model(home):
    done = run_kb("plan", "--home", str(home), env={**ENV, "KB_LLM__ENGINE": "rules"})
    assert done.returncode == 1
    assert '"anthropic" or "ollama"' in done.stderr


def test_a_missing_key_ends_a_build_with_a_clear_line_and_everything_published(home):
    put(home.parent / "vault", "People/Nils.md", "# Nils\n\nNils Berg works for Harbour Yard.\n")
    env = {"ANTHROPIC_API_KEY": "", "KB_LIMITS__AUTO_APPROVE_USD": "1"}
    done = run_kb("build", "--json", "--home", str(home), env=env)
    values = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert values["changed"]
    assert [row["folder"] for row in values["plans"]] == ["People"]
    assert all("ANTHROPIC_API_KEY is not set" in each["message"] for each in values["errors"])
    done = run_kb("build", "--home", str(home), env={**ENV, "KB_LLM__MODEL": "claude-none-9"})
    assert done.returncode == 1
    assert "claude-none-9" in done.stdout
    assert "nobody knows what it costs" in done.stdout


def test_doctor_says_who_reads_and_what_is_missing(home):
    shown = run_kb("doctor", "--home", str(home), env=ENV).stdout
    assert f"Reading  {MODEL} for Work, People; `kb plan` says what it costs" in shown
    shown = run_kb("doctor", "--home", str(home), env={"ANTHROPIC_API_KEY": ""}).stdout
    assert "Reading  rules-v1, because ANTHROPIC_API_KEY is not set" in shown
    (home / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    shown = run_kb("doctor", "--home", str(home)).stdout
    assert f"Reading  {MODEL} for" in shown
    (home / ".env").unlink()
    shown = run_kb("doctor", "--home", str(home), env={"KB_LLM__ENGINE": "rules"}).stdout
    assert "Reading  rules-v1: cue words" in shown
