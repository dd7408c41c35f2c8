"""Run the guarded page, the daemon and the code server of a home, and stop all of them together.

Whatever ends this process (Ctrl-C, SIGTERM, a closed terminal, SIGKILL) ends its children and
their runs; and if one of them ends, all do. Nothing is left behind.
"""

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kb_core.errors import BusyError, SettingsError
from kb_serve.output import say
from resources.home import Home
from resources.ports import is_free

LOG = "dagster/page.log"  # below the home's data: what runs and the daemon print
EXPLAINED = 3  # a role ends with this status when it has said why

_HOST = "127.0.0.1"
_ASK_SECONDS = 8.0
_INSIST_SECONDS = 2.0
_POLL_SECONDS = 0.2
_SETTINGS = {
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    # A sensor reads a folder before it asks for its run: minutes, on a slow network drive.
    "DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": "600",
}
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Process = subprocess.Popen[bytes]


def serve(home: Home, port: int) -> int:
    """Serve until interrupted; return the exit status.

    Raises BusyError if the port is taken or this home's page is open already, SettingsError for
    a port that is not ours to use.
    """
    with _alone(home), _listening(port) as listener:
        return _run(home, listener, port)


@contextlib.contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Keep a second page from this home: two daemons would start each other's runs."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(home.leases.hold("page", wait_seconds=0))
        except BusyError:
            raise BusyError(
                f"The page of {home.root} is open already. Use that one, or stop it first."
            ) from None
        yield


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """Take the port at once: nobody else can between looking and starting."""
    taken = f"Port {port} is taken. Choose another: `kb ui --port {port + 1}`."
    if not is_free(port):
        raise BusyError(taken)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                raise BusyError(taken) from None
            raise SettingsError(
                f"Port {port} cannot be used ({problem.strerror}). Choose one above 1023."
            ) from None
        listener.listen(128)
        yield listener


def _run(home: Home, listener: socket.socket, port: int) -> int:
    for sign in _ENDINGS:
        # Under nohup a closed terminal is meant to end nothing.
        if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:
            signal.signal(sign, signal.default_int_handler)
    processes: dict[str, Process] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="kb-page-") as scratch:
            where = str(Path(scratch) / "code")
            shared = listener.fileno()
            processes["code"] = _start(home, ["code", where])
            processes["daemon"] = _start(home, ["daemon", where])
            processes["page"] = _start(home, ["page", where, str(port), str(shared)], shared)
            return _watch(home, processes, port)
    except KeyboardInterrupt:
        return 0
    finally:
        for sign in _ENDINGS:  # a second Ctrl-C must not leave half of them running
            signal.signal(sign, signal.SIG_IGN)
        _stop(list(processes.values()))


def _start(home: Home, arguments: list[str], *shared: int) -> Process:
    """Start one role in a group of its own, held by a pipe that ends when this process does."""
    return subprocess.Popen(
        # -P: the home is no place to import from, a file there could be taken for a package.
        [sys.executable, "-P", "-W", "ignore", "-m", "kb_serve.page_server", *arguments],
        cwd=home.root,
        env={**os.environ, **_SETTINGS, "KB_HOME": str(home.root)},
        stdin=subprocess.PIPE,
        pass_fds=shared,
        start_new_session=True,
    )


def _watch(home: Home, processes: dict[str, Process], port: int) -> int:
    """Say when the page answers; return 1 as soon as one process ends."""
    is_said = False
    while True:
        for role, process in processes.items():
            if process.poll() is not None:
                if process.returncode != EXPLAINED:
                    say(
                        f"The {role} process ended by itself, so the page stops. "
                        f"{home.data / LOG} may say why; start the page again."
                    )
                return 1
        if not is_said and _answers(port):
            is_said = True
            say(f"http://{_HOST}:{port} answers, http://{_HOST}:{port}/board is the board.")
        time.sleep(_POLL_SECONDS)


def _answers(port: int) -> bool:
    """Tell whether the page answers a request; connecting alone says nothing."""
    request = f"HEAD /board/style.css HTTP/1.1\r\nHost: {_HOST}:{port}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection((_HOST, port), timeout=0.5) as client:
            client.sendall(request.encode())
            return client.recv(5) == b"HTTP/"
    except OSError:
        return False


def _stop(processes: list[Process]) -> None:
    """End all processes and what they started: ask first, then insist.

    Each is asked once: a second signal would cut a run off while it notes that it was stopped.
    """
    for sign, seconds in ((signal.SIGINT, _ASK_SECONDS), (signal.SIGTERM, _INSIST_SECONDS)):
        left = [process for process in processes if _signal(process, sign)]
        deadline = time.monotonic() + seconds
        while left and time.monotonic() < deadline:
            time.sleep(0.05)
            left = [process for process in left if _signal(process, 0)]
    for process in processes:
        _signal(process, signal.SIGKILL)
        process.wait()
        if process.stdin:
            process.stdin.close()


def _signal(process: Process, sign: int) -> bool:
    """Send a signal to the whole group; tell whether anybody is left in it."""
    process.poll()  # takes the leader's status, so that it stops being there
    try:
        os.killpg(process.pid, sign)
    except ProcessLookupError:
        return False
    return True
