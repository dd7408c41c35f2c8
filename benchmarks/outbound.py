"""Does anything leave this machine? Every connect() of a build, a search, a scoring and the page.

`python -m benchmarks.outbound` runs `kb` under strace (Debian's `strace`) on a small vault with
the embedded model and counts connections by where they go. Name look-ups count too: asking for an
address is already telling somebody.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.page_requests import free_port, get
from benchmarks.report import progress, report
from tests.eval_vault import make_eval_vault, write_questions
from tests.running_page import wait_for

ROOT = Path(__file__).resolve().parent.parent
_CALLS = "trace=connect,sendto,sendmsg"
_ADDRESS = re.compile(
    r"sa_family=(AF_INET6?), sin6?_port=htons\((\d+)\).*?(?:inet_addr|inet_pton)\(([^)]*)\)"
)
_LOCAL = re.compile(r'"(127\.[\d.]+|::1|::ffff:127\.[\d.]+)"')


def main() -> int:
    """Run everything under strace; status 1 if anything went elsewhere than to this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto", choices=["auto", "e5", "none"])
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        raise SystemExit("strace is missing: apt-get install strace")
    with tempfile.TemporaryDirectory() as scratch:
        seen = Trial(Path(scratch), arguments.engine).run()
    outside = {place: count for place, count in seen.items() if place != "loopback"}
    for place in outside:
        progress(f"elsewhere: {place}")
    figures = {"non_loopback": sum(outside.values()), "loopback": seen["loopback"]}
    return 0 if report("outbound", figures, {"non_loopback": "<= 0"}) else 1


class Trial:
    """A small home, and a trace of each command on it."""

    def __init__(self, scratch: Path, engine: str) -> None:
        self._scratch = scratch
        self._home = scratch / "home"
        self._environment = {
            **os.environ,
            "KB_EMBEDDER__ENGINE": engine,
            "PYTHONPATH": str(ROOT),
        }
        make_eval_vault(scratch / "vault")

    def run(self) -> Counter[str]:
        """Trace the everyday commands and the page; count connections by their place."""
        home = ("--home", str(self._home))
        self._trace("init", str(self._scratch / "vault"), *home)
        write_questions(self._home)
        for command in (("build",), ("search", "what does the pier cost"), ("eval",), ("doctor",)):
            self._trace(*command, *home)
        self._page()
        traces = [path.read_text("utf-8", "replace") for path in self._scratch.glob("trace-*")]
        return places("\n".join(traces))

    def _trace(self, *arguments: str) -> None:
        progress(f"kb {arguments[0]}")
        subprocess.run(
            self._command(*arguments),
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )

    def _page(self) -> None:
        progress("kb ui")
        port = free_port()
        page = subprocess.Popen(
            self._command("ui", "--home", str(self._home), "--port", str(port)),
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # strace passes no signal on: the group is told
        )

        def is_ready() -> bool:
            try:
                return get(port, "/board") == 200
            except OSError:
                return False

        try:
            if not wait_for(is_ready, 120):
                raise SystemExit("`kb ui` did not answer under strace")
            get(port, "/lineage")
        finally:
            os.killpg(page.pid, signal.SIGTERM)
            page.wait(60)

    def _command(self, *arguments: str) -> list[str]:
        trace = self._scratch / f"trace-{arguments[0]}"
        tracing = ["strace", "-f", "-qq", "-e", _CALLS, "-o", str(trace)]
        return [*tracing, sys.executable, "-m", "kb_serve.cli", *arguments]


def places(trace: str) -> Counter[str]:
    """Count the internet addresses of a trace: `loopback`, or each other one by itself."""
    seen: Counter[str] = Counter()
    for family, port, address in _ADDRESS.findall(trace):
        seen["loopback" if _LOCAL.search(address) else f"{family} {address} port {port}"] += 1
    return seen


if __name__ == "__main__":
    sys.exit(main())
