"""Show the board as one HTML page without a script. Rendering is pure: a board and a time in.

Text is escaped by the template engine, and control and direction characters of names are made
visible; nothing but this page's own style sheet may load.
"""

import datetime as dt
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from kb_core.errors import KbError
from kb_core.money import DOLLAR
from kb_serve.board.charts import Bars, Line, Point, bars, line
from kb_serve.board.data import MEASURE, Board, FolderState, Scored
from kb_serve.board.deciding import Deciding
from kb_serve.board.spending import Spending
from kb_serve.board.steps import steps, time_left
from kb_serve.board.templates import HEADERS, HERE, templates
from kb_serve.board.upkeep import SHOWN_ROWS

# Measures as they are drawn: the line's own name, and how it is told from the others.
DRAWN = {"recall_at_10": "recall@10", "mrr": "mrr", "fact_recall_at_8k": "fact_recall@8k"}
# Drawings are stretched to the width there is, so their units are only proportions.
CHART = (600.0, 160.0)
SPARK = (96.0, 22.0)

_COUNTS = ("files", "indexed", "skipped", "failed", "texts", "with_vectors")


def make_board(gather: Callable[[], Board], deciding: Deciding | None = None) -> Starlette:
    """Return the board's application; `gather` is asked anew for each reader.

    Without `deciding` nothing can be approved there.
    """

    def show(_request: Request) -> Response:
        now = dt.datetime.now(dt.UTC)
        try:
            return HTMLResponse(render(gather(), now), headers=HEADERS)
        except KbError as problem:
            return HTMLResponse(render_problem(str(problem)), 500, headers=HEADERS)

    def style(_request: Request) -> Response:
        return FileResponse(HERE / "style.css", media_type="text/css")

    routes = [Route("/board", show), Route("/board/style.css", style)]
    return Starlette(routes=[*routes, *(deciding.routes() if deciding else ())])


def render(board: Board, now: dt.datetime) -> str:
    """Return the page for a board as it is at `now`."""
    return (
        templates()
        .get_template("board.html")
        .render(
            board=board,
            steps=steps(board),
            lines=_drawn(board.scores),
            answering=_answering(board),
            chart=CHART,
            spark=SPARK,
            sparks={f.counts["partition"]: _spark(f) for f in board.folders},
            totals=_totals(board.folders),
            time_left=time_left(board),
            days=_days(board.spending),
            running=_running(board.folders),
            shown_rows=SHOWN_ROWS,
            now=now,
        )
    )


def render_problem(problem: str) -> str:
    """Return the page for a home that cannot be read."""
    return templates().get_template("problem.html").render(problem=problem)


def _drawn(scores: Sequence[Scored]) -> list[Line]:
    lines = (line(DRAWN[key], [s.figures.get(key) for s in scores], *CHART) for key in DRAWN)
    return [each for each in lines if each]


def _answering(board: Board) -> Point | None:
    """Return where the build that answers stands among the scored ones, if it does."""
    found = [1.0 if each.build == board.answers else None for each in board.scores]
    drawn = line("answers", found, *CHART)
    return drawn.last if drawn else None


def _spark(folder: FolderState) -> Line | None:
    values = [scored.figures.get(f"{MEASURE}_whole") for scored in folder.scores]
    return line(DRAWN[MEASURE], values, *SPARK)


def _totals(folders: Sequence[FolderState]) -> dict[str, int]:
    sums = {name: sum(folder.counts[name] for folder in folders) for name in _COUNTS}
    waiting = sum(folder.waiting for folder in folders)
    return {**sums, "pending": sum(f.pending for f in folders), "waiting": waiting}


def _days(spending: Spending) -> Bars | None:
    return bars([day.spent_nano / DOLLAR for day in spending.days], *CHART)


def _running(folders: Sequence[FolderState]) -> set[str]:
    """Return the folders that are read right now."""
    return {f.counts["partition"] for f in folders if f.run and f.run.state == "running"}
