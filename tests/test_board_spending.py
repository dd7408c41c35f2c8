"""Money on the board: what waits, what was spent, and the form that alone can allow more of it."""

import datetime as dt
import re
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import dagster as dg
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from benchmarks.spend_attacks import forms_of, spend_figures
from kb_assets.gate import approve, decline, standing
from kb_serve.board.charts import bars
from kb_serve.board.deciding import Deciding
from kb_serve.board.nonces import HOLDS_SECONDS, Nonces
from kb_serve.board.page import make_board, render
from kb_serve.board.runs import LastRun
from kb_serve.board.spending import Spending, ceiling_of, spending_of
from kb_serve.board.steps import steps
from kb_serve.guard import Guard
from tests.boards import NOW, board, folder
from tests.spending_home import (
    CENT,
    MODEL,
    SETTINGS,
    decisions,
    make_spending_home,
    pay,
    plan_row,
    write_plans,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OWN = "http://127.0.0.1:3000"
THEN = dt.datetime(2026, 5, 20, 12, tzinfo=dt.UTC).timestamp()
DAY = 86_400
HOSTILE = "<script>x</script> \u202e\x1b {{ 7*7 }} \"'&`"


@pytest.fixture
def home(tmp_path):
    """A home with one plan of 410 passages that waits: about 31 cents, more than a day's rest."""
    made = make_spending_home(tmp_path)
    write_plans(made, "work-1", plan_row("work-1", "extractions", 31 * CENT, 410, barred=12))
    pay(made, "work-1", "extractions", 30 * CENT)
    return made


@pytest.fixture
def plan(home):
    return standing(home)[0].plan.plan_id


class Page:
    """The guarded board of a home, its history and its clock."""

    def __init__(self, home):
        self.home, self.events, self.now = home, [], int(time.time())
        deciding = Deciding(home, self.events.append, lambda: self.now)
        app = make_board(lambda: board(spending=spending_of(home, time.time())), deciding)
        self.client = TestClient(Guard(app, 3000), base_url=OWN, follow_redirects=False)

    def forms(self, plan):
        return forms_of(self.client.get(f"/board/spend/{plan}").text)

    def send(self, plan, form, **headers):
        kind = {"content-type": "application/x-www-form-urlencoded", "origin": OWN}
        body = form if isinstance(form, bytes) else urlencode(form).encode()
        return self.client.post(f"/board/spend/{plan}", content=body, headers=kind | headers)


@pytest.fixture
def page(home):
    return Page(home)


def spending_part(text):
    return text[text.index('id="spending"') :] if 'id="spending"' in text else ""


# --- what is shown


def test_a_home_that_reads_by_rules_and_never_paid_shows_nothing_and_makes_no_ledger(tmp_path):
    home = make_spending_home(tmp_path, '[embedder]\nengine = "none"\n')
    write_plans(home, "work-1")

    shown = spending_of(home, time.time())

    assert shown == Spending()
    assert "Spending" not in render(board(spending=shown), NOW)
    assert not (home.data / "cache" / "paid.sqlite").exists()


def test_what_was_paid_stays_on_show_when_rules_read_again(tmp_path):
    home = make_spending_home(tmp_path, '[embedder]\nengine = "none"\n')
    write_plans(home, "work-1", plan_row("work-1", "extractions", 31 * CENT, 410))
    pay(home, "work-1", "extractions", 7 * CENT)

    shown = spending_of(home, time.time())

    assert shown.is_shown
    assert shown.plans == ()
    assert "$0.07" in spending_part(render(board(spending=shown), NOW))


def test_a_model_that_was_asked_everything_leaves_nothing_to_decide(tmp_path):
    text = render(board(spending=spending_of(make_spending_home(tmp_path), time.time())), NOW)

    assert "Nothing waits" in spending_part(text)
    assert "<table" not in spending_part(text)
    assert '<rect class="bar"' not in text


def test_a_plan_that_waits_is_shown_with_what_it_costs_and_where_to_decide(home, plan):
    text = spending_part(render(board(spending=spending_of(home, time.time())), NOW))

    for words in ("Work", "extractions", MODEL, "410", "$0.31", plan[:8]):
        assert words in text
    assert f'href="/board/spend/{plan}"' in text
    assert "12 passages may not be sent" in text
    assert "<b>$0.30</b> of $0.50 in 24 hours" in text


def test_sums_are_those_of_the_ledger_by_day_and_by_folder_and_stage(tmp_path):
    home = make_spending_home(tmp_path)
    pay(home, "work-1", "extractions", 30 * CENT, at=THEN)
    pay(home, "work-1", "triage", 2 * CENT, at=THEN - 3 * DAY, approval="a")
    pay(home, "gone-2", "triage", 4 * CENT, at=THEN - 40 * DAY, approval="a")

    shown = spending_of(home, THEN)

    assert [(row.name, row.stage, row.billed_nano) for row in shown.rows] == [
        ("Work", "extractions", 30 * CENT),
        ("Work", "triage", 2 * CENT),
        ("gone-2", "triage", 4 * CENT),
    ]
    assert [day.spent_nano for day in shown.days] == [0] * 26 + [2 * CENT, 0, 0, 30 * CENT]
    assert (shown.total.billed_nano, shown.total.estimated_nano) == (36 * CENT, 396 * CENT // 10)
    assert shown.spent_on("work-1") == 32 * CENT
    assert (shown.day_nano, shown.month_nano) == (30 * CENT, 32 * CENT)  # the rest was approved
    text = spending_part(render(board(spending=shown), NOW))
    assert "<b>$0.30</b> of $0.50 in 24 hours" in text
    assert "<b>$0.32</b> of $20.00 this month" in text
    assert text.count('<rect class="bar"') == 2


def test_what_becomes_of_each_plan_is_said(tmp_path):
    names = {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E"}
    home = make_spending_home(tmp_path, **names)
    costs = {"a": 1, "b": 60, "c": 70, "d": 80, "e": 90}
    for key, cost in costs.items():
        write_plans(home, key, plan_row(key, "extractions", cost * CENT, 10))
    plans = {each.plan.folder: each.plan.plan_id for each in standing(home)}
    decline(home, plans["b"], "me")
    approve(home, plans["c"], 1.5, "me")
    approve(home, plans["e"], 1.5, "me")
    reading = folder("E", partition="e", run=LastRun("r", "running", 0.0))

    text = render(
        board(reading, folder("B", partition="b"), spending=spending_of(home, time.time())), NOW
    )
    rows = re.findall(r'What becomes of it">\s*(.*?)\s*</td>', text, re.DOTALL)

    said = [re.sub(r"<[^>]*>", "", row) for row in rows]
    assert said == [
        "goes on by itself",
        "declined. Approve after all …",
        "approved, $1.50 left to spend",
        "Approve or decline … more than goes by itself",
        "is being read",
    ]
    assert "$0.60 declined" in text
    assert "$0.90 to come" in text


def test_a_month_whose_limit_is_reached_is_said_and_can_still_be_decided(tmp_path):
    home = make_spending_home(tmp_path, SETTINGS.replace("20.0", "0"))
    write_plans(home, "work-1", plan_row("work-1", "extractions", 31 * CENT, 410))

    shown = spending_of(home, time.time())

    assert "month’s limit is reached" in spending_part(render(board(spending=shown), NOW))
    assert [step for step in steps(board(spending=shown)) if "kb approve" in str(step)] == []
    page = Page(home).client.get(f"/board/spend/{shown.plans[0].plan.plan_id}")
    assert "limits.monthly_usd" in page.text


def test_a_model_on_this_machine_costs_nothing_and_waits_for_nobody(tmp_path):
    home = make_spending_home(tmp_path, SETTINGS.replace('"anthropic"', '"ollama"'))
    write_plans(home, "work-1", plan_row("work-1", "extractions", 0, 9, is_local=True))

    text = spending_part(render(board(spending=spending_of(home, time.time())), NOW))

    assert "costs nothing" in text
    assert "nothing is to be paid" in text
    assert "without asking" not in text


def test_a_model_whose_price_nobody_knows_is_said(tmp_path):
    home = make_spending_home(tmp_path, SETTINGS.replace(MODEL, "claude-unheard-1"))

    first = steps(board(spending=spending_of(home, time.time())))[0]

    assert "claude-unheard-1" in first.why
    assert first.is_pressing


def test_hostile_folder_names_stay_text_on_both_pages(tmp_path):
    home = make_spending_home(tmp_path, **{"odd-1": HOSTILE})
    write_plans(home, "odd-1", plan_row("odd-1", "extractions", 90 * CENT, 9))
    pay(home, "odd-1", "extractions", CENT)
    plan = standing(home)[0].plan.plan_id
    board_page = render(board(spending=spending_of(home, time.time())), NOW)

    for text in (board_page, Page(home).client.get(f"/board/spend/{plan}").text):
        assert "<script" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "{{ 7*7 }}" in text
        assert "style=" not in text


# --- what to do now


def test_a_plan_that_waits_is_a_step_with_its_page_and_its_command(home, plan):
    step = steps(board(spending=spending_of(home, time.time())))[0]

    assert step.why == f"Work: 410 passages wait to be read by {MODEL}, about $0.31."
    assert step.commands == (f"kb approve {plan[:8]} --usd 0.39",)
    assert step.link == f"/board/spend/{plan}"
    assert step.is_pressing


def test_many_plans_that_wait_take_four_steps(tmp_path):
    home = make_spending_home(tmp_path, **{f"f-{number}": f"F{number}" for number in range(6)})
    for number in range(6):
        write_plans(home, f"f-{number}", plan_row(f"f-{number}", "triage", 90 * CENT, 2))

    shown = steps(board(spending=spending_of(home, time.time())))

    assert len(shown) == 4
    assert shown[3].why == "3 more plans wait for your word, about $2.70 together."


def test_a_declined_plan_is_no_step(home, plan):
    decline(home, plan, "me")

    assert steps(board(spending=spending_of(home, time.time()))) == []


# --- approve and decline


def test_approving_records_one_approval_of_this_plan_and_ceiling_and_says_so(page, home, plan):
    answer = page.send(plan, page.forms(plan)["approve"])

    assert (answer.status_code, answer.headers["location"]) == (303, "/board#spending")
    (made,) = decisions(home)
    assert (made.kind, made.plan, made.folder, made.stage) == (
        "approved",
        plan,
        "work-1",
        "extractions",
    )
    assert (made.ceiling_nano, made.who) == (39 * CENT, "board")
    assert standing(home)[0].permission.state == "approved"
    told = spending_part(page.client.get("/board").text)
    assert "Approved: extractions of Work, at most $0.39." in told
    assert "begins within 30 s while this page is open" in told


def test_declining_records_a_refusal_and_the_plan_can_be_approved_after_all(page, home, plan):
    page.send(plan, page.forms(plan)["decline"])

    assert [made.kind for made in decisions(home)] == ["declined"]
    assert "Declined: extractions of Work." in page.client.get("/board").text
    forms = page.forms(plan)
    assert list(forms) == ["approve"]
    assert page.send(plan, forms["approve"]).status_code == 303
    assert standing(home)[0].permission.state == "approved"


def test_a_decision_stands_in_dagsters_history_without_any_name_of_a_note(home, plan):
    with dg.DagsterInstance.ephemeral() as instance:
        page = Page(home)
        page.send(plan, page.forms(plan)["approve"])
        instance.report_runless_asset_event(page.events[0])
        found = instance.fetch_materializations(dg.AssetKey("spend_approvals"), limit=5).records

    (event,) = [record.asset_materialization for record in found]
    values = {name: value.value for name, value in event.metadata.items()}
    assert values == {
        "plan": plan,
        "folder": "work-1",
        "stage": "extractions",
        "requests": 410,
        "estimated_usd": 0.31,
        "ceiling_usd": 0.39,
        "who": "board",
        "decision": "approved",
    }


def test_the_same_form_counts_once_even_when_it_is_sent_twice_at_once(page, home, plan):
    form = page.forms(plan)["approve"]
    with ThreadPoolExecutor(4) as several:
        answers = list(several.map(lambda _: page.send(plan, form).status_code, range(4)))

    assert sorted(answers) == [303, 409, 409, 409]
    assert page.send(plan, form).status_code == 409
    assert len(decisions(home)) == 1
    assert len(page.events) == 1


def test_a_form_holds_for_an_hour(page, home, plan):
    form = page.forms(plan)["approve"]
    page.now += HOLDS_SECONDS + 1

    answer = page.send(plan, form)

    assert answer.status_code == 403
    assert "more than an hour old" in answer.text
    assert decisions(home) == []
    page.now -= 1
    assert page.send(plan, form).status_code == 303


def test_a_form_of_a_plan_that_is_another_by_now_spends_nothing(page, home, plan):
    form = page.forms(plan)["approve"]
    write_plans(home, "work-1", plan_row("work-1", "extractions", 32 * CENT, 411))

    answer = page.send(plan, form)

    assert answer.status_code == 409
    assert "does not wait any more" in answer.text
    assert decisions(home) == []
    assert page.client.get(f"/board/spend/{plan}").status_code == 404


def test_a_form_of_the_page_before_a_restart_does_not_count(page, home, plan):
    assert Page(home).send(plan, page.forms(plan)["approve"]).status_code == 403
    assert decisions(home) == []


def test_a_plan_that_goes_on_by_itself_offers_no_decision(tmp_path):
    home = make_spending_home(tmp_path)
    (plan,) = write_plans(home, "work-1", plan_row("work-1", "extractions", CENT, 4))

    text = Page(home).client.get(f"/board/spend/{plan}").text

    assert "it goes on by itself" in text
    assert "<button" not in text


def test_the_page_says_what_is_sent_where_and_what_it_costs_before_anything_is_approved(
    page, home, plan
):
    told = re.sub(r"\s+", " ", page.client.get(f"/board/spend/{plan}").text)

    assert "The text of these 410 passages of folder Work goes to 127.0.0.1." in told
    assert "That costs about $0.31." in told
    assert "Approve, at most $0.39" in told
    assert "$0.20 is left of the $0.50" in told
    assert decisions(home) == []


# --- seals, ceilings, bars


PARTS = st.tuples(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))


@given(PARTS, PARTS)
def test_a_seal_holds_for_nothing_but_what_it_was_made_for(made, used):
    nonces = Nonces()

    assert (nonces.why_not(nonces.seal(*made, 1000.0), *used, 1000.0) == "") == (made == used)


def test_a_seal_does_not_hold_where_the_same_letters_are_parted_otherwise():
    nonces = Nonces()

    assert nonces.why_not(nonces.seal("a", "12", "approve", 0), "a1", "2", "approve", 0)


@given(st.text(max_size=90))
def test_no_made_up_seal_holds(seal):
    assert Nonces().why_not(seal, "a" * 32, "10000000", "approve", 0.0)


@given(st.integers(1, 10**12))
def test_a_ceiling_is_whole_cents_and_never_below_the_estimate(cost):
    ceiling = ceiling_of(cost)

    assert ceiling % CENT == 0
    assert cost * 5 / 4 <= ceiling < cost * 5 / 4 + CENT


@given(st.lists(st.integers(0, 10**11), max_size=40))
def test_bars_stand_on_the_bottom_below_a_round_number(amounts):
    drawn = bars([amount / 1e9 for amount in amounts], 600, 160)

    if not any(amounts):
        assert drawn is None
        return
    assert max(amounts) / 1e9 <= drawn.top <= 2.5 * max(amounts) / 1e9
    assert [bar.index for bar in drawn.bars] == [i for i, each in enumerate(amounts) if each]
    assert all(
        -0.01 <= bar.y <= 160 and abs(bar.y + bar.height - 160) <= 0.02 for bar in drawn.bars
    )
    assert all(bar.x >= 0 and bar.x + bar.width <= 600 for bar in drawn.bars)


# --- in a browser, and attacked


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The guarded board of a home with plans of three folders, on a port of its own."""
    home = make_spending_home(tmp_path_factory.mktemp("served"), a="Amt", b="Bau", c="Chor")
    for key in "abc":
        write_plans(home, key, plan_row(key, "extractions", 80 * CENT, 300))
    pay(home, "a", "extractions", 30 * CENT)
    with socket.socket() as listener, dg.DagsterInstance.ephemeral() as instance:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        port = listener.getsockname()[1]
        deciding = Deciding(home, instance.report_runless_asset_event)
        app = make_board(lambda: board(spending=spending_of(home, time.time())), deciding)
        config = uvicorn.Config(Guard(app, port), http="h11", lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield home, port
        server.should_exit = True
        thread.join(10)


def test_what_others_could_send_to_the_form_is_refused_and_nothing_is_decided(served):
    home, port = served

    figures = spend_figures(port, lambda: len(decisions(home)))

    assert {name for name, value in figures.items() if value != 1} == {"decisions_made"}
    assert figures["decisions_made"] == 0


@pytest.mark.browser
def test_a_plan_is_approved_by_two_clicks_and_nothing_typed(served):
    if not CHROMIUM:
        pytest.skip("no chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    home, port = served
    own, strange, before = f"http://127.0.0.1:{port}", [], len(decisions(home))
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 360, "height": 800})
        page.on("request", lambda a: strange.append(a.url) if not a.url.startswith(own) else None)
        page.on("response", lambda a: strange.append(a.url) if a.status >= 400 else None)
        page.on("console", lambda said: strange.append(said.text))
        page.goto(f"{own}/board")
        link = page.get_by_role("link", name="Approve or decline …").last
        meant = link.get_attribute("href")
        link.click()
        widths = [page.evaluate("document.documentElement.scrollWidth - innerWidth")]
        page.get_by_role("button", name="Approve, at most $1.00").click()
        page.wait_for_url("**/board#spending")
        said = page.get_by_role("status").inner_text()
        widths.append(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        browser.close()

    (made,) = decisions(home)[before:]
    assert (made.kind, f"/board/spend/{made.plan}") == ("approved", meant)
    assert made.ceiling_nano == 100 * CENT
    assert said.startswith(
        f"Approved: extractions of {home.folders()[made.folder]}, at most $1.00."
    )
    assert [each for each in strange if "favicon" not in each] == []
    assert max(widths) <= 0
