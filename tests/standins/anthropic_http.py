"""A small HTTP server on the loopback, in a thread of its own: many slow answers at once.

It knows what a stand-in needs and a finished server does not give: to break a connection in the
middle of an answer, to start and stop in a moment, and to count what is in flight.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Call:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in lower case
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What is answered, and where the connection breaks on the way."""

    status: int
    pieces: tuple[bytes, ...]
    headers: dict[str, str] = field(default_factory=dict)
    break_after: int | None = None  # bytes of the answer; -1: before its head
    pause_seconds: float = 0.0  # between pieces


Handler = Callable[[Call], Awaitable[Reply]]


class LoopServer:
    """Answer by a handler until it is stopped."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self.sockets = 0  # connections ever made
        self.in_flight = 0
        self.most_in_flight = 0
        self._handler, self._port = handler, port
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> str:
        """Begin to answer, and return the address."""
        self._thread.start()
        self._ready.wait()
        return f"http://127.0.0.1:{self._port}"

    def stop(self) -> None:
        """Break every connection and end."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        self._end = asyncio.Event()
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, backlog=512, limit=1 << 20
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.sockets += 1
        try:
            while call := await _read(reader):
                if not await self._answered(call, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the server is told to end
        finally:
            self._tasks.discard(task)
            writer.transport.abort() if self._end.is_set() else writer.close()

    async def _answered(self, call: Call, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection goes on."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            reply = await self._handler(call)
        finally:
            self.in_flight -= 1
        if reply.break_after == -1:
            writer.transport.abort()
            return False
        body = b"".join(reply.pieces)
        if reply.break_after is not None:
            writer.write(_head(reply, len(body)) + body[: reply.break_after])
            await writer.drain()
            return False
        pieces = reply.pieces or (b"",)
        writer.write(_head(reply, len(body)) + pieces[0])
        for piece in pieces[1:]:
            await writer.drain()
            await asyncio.sleep(reply.pause_seconds)
            writer.write(piece)
        await writer.drain()
        return True


async def _read(reader: asyncio.StreamReader) -> Call | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None  # the client closed a connection that it kept
    first, *lines = head.strip().split("\r\n")
    method, target, _version = first.split(" ")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    return Call(method, parts.path, dict(parse_qsl(parts.query)), headers, body)


def _head(reply: Reply, size: int) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    lines += [f"content-length: {size}", "", ""]
    return "\r\n".join(lines).encode("latin-1")
