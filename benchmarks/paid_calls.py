"""Pay for 640 answers of one second, 64 in flight, beside the bare client of the same service.

    python -m benchmarks.paid_calls

The paid door looks up, writes its ledger before each call and keeps each answer on the disk
before the next; the bare client does nothing but ask. Both ask a stand-in in a process of its
own, in turns, with the same requests. No key and no network but this machine's are used.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.report import progress, report
from kb_core.ids import content_id
from kb_core.money import Tokens, price_of
from kb_core.settings import LimitSettings, LLMSettings
from resources.ledger import NewRow
from resources.llm import Request
from resources.open_llm import open_llm
from resources.paid_calls import PaidCalls
from resources.paid_items import Item, Purpose
from resources.paid_store import PaidStore
from resources.spending import AUTO, Permission

ROOT = Path(__file__).resolve().parent.parent
AIMS = {"over_bare_sdk": "<= 1.1", "not_answered": "== 0", "bill_off_nano": "== 0"}
MODEL = "claude-haiku-5-5"
_KEY = "sk-stand-in-key"
_LOOK_SECONDS = 0.05
_ESTABLISHED = "01"
_SYSTEM = "List what the passage claims, with a quote for each claim. " * 40
_FIELD = {"type": "string"}
_SCHEMA = {
    "type": "object",
    "properties": {"claims": {"type": "array", "items": _FIELD}, "kind": _FIELD},
    "required": ["claims", "kind"],
    "additionalProperties": False,
}


def main() -> int:
    """Measure, print one JSON line and return 1 if an aim is not met."""
    parser = argparse.ArgumentParser(description="The paid door beside the bare client.")
    parser.add_argument("--answers", type=int, default=640)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=1.0, help="that an answer takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--earlier", type=int, default=0, help="rows already in the ledger")
    options = parser.parse_args()
    os.environ["ANTHROPIC_API_KEY"] = _KEY
    figures = _figures(options)
    return 0 if report("paid_calls", figures, AIMS) else 1


def _figures(options: argparse.Namespace) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"bare": [], "paid": []}
    sockets = {"bare": 0, "paid": 0}
    missing = off = 0
    for turn in range(options.rounds):
        requests = [_request(turn, number) for number in range(options.answers)]
        with _server(options.seconds) as (url, log):
            llm = LLMSettings(
                engine="anthropic", model=MODEL, url=url, max_parallel=options.parallel
            )
            with _sockets(url, sockets, "bare"):
                seconds["bare"].append(_bare(llm, requests))
            before = _billed(log)
            with _sockets(url, sockets, "paid"):
                taken, answered, billed = _paid(llm, requests, options.earlier)
            seconds["paid"].append(taken)
            missing += options.answers - answered
            off += abs(_billed(log) - before - billed)
        progress(f"bare {seconds['bare'][-1]:.2f} s, paid {seconds['paid'][-1]:.2f} s")
    ratios = [paid / bare for paid, bare in zip(seconds["paid"], seconds["bare"], strict=True)]
    return {
        "over_bare_sdk": round(statistics.median(ratios), 4),
        "bare_s": round(statistics.median(seconds["bare"]), 3),
        "paid_s": round(statistics.median(seconds["paid"]), 3),
        "ideal_s": options.seconds * -(-options.answers // options.parallel),
        "bare_sockets": sockets["bare"],
        "paid_sockets": sockets["paid"],
        "not_answered": missing,
        "bill_off_nano": off,
    }


def _request(turn: int, number: int) -> Request:
    """Return a question of about the size of a passage."""
    text = f"Passage {turn}-{number}. " + "The ferry ran late, and the crane was out of use. " * 100
    return Request(content_id(text), _SYSTEM, text, _SCHEMA, 2_000)


@contextmanager
def _server(seconds: float) -> Iterator[tuple[str, Path]]:
    """Run the stand-in in a process of its own, and end that."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        command = [sys.executable, "-m", "tests.standins.anthropic_server", "--log", str(log)]
        command += ["--slow-seconds", str(seconds)]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip(), log
        finally:
            server.terminate()
            server.wait()


def _billed(log: Path) -> int:
    """Add up what the service says it billed."""
    return sum(json.loads(line)["billed_nano"] for line in log.read_text("utf-8").splitlines())


def _bare(llm: LLMSettings, requests: list[Request]) -> float:
    import anthropic

    async def ask_all() -> float:
        gate = asyncio.Semaphore(llm.max_parallel)
        begun = time.perf_counter()
        async with anthropic.AsyncAnthropic(
            api_key=_KEY, base_url=llm.url, max_retries=0
        ) as client:

            async def ask(request: Request) -> None:
                async with gate:
                    await client.messages.create(
                        model=llm.model,
                        max_tokens=request.max_tokens,
                        system=request.system,
                        messages=[{"role": "user", "content": request.text}],
                        output_config={
                            "effort": "low",
                            "format": {"type": "json_schema", "schema": dict(request.schema)},
                        },
                    )

            await asyncio.gather(*map(ask, requests))
        return time.perf_counter() - begun

    return asyncio.run(ask_all())


def _paid(llm: LLMSettings, requests: list[Request], earlier: int) -> tuple[float, int, int]:
    """Return the seconds, how many answers were kept, and what the ledger says they cost."""
    items = [Item(request, (request.key,), 400) for request in requests]
    limits = LimitSettings(auto_approve_usd=1_000, monthly_usd=1_000)
    model = open_llm(llm)
    assert model is not None
    with tempfile.TemporaryDirectory() as folder, PaidStore(Path(folder) / "paid.sqlite") as store:
        _fill(store, earlier)
        begun = time.perf_counter()
        with PaidCalls(store, model, price_of(MODEL, {}), limits, llm) as calls:
            done = calls.run(
                items, Purpose("town", "extractions", "p"), Permission(AUTO, "", 0, "")
            )
        taken = time.perf_counter() - begun
        kept = store.answers([item.request.key for item in items])
        return taken, len(kept), done.billed_nano


def _fill(store: PaidStore, rows: int) -> None:
    """Write down what a busy day has spent before, without asking anybody."""
    hour_ago = time.time() - 3_600
    with store.transaction():
        for number in range(rows):
            key = bytes.fromhex(content_id(f"earlier {number}"))
            row = NewRow("town", "triage", "p", MODEL, key, key, "", 1_000, 9_000)
            at = store.ledger.open(row, "nobody", hour_ago, hour_ago)
            store.ledger.settle(at, Tokens(10, 2), 2_000)


@contextmanager
def _sockets(url: str, most: dict[str, int], name: str) -> Iterator[None]:
    """See how many connections to the stand-in are open at once, where the system tells."""
    port = f":{int(url.rpartition(':')[2]):04X}"
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            most[name] = max(most[name], _open_to(port))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def _open_to(port: str) -> int:
    try:
        lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    except OSError:
        return 0
    cells = [line.split() for line in lines]
    return sum(cell[2].endswith(port) and cell[3] == _ESTABLISHED for cell in cells)


if __name__ == "__main__":
    raise SystemExit(main())
