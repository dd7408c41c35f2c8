"""Run Dagster's page and daemon for a home, and stop both together."""

import os
import signal
import subprocess
import sys
import time

from kb_assets.placeholders.listing import register_vault
from kb_core.errors import BusyError, KbError
from kb_serve.dagster_instance import open_instance
from kb_serve.output import say
from resources.home import Home
from resources.ports import is_free

_ASK_SECONDS = 5.0


def serve(home: Home, port: int) -> int:
    """Serve until interrupted; return the exit status. Raises BusyError if the port is taken."""
    if not is_free(port):
        raise BusyError(f"Port {port} is taken. Choose another: `kb ui --port {port + 1}`.")
    try:
        register_vault(home)
    except KbError as problem:
        say(f"The folders could not be listed: {problem}")
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
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
    for sign, seconds in ((signal.SIGINT, _ASK_SECONDS), (signal.SIGTERM, _ASK_SECONDS)):
        if not _signal(process, sign):
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and _signal(process, 0):
            process.poll()  # takes the leader's status, so that it stops being there
            time.sleep(0.1)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen, sign: int) -> bool:
    """Send a signal to the whole group; tell whether anybody is left in it."""
    try:
        os.killpg(process.pid, sign)
    except ProcessLookupError:
        return False
    return True
