"""Raw HTTP requests to the page, and the real `kb ui` to send them to.

Requests are bytes over a socket: a client library would tidy up what an attacker sends.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

Headers = tuple[tuple[str, str], ...]

JSON = ("Content-Type", "application/json")
_START_SECONDS = 90
_UPGRADE: Headers = (
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("Sec-WebSocket-Protocol", "graphql-ws"),
)


def query_body(text: str) -> bytes:
    """Return the body of a GraphQL request."""
    return json.dumps({"query": text}).encode()


def post(port: int, query: str, *headers: tuple[str, str], host: str = "") -> int:
    """Ask GraphQL by POST as JSON; return the status."""
    return status_of(port, post_request(port, query, headers, host or f"127.0.0.1:{port}"))


def post_request(port: int, query: str, headers: Headers, host: str) -> bytes:
    """Return a GraphQL request by POST as JSON."""
    return request_bytes("POST", "/graphql", (("Host", host), JSON, *headers), query_body(query))


def get(port: int, target: str, *headers: tuple[str, str]) -> int:
    """Send a GET; return the status."""
    return plain(port, "GET", target, *headers)


def plain(port: int, method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> int:
    """Send one request under the page's own address; return the status."""
    own = ("Host", f"127.0.0.1:{port}")
    return status_of(port, request_bytes(method, target, (own, *headers), body))


def upgrade(port: int, *headers: tuple[str, str], host: str = "") -> int:
    """Ask for a socket; return the status, 101 if it is opened."""
    own = ("Host", host or f"127.0.0.1:{port}")
    head = request_bytes("GET", "/graphql", (own, *_UPGRADE, *headers))
    return status_of(port, head.replace(b"Connection: close", b"Connection: Upgrade"))


def request_bytes(method: str, target: str, headers: Headers, body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire; the connection ends with its answer."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def fetch(port: int, target: str) -> bytes:
    """Return the whole answer to a GET, head and body."""
    return exchange(port, request_bytes("GET", target, (("Host", f"127.0.0.1:{port}"),)))


def status_of(port: int, request: bytes) -> int:
    """Return the status of the answer, 0 when the connection ends without one."""
    words = exchange(port, request, most=64).split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def exchange(port: int, request: bytes, most: int = 10_000_000) -> bytes:
    """Send a request and return the answer, or what came of the first `most` bytes of it."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        with contextlib.suppress(OSError):  # a refusal may come before all of a huge body is sent
            client.sendall(request)
        while len(answer) < most:
            try:
                some = client.recv(65_536)
            except OSError:
                break
            if not some:
                break
            answer += some
    return answer


@contextmanager
def running_page(home: Path, port: int, log: Path | None = None) -> Iterator[int]:
    """Run the real `kb ui` on a home while the block runs; yield its port."""
    command = [sys.executable, "-m", "kb_serve.cli", "ui", "--home", str(home)]
    with (log or Path(os.devnull)).open("wb") as output:
        page = subprocess.Popen(
            [*command, "--port", str(port)], env=environment(), stderr=output, stdout=output
        )
        try:
            _await(page, lambda: get(port, "/server_info") == 200)
            yield port
        finally:
            page.terminate()
            page.wait(30)


def _await(page: subprocess.Popen[bytes], is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while page.poll() is None and time.monotonic() < deadline:
        try:
            if is_ready():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("`kb ui` did not answer; run it by hand to see why")


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment() -> Mapping[str, str]:
    """Return an environment in which no vectors are made."""
    return {**os.environ, "KB_EMBEDDER__ENGINE": "none"}
