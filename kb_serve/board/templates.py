"""The page's templates and how values are shown in them. Every text is escaped."""

import datetime as dt
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from kb_core.money import dollars
from kb_serve.board.spending import about, asked_about, cents
from kb_serve.output import counted, duration, visible

HERE = Path(__file__).parent
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'"
    ),
    "cache-control": "no-store",
}

_DAY = 86_400


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the templates; control and direction characters of names are made visible."""
    loader = FileSystemLoader(HERE)
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.filters |= {"ago": _ago, "moment": _moment, "counted": counted, "duration": duration}
    made.filters |= {"lower_first": _lower_first, "day": _day}
    made.filters |= {
        "words": _words,
        "from_iso": dt.datetime.fromisoformat,
        "from_epoch": _from_epoch,
    }
    made.filters |= {"cents": cents, "about": about, "exact": dollars, "asked_about": asked_about}
    return made


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


def _day(day: str) -> str:
    """Say a day of the ledger, which counts by UTC."""
    return f"{dt.date.fromisoformat(day):%-d %b}"


def _from_epoch(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
