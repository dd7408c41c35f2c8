"""The page in a real browser, behind its guard."""

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.page_attacks import page_figures
from benchmarks.page_requests import fetch, free_port, running_page
from tests.kb_command import kb_json, make_home, run_kb
from tests.ready_home import ready_home
from tests.running_page import newest_run, wait_for
from tests.small_vault import make_vault

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SHOTS = os.environ.get("KB_PAGE_SHOTS")  # a folder that screenshots are kept in

_PATIENCE_MS = 120_000  # the machine may do much else


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return ready_home(tmp_path_factory.mktemp("page")).home


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "page.log"


@pytest.fixture(scope="module")
def port(home, log):
    with running_page(home, free_port(), log) as port:
        yield port


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("no chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def looking(browser, port, width=1400, height=900):
    """Open a page; fail if anything was asked of another machine or refused to the page itself."""
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    own, strange = f"http://127.0.0.1:{port}", []
    page.on("request", lambda asked: strange.append(asked.url) if _is_foreign(asked, own) else None)
    page.on("response", lambda got: strange.append(got.url) if got.status >= 400 else None)
    page.on(
        "console",
        lambda said: strange.append(said.text) if "Content Security" in said.text else None,
    )
    yield page
    context.close()
    assert strange == []


def _is_foreign(asked, own):
    return not asked.url.startswith((own, own.replace("http", "ws"), "data:", "blob:"))


def keep(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=name.startswith("board"))


@pytest.mark.browser
def test_the_lineage_opens_as_numbered_groups_from_left_to_right(browser, port):
    with looking(browser, port) as page:
        page.goto(f"http://127.0.0.1:{port}/asset-groups")
        page.get_by_text("5_judge").last.wait_for()
        groups = [page.get_by_text(name).last for name in ("1_read", "2_local_model", "5_judge")]
        lefts = [group.bounding_box()["x"] for group in groups]
        page.wait_for_timeout(500)
        keep(page, "lineage")

    assert lefts == sorted(lefts)


@pytest.mark.browser
def test_a_folder_is_materialised_by_clicking_and_the_board_says_so(browser, port):
    with looking(browser, port) as page:
        page.goto(f"http://127.0.0.1:{port}/assets/chunks?view=partitions")
        page.get_by_role("button", name="Materialize…").click()
        page.get_by_text("Select a partition or create one").click()
        page.get_by_role("menuitem").filter(has_text="work-").click()
        page.get_by_text("Launch runs to materialize").click()  # closes the list
        launch = page.get_by_role("button", name=re.compile("^Launch"))
        page.wait_for_timeout(500)
        keep(page, "materialize")
        launch.click()

        def is_done():
            run = newest_run(port)
            return run["status"] in ("SUCCESS", "FAILURE") and run["jobName"].startswith("__")

        assert wait_for(is_done)
        assert newest_run(port)["status"] == "SUCCESS"
        page.goto(f"http://127.0.0.1:{port}/board")
        row = page.get_by_role("row", name=re.compile("^Work"))
        assert "succeeded" in row.inner_text()
        assert "just now" in row.inner_text()
        page.goto(f"http://127.0.0.1:{port}/runs")
        page.get_by_text("Success").first.wait_for()
        page.wait_for_timeout(500)
        keep(page, "runs")


@pytest.mark.browser
def test_an_asset_says_what_it_is_and_leads_to_the_board(browser, port):
    with looking(browser, port) as page:
        page.goto(f"http://127.0.0.1:{port}/assets/published")
        page.get_by_text("Next: ask it").wait_for()
        page.wait_for_timeout(500)
        keep(page, "asset")
        page.get_by_role("link", name="board", exact=True).click()
        page.get_by_role("heading", name="What to do now").wait_for()
        page.get_by_role("link", name="Lineage").click()
        page.get_by_text("1_read").first.wait_for()


@pytest.mark.browser
@pytest.mark.parametrize(("name", "width"), [("board", 1280), ("board-phone", 360)])
def test_the_board_shows_every_folder_on_a_desk_and_on_a_phone(browser, port, home, name, width):
    folders = [row["folder"] for row in kb_json("folders", "--home", str(home))["folders"]]
    with looking(browser, port, width, 800) as page:
        page.goto(f"http://127.0.0.1:{port}/board")
        rows = page.locator("tbody tr")
        shown = rows.locator("th").all_inner_texts()
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        keep(page, name)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        focused = page.evaluate("location.hash")

    assert shown == folders
    assert overflow <= 0
    assert focused == "#main"


def test_what_other_pages_could_send_is_refused_and_the_page_works(port, log):
    figures = page_figures(port)

    # Only the attack count is 0; everything else is 1: refused, or answered.
    assert {name for name, value in figures.items() if value != 1} == {"folders_added"}
    assert "Refused POST /graphql" in log.read_text()
    assert "addDynamicPartition" not in log.read_text()


def test_the_page_of_a_plan_is_served_behind_the_guard(port):
    page = fetch(port, f"/board/spend/{'0' * 32}")

    assert page.startswith(b"HTTP/1.1 404")
    assert b"This plan does not wait" in page


def test_a_second_page_of_one_home_and_a_taken_port_are_said_at_once(home, port, tmp_path):
    other = make_home(make_vault(tmp_path / "vault"), tmp_path / "home")

    again = run_kb("ui", "--port", str(free_port()), "--home", str(home), cold=True)
    taken = run_kb("ui", "--port", str(port), "--home", str(other), cold=True)

    assert again.returncode == taken.returncode == 1
    assert "is open already" in again.stderr
    assert f"Port {port} is taken" in taken.stderr
    assert f"kb ui --port {port + 1}" in taken.stderr


def test_what_the_page_keeps_is_for_its_user_alone(home, port):
    modes = {path: path.stat().st_mode for path in (home / "data").rglob("*")}

    assert len(modes) > 20
    assert [path for path, mode in modes.items() if mode & 0o077] == []
