"""Run Dagster's page and daemon for a home, and stop both together."""

import os
import signal
import subprocess
import sys

from kb_core.errors import BusyError
from kb_serve.dagster_instance import open_instance
from resources.home import Home
from resources.ports import is_free

_STOP_SECONDS = 10.0


def serve(home: Home, port: int) -> int:
    """Serve until interrupted; return the exit status. Raises BusyError if the port is taken."""
    if not is_free(port):
        raise BusyError(f"Port {port} is taken. Choose another: `kb ui --port {port + 1}`.")
    with open_instance(home):
        pass  # works from the home, and every folder is a partition before the page opens
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "dagster",
        "dev",
        "--module-name",
        "kb_serve.definitions",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    # Its own group: `dagster dev` leaves its children behind when only it is told to stop.
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        _stop(process)


def _stop(process: subprocess.Popen) -> None:
    """End the page, the daemon and their code servers: ask first, then insist."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            return
        try:
            process.wait(_STOP_SECONDS / 2)
        except subprocess.TimeoutExpired:
            continue
