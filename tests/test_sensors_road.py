"""The page with its daemon over a real vault: one edit, one folder, one build, and then quiet."""

import os
import shutil
from pathlib import Path

import pytest

from benchmarks.page_requests import free_port, running_page
from tests.kb_command import kb_json, make_home
from tests.running_page import ask, wait_for
from tests.small_vault import put
from tests.watched_home import rewrite

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SHOTS = os.environ.get("KB_SCREENSHOTS")  # a folder that screenshots are kept in
NOTES = {
    "Work/Pier.md": "# Pier\n\nThe pier costs 120,000 euros. See [[Ferry]].\n",
    "Work/Ferry.md": "# Ferry\n\nThe ferry Aurora carried 310 passengers.\n",
    "People/Mara.md": "# Mara\n\nMara Lind leads the harbour.\n",
    "Archive/Old.md": "# Old\n\nThe old pier was sold in 1998.\n",
}
_PATIENCE_MS = 120_000  # the machine may do much else
SENSORS = ("vault_changes", "after_build", "follow_folders", "failure_alerts")
RUNS = """{ runsOrError(limit: 50) { ... on Runs { results {
  status jobName tags { key value } } } } }"""
TICKS = """{ sensorOrError(sensorSelector: {sensorName: "%s", repositoryName: "__repository__",
  repositoryLocationName: "knowledge_base"}) { ... on Sensor { sensorState {
  ticks(limit: 5) { status skipReason error { message } } } } } }"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("road")
    for path, text in NOTES.items():
        put(folder / "vault", path, text)
    root = make_home(folder / "vault", folder / "home")
    kb_json("build", "--home", str(root))
    text = (root / "kb.toml").read_text()
    for slow, quick in (("every_seconds = 30", "every_seconds = 2"), ("= 5\n", "= 1\n")):
        assert slow in text
        text = text.replace(slow, quick)
    (root / "kb.toml").write_text(text)
    return root


@pytest.fixture(scope="module")
def port(home, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "page.log"
    with running_page(home, free_port(), log) as port:
        yield port


def runs(port):
    """Return job and folder of each run that a sensor asked for, newest first, and its status."""
    found = []
    for run in ask(port, RUNS)["runsOrError"]["results"]:
        tags = {tag["key"]: tag["value"] for tag in run["tags"]}
        if "kb/asked-by" in tags:
            job = "vault" if run["jobName"].startswith("__") else run["jobName"]
            found.append((job, tags.get("dagster/partition", "")[:-9], run["status"]))
    return found


def ticks(port, sensor="vault_changes"):
    return ask(port, TICKS % sensor)["sensorOrError"]["sensorState"]["ticks"]


def has_said(port, words):
    return any(words in (tick["skipReason"] or "") for tick in ticks(port)[:2])


def test_one_edit_runs_its_folder_alone_then_the_vault_once_then_nothing(home, port):
    vault = home.parent / "vault"
    assert wait_for(lambda: has_said(port, "Nothing changed in 3 folders."))
    assert runs(port) == []

    rewrite(vault / "Work/Ferry.md", "# Ferry\n\nThe ferry Aurora carried 402 passengers.\n")

    assert wait_for(lambda: ("vault", "", "SUCCESS") in runs(port))
    assert wait_for(lambda: has_said(port, "Nothing changed in 3 folders."))
    assert runs(port) == [("vault", "", "SUCCESS"), ("words", "work", "SUCCESS")]
    found = kb_json("search", "ferry passengers", "--home", str(home))["results"]
    assert "402" in found[0]["quote"]
    assert all(tick["error"] is None for name in SENSORS for tick in ticks(port, name))


@pytest.mark.browser
def test_the_ticks_and_what_they_wait_for_can_be_read_on_the_page(home, port):
    if not CHROMIUM:
        pytest.skip("no chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(f"http://127.0.0.1:{port}/locations/knowledge_base/sensors/vault_changes")
        tick = page.get_by_role("row").get_by_text("0 runs requested").last
        tick.wait_for()
        page.wait_for_timeout(500)
        keep(page, "ticks")
        tick.click()
        page.get_by_text("Nothing changed in 3 folders.").first.wait_for()
        page.wait_for_timeout(500)
        keep(page, "skip-reason")
        page.goto(f"http://127.0.0.1:{port}/automation")
        page.get_by_text("weekly_words").first.wait_for()
        page.wait_for_timeout(500)
        keep(page, "automation")
        browser.close()


def keep(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png")
