"""Ask a built home hostile questions, as a program and on a terminal, and read the screen."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from benchmarks.report import progress
from kb_core.settings import read_settings
from kb_search.engine import Engine
from kb_serve.commands.search import question_of, show_result

# Colours are ours; anything else that steers a terminal, or turns the direction of writing, is not.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,12}m")
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ON_A_TERMINAL = 6
_EVERY = 40


def ask_all(home: Path, questions: Iterable[str]) -> Counter[str]:
    """Ask every question and count crashes, slow ones, and raw control characters on the screen."""
    engine = Engine.open(home, read_settings(home))
    counts: Counter[str] = Counter()
    slowest = 0.0
    for question in questions:
        counts["questions"] += 1
        start = time.process_time()
        try:
            screen = _shown(engine, question)
        except Exception as problem:  # noqa: BLE001 - counting them is what this is for
            counts["crashes"] += 1
            progress(f"question crashed: {type(problem).__name__}: {question!a}")
            continue
        slowest = max(slowest, time.process_time() - start)
        counts["raw_controls"] += len(steering(screen))
    counts["slowest_ms"] = round(1000 * slowest)
    return counts


def _shown(engine: Engine, question: str) -> str:
    result = engine.search(question_of(question), variant="keyword").to_json()
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        show_result(result)
    return click.unstyle(screen.getvalue()).replace("\n", " ")


def steering(screen: str) -> list[str]:
    """Return the characters of a screen that could steer a terminal."""
    return _STEERING.findall(_COLOUR.sub("", screen))


def on_a_terminal(command: Sequence[str]) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its status and all that it wrote."""
    ours, its = pty.openpty()
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, close_fds=True) as process:
        os.close(its)
        parts = list(_parts(ours))
    os.close(ours)
    text = b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n")
    return process.returncode, text


def _parts(terminal: int) -> Iterable[bytes]:
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that the other side is closed
            return
        if not part:
            return
        yield part


def terminal_commands(home: Path, questions: Sequence[str]) -> list[list[str]]:
    """Return commands that show hostile names, texts and questions on a terminal."""
    kb = [sys.executable, "-m", "kb_serve.cli"]
    asked = [question for question in questions if "\0" not in question and question.strip()]
    where = ["--home", str(home)]
    searches = [
        [*kb, "search", *where, "--variant", "keyword", "--", question]
        for question in asked[:: max(1, len(asked) // _ON_A_TERMINAL)]
    ]
    return [
        *searches,
        [*kb, "search", *where, "--folder", "\x1b[2Jnowhere", "--", "a"],
        [*kb, "check", "--all", *where],
        [*kb, "folders", *where],
    ]
