"""Search all that builds and servers leave for words that stand in notes and questions alone.

`python -m benchmarks.canaries` builds a vault whose texts, properties, titles and questions hold
canary words, makes every kind of failure happen, opens the page, and then reads all that was
left: Dagster's databases and logs, what builds and servers printed, and what the page answers to
queries for runs, events and metadata. Paths may be shown; no canary stands in one.
"""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.page_requests import environment, exchange, free_port, post_request, running_page
from benchmarks.report import progress, report
from tests.eval_vault import TOPICS, make_eval_vault, note_path, note_text, write_questions
from tests.small_vault import put
from tests.standins.anthropic_server import AnthropicStandIn
from tests.standins.ollama_server import NAN, TOO_LONG, ZERO, OllamaStandIn

ROOT = Path(__file__).resolve().parent.parent

CANARIES = {
    "text": "quetzalcoatlus",
    "property": "archelonshell",
    "title": "dunkleosteus",
    "question": "hallucigenia",
    "tag": "anomalocaris",
    "key": "megatherium",
}
_KEY = "sk-megatherium"
# What a language model's provider may answer instead of an answer.
_TROUBLES = (
    *("spend-429", "spend-402", "spend-400", "credit", "401", "403", "404", "bad-request"),
    *("unprocessable", "refusal", "cut", "malformed", "lie-usage", "dropped", "broken", "html"),
)
_QUERIES = (
    "{ runsOrError { ... on Runs { results { runId status tags { key value } runConfigYaml "
    "stats { ... on RunStatsSnapshot { stepsFailed } } } } } }",
    "{ assetNodes { assetKey { path } description opNames partitionKeys assetMaterializations "
    "(limit: 50) { label description runId metadataEntries { label description "
    "... on TextMetadataEntry { text } ... on MarkdownMetadataEntry { mdStr } "
    "... on JsonMetadataEntry { jsonString } ... on PathMetadataEntry { path } } } } }",
    "{ workspaceOrError { ... on Workspace { locationEntries { name } } } }",
)
_LOGS = (
    '{{ logsForRun(runId: "{run}") {{ ... on EventConnection {{ events {{ __typename '
    "... on MessageEvent {{ message stepKey }} "
    "... on ExecutionStepFailureEvent {{ error {{ message stack causes {{ message stack }} }} }} "
    "}} }} }} }}"
)


def main() -> int:
    """Run all failures and search what they left; status 1 if a canary was found."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        OllamaStandIn() as server,
        AnthropicStandIn(key=_KEY) as provider,
    ):
        trial = Trial(Path(scratch), server, provider)
        trial.fail_in_every_way()
        trial.open_page()
        hits = trial.search()
    figures: dict[str, float] = {f"hits_{place}": count for place, count in sorted(hits.items())}
    figures |= {"hits": sum(hits.values()), "failures": trial.failures}
    figures |= {"files_read": trial.files_read, "answers_read": len(trial.answers)}
    return 0 if report("canaries", figures, {"hits": "<= 0", "failures": ">= 8"}) else 1


class Trial:
    """One home whose notes hold canaries, and everything it printed and answered."""

    def __init__(self, scratch: Path, server: OllamaStandIn, provider: AnthropicStandIn) -> None:
        self._vault, self._home = scratch / "vault", scratch / "home"
        self._server, self._provider = server, provider
        self._printed: list[str] = []
        self.answers: list[str] = []
        self.failures = self.files_read = 0
        make_eval_vault(self._vault)
        for topic in TOPICS:
            self._edit(topic, "first")

    def fail_in_every_way(self) -> None:
        """Build, and let builds fail by the embedder, the vault, the questions and a kill."""
        self._kb("init", str(self._vault), "--home", str(self._home))
        write_questions(self._home)
        self._put_question("good", "essential")
        self._kb("build")
        self._kb("doctor")
        for mark in (NAN, TOO_LONG, ZERO):
            self._edit(TOPICS[0], f"{mark} again")
            self._kb("build")
        for name in ("busy", "is_garbled", "drops_last", "is_shuffled", "is_old", "is_broken"):
            self._fail_server(name, 50 if name == "busy" else True)
        self._fail_model()
        self._fail_vault()
        self._put_question("bad", "no_such_key")
        self._kb("build")
        (self._home / "data" / "eval" / "bad.jsonl").unlink()
        self._kill()
        self._damage()
        for command in ("refresh", "folders", "verify", "gc", "publish"):
            self._kb(command)

    def open_page(self) -> None:
        """Start the page, ask it for everything it knows, and keep what it prints."""
        os.environ.update(self._environment())
        with running_page(self._home, free_port()) as port:
            for query in _QUERIES:
                self.answers.append(self._ask(port, query))
            for run in sorted(set(re.findall(r'"runId": ?"([0-9a-f-]{36})"', self.answers[0]))):
                self.answers.append(self._ask(port, _LOGS.format(run=run)))

    def search(self) -> Counter[str]:
        """Count canaries by the place they were found in."""
        hits: Counter[str] = Counter()
        places: dict[str, Iterator[str]] = {
            "printed": iter(self._printed),
            "answers": iter(self.answers),
            "dagster": self._files(self._home / "data" / "dagster"),
            "databases": self._databases(self._home / "data" / "dagster"),
        }
        for place, texts in places.items():
            hits[place] = sum(self._found(place, text) for text in texts)
        return hits

    def _found(self, place: str, text: str) -> int:
        count = 0
        for kind, word in CANARIES.items():
            if at := text.lower().count(word):
                where = text.lower().index(word)
                progress(f"{place}: {kind}: …{text[max(0, where - 200) : where + 60]}…")
                count += at
        return count

    def _fail_server(self, name: str, value: Any) -> None:
        setattr(self._server.scenario, name, value)
        for topic in TOPICS:
            self._edit(topic, name)
        self._kb("build")
        setattr(self._server.scenario, name, type(value)())
        self._kb("build")

    def _fail_model(self) -> None:
        """Let the provider of a language model fail in every way, and quote what it was sent."""
        for trouble in _TROUBLES:
            for topic in TOPICS:
                self._edit(topic, trouble)
            self._provider.scenario.queue = [trouble] * 3
            self._kb("build")
        self._provider.scenario.queue = []
        for command in ("plan", "ledger"):
            self._kb(command)

    def _fail_vault(self) -> None:
        odd = b"---\ntitle: [dunkleosteus\nowner: {archelonshell: [\n---\nquetzalcoatlus \xff\xfe\n"
        put(self._vault, "Town/Odd.md", odd)
        put(self._vault, "Town/Zero.md", b"quetzalcoatlus \x00" * 300)
        self._kb("build")
        kept = {path: path.read_bytes() for path in self._vault.glob("Harbour/*.md")}
        for path in kept:
            path.unlink()
        self._kb("build")  # refused: too much is gone at once
        for path, content in kept.items():
            path.write_bytes(content)
        self._vault.rename(self._vault.with_name("elsewhere"))
        self._kb("build")  # refused: no vault
        self._vault.with_name("elsewhere").rename(self._vault)

    def _kill(self) -> None:
        for topic in TOPICS:
            self._edit(topic, "killed")
        process = subprocess.Popen(
            [sys.executable, "-m", "kb_serve.cli", "build", "--home", str(self._home)],
            env=self._environment(),
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        time.sleep(4)
        os.killpg(process.pid, signal.SIGTERM)
        self._printed.append(process.communicate()[0])
        self.failures += process.returncode != 0

    def _damage(self) -> None:
        """Cut a stored table short, so that a stage trips over it."""
        table = sorted((self._home / "data" / "store" / "notes").rglob("*.parquet"))[-1]
        table.write_bytes(table.read_bytes()[:-100])
        self._edit(TOPICS[0], "damaged")
        self._kb("build")

    def _edit(self, topic: str, edit: str) -> None:
        number = TOPICS.index(topic)
        head = (
            f"---\ntitle: {CANARIES['title']} {topic}\naliases: [{CANARIES['title']}s]\n"
            f"owner: {CANARIES['property']}\ntags: [{CANARIES['tag']}]\n"
        )
        text = note_text(topic, number, f"The {CANARIES['text']} of {edit}. #{CANARIES['tag']}")
        put(self._vault, note_path(topic), text.replace("---\n", head, 1))

    def _put_question(self, name: str, key: str) -> None:
        note = note_path(TOPICS[0])
        row = (
            f'{{"id": "{name}", "question": "Where is the {CANARIES["question"]}?", '
            f'"category": "single_fact", "{key}": ["{note}"]}}\n'
        )
        put(self._home / "data" / "eval", f"{name}.jsonl", row)

    def _kb(self, *arguments: str) -> None:
        home = () if arguments[0] == "init" else ("--home", str(self._home))
        done = subprocess.run(
            [sys.executable, "-m", "kb_serve.cli", *arguments, *home],
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.failures += done.returncode != 0
        progress(f"kb {arguments[0]}: status {done.returncode}")
        self._printed.append(done.stdout + done.stderr)

    def _environment(self) -> dict[str, str]:
        return {
            **environment(),
            "KB_EMBEDDER__ENGINE": "ollama",
            "KB_EMBEDDER__URL": self._server.url,
            "KB_CHUNKS__TOKEN_COUNTER": "regex",
            "ANTHROPIC_API_KEY": _KEY,
            "ANTHROPIC_LOG": "debug",
            "KB_LLM__ENGINE": "anthropic",
            "KB_LLM__URL": self._provider.url,
            "KB_EGRESS__ALLOW": json.dumps(["Harbour", "Town"]),
            "PYTHONPATH": str(ROOT),
        }

    def _ask(self, port: int, query: str) -> str:
        request = post_request(port, query, (), f"127.0.0.1:{port}")
        return exchange(port, request).decode("utf-8", "replace")

    def _files(self, folder: Path) -> Iterator[str]:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.files_read += 1
                yield path.read_bytes().decode("utf-8", "replace")

    def _databases(self, folder: Path) -> Iterator[str]:
        """Yield every row of every table: what lies across two pages is no run of bytes."""
        for path in sorted(folder.rglob("*.db")):
            with sqlite3.connect(path) as database:
                names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                for (name,) in names.fetchall():
                    yield str(database.execute(f'SELECT * FROM "{name}"').fetchall())  # noqa: S608


if __name__ == "__main__":
    sys.exit(main())
