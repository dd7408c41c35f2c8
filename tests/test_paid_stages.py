"""The stages ask a model only what they may, say what went wrong, and keep everything else."""

import datetime as dt

import pytest

from kb_assets import gate
from kb_assets.soundness import spending_is_decided
from kb_core.errors import ApprovalError
from tests.built_home import build
from tests.paid_home import have_read, paid_home, partition_of, settled, states
from tests.small_vault import put
from tests.standins.anthropic_server import KEY, MODEL, AnthropicStandIn

RULES = "rules-v1"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def server():
    with AnthropicStandIn() as found:
        yield found


def asked(server) -> int:
    return len(server.calls("/v1/messages"))


def test_a_model_reads_each_chunk_once_and_its_bill_is_the_ledgers(tmp_path, server):
    home = paid_home(tmp_path, server.url)
    assert states(home, "Work") == [(RULES, "waiting"), (RULES, "waiting")]
    assert have_read(home, "Work") == ""
    assert states(home, "Work") == [(MODEL, "read"), (MODEL, "read")]
    assert asked(server) == 2
    assert have_read(home, "Work") == ""
    assert asked(server) == 2
    assert settled(home) == server.billed_nano > 0


def test_what_a_model_read_says_so_and_rules_say_nothing_there(tmp_path, server):
    home = paid_home(tmp_path, server.url)
    have_read(home, "Work")
    rows = [
        row
        for name in ("mentions", "link_observations", "claim_observations")
        for row in home.store.read(name, partition_of(home, "Work")).to_pylist()
    ]
    assert {row["extractor"] for row in rows} <= {MODEL, "structure"}
    assert any(row["extractor"] == MODEL for row in rows)
    claims = home.store.read("claim_observations", partition_of(home, "Work")).to_pylist()
    chunks = home.store.read("chunks", partition_of(home, "Work")).to_pylist()
    texts = {row["chunk_id"]: " ".join(row["text"].split()) for row in chunks}
    prose = [row for row in claims if row["extractor"] == MODEL]
    assert prose
    assert all(row["quote"] in texts[row["chunk_id"]] for row in prose)


def test_above_the_limit_a_folder_waits_and_an_approval_lets_it_go_on(tmp_path, server):
    home = paid_home(tmp_path, server.url, auto=0.0)
    assert have_read(home, "Work") == ""
    assert asked(server) == 0
    plan = next(each for each in gate.standing(home) if each.folder == "Work")
    assert (plan.items, plan.permission.state) == (2, "waiting")
    found = spending_is_decided(home, plan.plan.folder)
    assert not found.is_passed
    assert plan.plan.plan_id[:8] in found.what_now
    gate.approve(home, plan.plan.plan_id[:8], 0.05, "mara")
    have_read(home, "Work")
    assert asked(server) == 2
    assert spending_is_decided(home, plan.plan.folder).is_passed
    assert [each.folder for each in gate.standing(home)] == ["People"]


def test_a_declined_plan_does_not_go_on(tmp_path, server):
    home = paid_home(tmp_path, server.url)
    plan = next(each for each in gate.standing(home) if each.folder == "Work")
    declined = gate.decline(home, plan.plan.plan_id, "mara")
    assert declined.permission.state == "declined"
    have_read(home, "Work")
    assert asked(server) == 0


@pytest.mark.parametrize("plan", ["", "0000", "0" * 32])
def test_an_approval_of_a_plan_that_does_not_wait_spends_nothing(tmp_path, server, plan):
    home = paid_home(tmp_path, server.url, auto=0.0)
    with pytest.raises(ApprovalError):
        gate.approve(home, plan, 5.0, "somebody")
    have_read(home, "Work")
    assert asked(server) == 0


def test_an_approval_of_one_folder_does_not_pay_for_another(tmp_path, server):
    home = paid_home(tmp_path, server.url, auto=0.0)
    plan = next(each for each in gate.standing(home) if each.folder == "Work")
    gate.approve(home, plan.plan.plan_id, 5.0, "mara")
    have_read(home, "People")
    assert asked(server) == 0


def test_many_small_folders_together_stay_below_the_limit(tmp_path, server):
    notes = {
        f"Folder {n:02}/Note.md": f"# Note\n\nQuay {n} costs {n} euros in all.\n" for n in range(13)
    }
    folders = tuple(sorted({path.partition("/")[0] for path in notes}))
    home = paid_home(tmp_path, server.url, notes, allow=folders)
    one = gate.standing(home)[0].plan.cost_nano
    (home.root / "kb.toml").write_text(
        (home.root / "kb.toml")
        .read_text()
        .replace("auto_approve_usd = 100.0", f"auto_approve_usd = {1.5 * one / 1e9:.9f}")
    )
    home = type(home).open(home.root)
    assert sum(each.is_due for each in gate.standing(home)) == 1
    for folder in folders:
        have_read(home, folder)
    assert 0 < settled(home) <= 1.5 * one
    assert settled(home) == server.billed_nano
    assert any(each.waits for each in gate.standing(home))


def test_the_month_limits_what_is_approved_too(tmp_path, server):
    home = paid_home(tmp_path, server.url, auto=0.0, month=0.0)
    plan = next(each for each in gate.standing(home) if each.folder == "Work")
    approved = gate.approve(home, plan.plan.plan_id, 5.0, "mara")
    assert approved.permission.state == "month"
    have_read(home, "Work")
    assert asked(server) == 0


def test_an_edited_note_costs_its_changed_chunks(tmp_path, server):
    home = paid_home(tmp_path, server.url)
    for folder in ("Work", "People"):
        have_read(home, folder)
    before = asked(server)
    put(tmp_path / "vault", "Work/Pier.md", "---\ndate: 2024-03-14\n---\n# Pier\n\nIt is sold.\n")
    build(home, dt.datetime(2026, 2, 1, tzinfo=dt.UTC), with_vectors=False)
    for folder in ("Work", "People"):
        have_read(home, folder)
    assert asked(server) == before + 1


TROUBLES = {
    "no key": ({"ANTHROPIC_API_KEY": None}, {}, "ANTHROPIC_API_KEY is not set"),
    "wrong key": ({"ANTHROPIC_API_KEY": "sk-wrong"}, {}, "refuse"),
    "unknown model": ({}, {"llm": 'model = "claude-none-9"', "rest": "PRICE"}, "claude-none-9"),
    "no price": ({}, {"llm": 'model = "claude-none-9"'}, "nobody knows what it costs"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_keeps_a_model_from_being_asked_is_said_and_rules_read_on(
    tmp_path, server, monkeypatch, trouble
):
    environment, settings, words = TROUBLES[trouble]
    for name, value in environment.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    if settings.get("rest") == "PRICE":
        settings = {**settings, "rest": '[prices."claude-none-9"]\ninput = 1.0\noutput = 1.0\n'}
    home = paid_home(tmp_path, server.url, **settings)
    said = have_read(home, "Work")
    assert words in said
    assert "sk-" not in said
    assert "120,000" not in said
    assert {who for who, _ in states(home, "Work")} == {RULES}
    assert settled(home) == 0 == server.billed_nano


def test_without_a_network_everything_waits(tmp_path):
    home = paid_home(tmp_path, "http://127.0.0.1:9")
    said = have_read(home, "Work")
    assert "cannot be reached" in said
    assert states(home, "Work") == [(RULES, "waiting"), (RULES, "waiting")]


def test_a_spend_limit_in_the_middle_keeps_what_was_paid_and_resumes(tmp_path):
    notes = {f"Work/Note {n}.md": f"# Note {n}\n\nQuay {n} costs {n} euros.\n" for n in range(12)}
    with AnthropicStandIn(spend_limit_after=5) as server:
        home = paid_home(tmp_path, server.url, notes, llm="max_parallel = 2")
        said = have_read(home, "Work")
        assert "limit" in said
        assert "2026-12-15" in said
        done = states(home, "Work").count((MODEL, "read"))
        assert done == 5
        assert asked(server) <= 5 + 2
        server.scenario.spend_limit_after = None
        assert have_read(home, "Work") == ""
        assert states(home, "Work").count((MODEL, "read")) == 12
        assert server.repeats() == 0
        assert settled(home) == server.billed_nano


@pytest.mark.parametrize(
    ("mark", "state"),
    [("refusal", "refused"), ("cut", "cut"), ("malformed", "unusable"), ("bad-request", "failed")],
)
def test_a_chunk_the_model_makes_nothing_of_is_marked_and_the_others_read(
    tmp_path, server, mark, state
):
    notes = {
        "Work/Odd.md": f"# Odd\n\nThe odd pier costs 3 euros. [stand-in: {mark}]\n",
        "Work/Even.md": "# Even\n\nThe even pier costs 4 euros.\n",
    }
    home = paid_home(tmp_path, server.url, notes)
    for _ in range(4):
        have_read(home, "Work")
    assert states(home, "Work") == [(MODEL, "read"), (RULES, state)]
    assert settled(home) == server.billed_nano
    assert asked(server) <= (4 if mark == "bad-request" else 2)
    assert all(each.plan.stage != "extractions" for each in gate.standing(home))
