"""Show the board as one HTML page without a script. Rendering is pure: a board and a time in.

Text is escaped by the template engine, and control and direction characters of names are made
visible; nothing but this page's own style sheet may load.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from kb_core.errors import KbError
from kb_serve.board.charts import Line, Point, line
from kb_serve.board.data import MEASURE, Board, FolderState, Scored
from kb_serve.board.steps import steps, time_left
from kb_serve.board.upkeep import SHOWN_ROWS
from kb_serve.output import counted, duration, visible

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'",
    "cache-control": "no-store",
}
# Measures as they are drawn: the line's own name, and how it is told from the others.
DRAWN = {"recall_at_10": "recall@10", "mrr": "mrr", "fact_recall_at_8k": "fact_recall@8k"}
# Drawings are stretched to the width there is, so their units are only proportions.
CHART = (600.0, 160.0)
SPARK = (96.0, 22.0)

_HERE = Path(__file__).parent
_DAY = 86_400
_COUNTS = ("files", "indexed", "skipped", "failed", "texts", "with_vectors")


def make_board(gather: Callable[[], Board]) -> Starlette:
    """Return the board's application; `gather` is asked anew for each reader."""

    def show(_request: Request) -> Response:
        now = dt.datetime.now(dt.UTC)
        try:
            return HTMLResponse(render(gather(), now), headers=HEADERS)
        except KbError as problem:
            return HTMLResponse(render_problem(str(problem)), 500, headers=HEADERS)

    def style(_request: Request) -> Response:
        return FileResponse(_HERE / "style.css", media_type="text/css")

    return Starlette(routes=[Route("/board", show), Route("/board/style.css", style)])


def render(board: Board, now: dt.datetime) -> str:
    """Return the page for a board as it is at `now`."""
    return (
        _templates()
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
            shown_rows=SHOWN_ROWS,
            now=now,
        )
    )


def render_problem(problem: str) -> str:
    """Return the page for a home that cannot be read."""
    return _templates().get_template("problem.html").render(problem=problem)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    loader = FileSystemLoader(_HERE)
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.filters |= {"ago": _ago, "moment": _moment, "counted": counted, "duration": duration}
    made.filters |= {"lower_first": _lower_first}
    made.filters |= {
        "words": _words,
        "from_iso": dt.datetime.fromisoformat,
        "from_epoch": _from_epoch,
    }
    return made


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


def _words(text: str) -> Markup:
    """Show text, escaped; what stands between backticks as code, as our messages mean it."""
    parts = [escape(visible(part)) for part in text.split("`")]
    shown = [Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(parts)]
    return Markup("").join(shown)


def _lower_first(text: str) -> str:
    """Say a title in the middle of a sentence."""
    return text[:1].lower() + text[1:]


def _ago(then: dt.datetime, now: dt.datetime) -> str:
    """Say how long ago something was, as roughly as a person would."""
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < _DAY:
        return f"{duration(seconds)} ago"
    return f"{counted(int(seconds // _DAY), 'day')} ago"


def _moment(then: dt.datetime) -> str:
    """Say when something was, by this machine's clock."""
    return f"{then.astimezone():%-d %b %Y, %H:%M}"


def _from_epoch(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
