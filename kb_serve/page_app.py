"""What the page's server serves: Dagster's page and the board, both behind the guard."""

from typing import Any

import dagster as dg
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_serve.board.data import Board, gather
from kb_serve.board.deciding import Deciding
from kb_serve.board.page import make_board
from kb_serve.board.runs import last_runs, passages_per_second
from kb_serve.guard import Guard
from resources.home import Home

BOARD = "/board"


def make_app(context: Any, home: Home, port: int) -> ASGIApp:
    """Return the whole application for one port, over Dagster's workspace context."""
    deciding = Deciding(home, context.instance.report_runless_asset_event)
    board = make_board(lambda: board_of(home, context.instance), deciding)
    dagster = create_app_from_workspace_process_context(context)

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_board = scope["type"] == "http" and f"{scope['path']}/".startswith(f"{BOARD}/")
        await (board if is_board else dagster)(scope, receive, send)

    return Guard(choose, port)


def board_of(home: Home, instance: dg.DagsterInstance) -> Board:
    """Return the home's board as it is now."""
    runs = last_runs(instance, sorted(home.folders()))
    return gather(home, runs, passages_per_second(instance))
