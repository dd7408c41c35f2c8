"""Asking a page that runs: GraphQL as a tool of this machine, and waiting for what comes."""

import json
import time
from collections.abc import Callable
from typing import Any

from benchmarks.page_requests import exchange, post_request

NEWEST_RUN = "{ runsOrError(limit: 1) { ... on Runs { results { status jobName } } } }"


def ask(port: int, query: str) -> Any:
    """Return the data of a GraphQL answer."""
    said = exchange(port, post_request(port, query, (), f"127.0.0.1:{port}"))
    return json.loads(said.partition(b"\r\n\r\n")[2])["data"]


def newest_run(port: int) -> dict[str, str]:
    """Return status and job of the run that was asked for last."""
    runs: list[dict[str, str]] = ask(port, NEWEST_RUN)["runsOrError"]["results"]
    return runs[0] if runs else {"status": "", "jobName": ""}


def wait_for(look: Callable[[], Any], seconds: float = 150) -> Any:
    """Look again and again until there is something, or the time is up.

    The time is for a machine that does much else: who waits for something stops when it is there.
    """
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return found
