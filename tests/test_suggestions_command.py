"""`kb questions`: suggestions as rows, kept and dropped by id, decided on a terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_assets.questions import Question
from tests.kb_command import ROOT, kb_json, run_kb
from tests.suggestion_notes import home_of

NOTES = {
    f"{folder}/{topic} plan.md": (
        f"---\ntitle: {topic} plan\nowner: Mara {topic}son\nbudget: £{len(topic)}00\n---\n"
        f"The {topic.lower()} budget is fixed. The budget is due.\n"
    )
    for folder, topic in (("Work", "Harbour"), ("Work", "Ferry"), ("Sea", "Anchor"))
}


@pytest.fixture
def home(tmp_path) -> Path:
    return home_of(NOTES, tmp_path / "home").root


def suggestions(home: Path, *more: str) -> dict:
    return kb_json("questions", "suggest", "--home", str(home), *more)


def test_suggestions_are_rows_of_a_question_file_with_their_answers(home):
    found = suggestions(home, "--folder", "Work", "--count", "3")
    assert (len(found["suggestions"]), found["kept"], found["dropped"]) == (3, 0, 0)
    for each in found["suggestions"]:
        assert each["essential"][0].startswith("Work/")
        assert each.pop("answer")
        assert Question.model_validate(each).expected == "answer"


def test_a_suggestion_is_kept_by_its_id_listed_and_dropped(home):
    first, second, *_ = (each["id"] for each in suggestions(home)["suggestions"])
    assert suggestions(home, "--keep", first)["kept"] == 1
    assert first not in {each["id"] for each in suggestions(home)["suggestions"]}
    listed = kb_json("questions", "list", "--home", str(home))
    assert listed["files"] == [{"file": "questions.jsonl", "questions": 1, "broken": []}]
    assert kb_json("questions", "drop", second, "--home", str(home))["was_kept"] is False
    assert kb_json("questions", "drop", first, "--home", str(home))["was_kept"] is True
    left = suggestions(home)
    assert not {first, second} & {each["id"] for each in left["suggestions"]}
    assert (left["kept"], left["dropped"]) == (0, 2)


@pytest.mark.parametrize(
    "asked",
    [
        ("suggest", "--folder", "Nowhere"),
        ("suggest", "--keep", "nonsense"),
        ("drop", "nonsense"),
    ],
)
def test_what_nothing_is_called_is_refused(home, asked):
    refused = kb_json("questions", *asked, "--home", str(home), status=1)
    assert refused["error"] == "SettingsError"


@pytest.mark.parametrize("name", ["suggest", "list"])
def test_a_home_that_was_never_built_says_how_to_build_it(tmp_path, name):
    (tmp_path / "kb.toml").write_text("")
    refused = kb_json("questions", name, "--home", str(tmp_path), status=1)
    assert refused["error"] == "NotBuiltError"
    assert "kb build" in refused["message"]


def test_without_a_terminal_every_draft_is_printed_with_its_id(home):
    done = run_kb("questions", "suggest", "--count", "3", "--home", str(home))
    assert done.returncode == 0
    assert done.stdout.count("· own-") == 3
    assert "--keep ID" in done.stdout


def test_on_a_terminal_each_draft_is_kept_edited_or_dropped(home):
    shown = on_a_terminal(home, ["k", "e", "Was this edited?\n", "d", "q"])
    lines = (home / "data/eval/questions.jsonl").read_text().splitlines()
    dropped = json.loads((home / "data/eval/dropped.json").read_text())["dropped"]
    assert len(lines) == 2
    assert json.loads(lines[1])["question"] == "Was this edited?"
    assert len(dropped) == 1
    assert "2 kept, 1 dropped" in shown


def on_a_terminal(home: Path, keys: list[str]) -> str:
    """Type keys one after the other, each when the command waits for one."""
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kb_serve.cli", "questions", "suggest", "--home", str(home)]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown, waiting = "", list(keys)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                shown += os.read(master, 65536).decode("utf-8", "replace")
            except OSError:  # the command has ended
                break
        elif waiting and shown.rstrip().endswith(("[q]uit", "New wording:")):
            os.write(master, waiting.pop(0).encode())
            shown += "\n"
    process.wait(timeout=60)
    os.close(master)
    return shown
