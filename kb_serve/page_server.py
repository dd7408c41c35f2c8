"""The three processes behind `kb ui`: `python -m kb_serve.page_server ROLE SOCKET [PORT FD]`.

`code` holds the definitions and starts runs, `daemon` evaluates sensors and the queue, `page`
answers browsers behind the guard. They find each other by a socket file that only this user can
open. Each one ends, and everything it started, when its standard input does: when whoever started
it is gone, however that came about.
"""

import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

import dagster as dg
from dagster._core.workspace.load_target import GrpcServerTarget

from kb_assets.placeholders.listing import register_vault
from kb_core.errors import KbError
from kb_serve.dagster_instance import open_instance
from kb_serve.dagster_page import EXPLAINED, LOG
from kb_serve.output import say
from resources.home import Home

_LOCATION = "knowledge_base"
_START_SECONDS = 90.0
_END_SECONDS = 5.0
_LEVEL = "WARNING"


def main() -> None:
    """Run one role until told to stop."""
    role, where, *more = sys.argv[1:]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    warnings.filterwarnings("ignore")
    try:
        home = Home.open(Path(os.environ["KB_HOME"]))
        if role == "code":
            _serve_code(home, where)
        elif role == "daemon":
            _run_daemon(home, where)
        else:
            port, descriptor = (int(number) for number in more)
            _serve_page(home, where, port, descriptor)
    except KbError as problem:
        say(f"kb: {problem}")
        sys.exit(EXPLAINED)
    except KeyboardInterrupt:
        pass


def _end_with_parent() -> None:
    """Wait for the end of standard input, then end this process's whole group."""
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os.killpg(0, signal.SIGINT)
    time.sleep(_END_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _serve_code(home: Home, where: str) -> None:
    from dagster._cli.api import api_cli

    _register(home)
    _write_log(home, os.O_TRUNC)
    arguments = ["grpc", "--socket", where, "--module-name", "kb_serve.definitions"]
    arguments += ["--location-name", _LOCATION, "--empty-working-directory", "--log-level", _LEVEL]
    api_cli.main(arguments, standalone_mode=False)


def _register(home: Home) -> None:
    """Make every folder a partition, and Dagster's databases, before anybody else opens them."""
    try:
        register_vault(home)
    except KbError as problem:
        say(f"The folders could not be listed: {problem}")
    with open_instance(home):
        pass


def _write_log(home: Home, how: int) -> None:
    """Send what this process and its runs print to a file: the terminal shows refusals alone."""
    path = home.data / LOG
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | how, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)


def _run_daemon(home: Home, where: str) -> None:
    from dagster._daemon.controller import daemon_controller_from_instance

    _await_code(where)
    _write_log(home, os.O_APPEND)
    with (
        dg.DagsterInstance.from_config(str(home.root)) as instance,
        daemon_controller_from_instance(instance, _target(where), log_level=_LEVEL) as controller,
    ):
        controller.check_daemon_loop()


def _serve_page(home: Home, where: str, port: int, descriptor: int) -> None:
    import uvicorn
    from dagster._core.workspace.context import WorkspaceProcessContext

    from kb_serve.page_app import make_app

    logging.basicConfig(format="kb ui: %(message)s", level=logging.WARNING)
    _await_code(where)
    with (
        dg.DagsterInstance.from_config(str(home.root)) as instance,
        WorkspaceProcessContext(instance, _target(where), version=dg.__version__) as context,
        socket.socket(fileno=descriptor) as listener,
    ):
        config = uvicorn.Config(
            make_app(context, home, port),
            http="h11",  # strict: refuses what proxies and servers read in two ways
            ws="websockets-sansio",
            ws_max_size=1_000_000,
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])


def _target(where: str) -> GrpcServerTarget:
    return GrpcServerTarget(host="localhost", port=None, socket=where, location_name=_LOCATION)


def _await_code(where: str) -> None:
    """Wait until the code server answers; its parent notices when it never will."""
    from dagster._core.errors import DagsterUserCodeUnreachableError
    from dagster._grpc.client import DagsterGrpcClient

    client = DagsterGrpcClient(socket=where)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(DagsterUserCodeUnreachableError):
            client.ping("")
            return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
