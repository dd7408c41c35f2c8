"""A web address on the loopback that keeps what it is sent."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ListeningPost:
    """What came, and where."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.messages: list[dict[str, Any]] = []
        self.paths: list[str] = []


@contextmanager
def listening_post(status: int = 200, delay: float = 0) -> Iterator[ListeningPost]:
    """Answer every POST with a status, after a while; a redirect leads to /elsewhere."""
    stop = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            post.paths.append(self.path)
            post.messages.append(json.loads(body))
            stop.wait(delay)
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            post.paths.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_given: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    post = ListeningPost(f"http://127.0.0.1:{server.server_port}/hook/secret-token")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield post
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()
