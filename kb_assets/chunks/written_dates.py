"""Say when a passage was written: the dated heading above it, else the note's date. Pure.

Running logs keep their entries under headings such as `## 2024-05-02`. Statements there carry
the heading's date, and so win over older entries of the same note. Other headings only name a
day: the next meeting, the budget of a year. The rule that tells them apart:

- The date opens the heading (`2024-05-02 Review`; a weekday or "Week of" may precede it) or
  closes it (`Call with Gwen, 2 May 2024`). Inside a heading it is what the heading is about, and
  so it is after a colon (`Deadline: 2 May 2024`) and after a word that points at it (`Substitute
  for 2 May 2024`). Of a heading of many words, only a day that opens it counts.
- A year alone counts only if it is the whole heading of a note that has no date of its own.
- A note whose file name holds a day (minutes, a daily note) is about that day: only a heading
  that is a day and nothing else begins an entry of another one.

Chunks never mix entries, so what counts as a dated heading also decides where a log is cut.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from kb_assets.chunks.prose import display_text
from kb_core.dates import find_date, last_instant, parse_date


class Own(Enum):
    """What a note's own date leaves for its headings to say."""

    UNDATED = "undated"  # no date, or only that of its file
    DATED = "dated"
    NAMED_AFTER_A_DAY = "named after a day"


_YEAR, _DAY = len("2024"), len("2024-05-02")  # a partial date's length is its precision
_MOST_WORDS = 8  # more is a sentence about a date, unless a day opens it
_MOST_BYTES = 100  # the same for scripts without spaces: 33 Chinese characters
_LONGEST_DATE = 7  # words: Thursday, 2 de mayo de 2024 10:00
_DIGIT = re.compile(r"\d")
_BETWEEN_WORDS = re.compile(
    r"(?<!\S)#[^\W\d][\w/-]*"  # a tag
    r"|[\s()\[\]<>{}「」『』【】“”„«»\"|*~`–—]+"
    # Between a date and the Chinese or Japanese words it touches.
    r"|(?<=[^\W\d_])(?=[12][0-9]{3}\s?[年년])|(?<=[日号號일月월])(?=[^\W\d_])"
)
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_BEFORE_DATE = re.compile(
    r"^(?:week(?: of| from| commencing| beginning| ending)?|w/c|on|semana del?|woche (?:vom|ab))"
    r"(?: the)? ",
    re.IGNORECASE,
)
_POINTING_WORDS = """
    after before by for from in since through till to until why
    ab bis für im nach seit vor desde en hasta para por
"""
_POINTING = frozenset(_POINTING_WORDS.split())


def own_date(note: Mapping[str, Any]) -> Own:
    """Tell what kind of date a note has. Takes a row of the notes table."""
    date = note["note_date"]
    if date is None or note["date_is_weak"]:
        return Own.UNDATED
    in_name = date if note["date_basis"] == "file name" else _date_in_name(note["note_id"])
    return Own.NAMED_AFTER_A_DAY if in_name and len(in_name) == _DAY else Own.DATED


def _date_in_name(note_id: str) -> str | None:
    return find_date(note_id.rpartition("/")[2].rpartition(".")[0])


def heading_date(heading: str, own: Own = Own.UNDATED) -> str | None:
    """Return the partial date that a heading gives to what stands below it, if any.

    >>> heading_date("2 May 2024, call with Ana"), heading_date("Plans for May 2025")
    ('2024-05-02', None)
    """
    if not _DIGIT.search(heading):
        return None
    shown = unicodedata.normalize("NFKC", display_text(heading))
    words = _EDGES.sub("", _BETWEEN_WORDS.sub(" ", shown)).split()
    if not find_date(" ".join(words)):  # no plausible day or month: 31 June 2024, 1024
        return None
    whole = _read(words)
    if own is Own.NAMED_AFTER_A_DAY:
        return whole if whole and len(whole) == _DAY else None
    if whole:
        return whole if len(whole) > _YEAR or own is Own.UNDATED else None
    opening = _opening_date(words)
    if _is_short(words):
        return opening or _closing_date(words)
    return opening if opening and len(opening) == _DAY else None


def _is_short(words: Sequence[str]) -> bool:
    return len(words) <= _MOST_WORDS and len(" ".join(words).encode()) <= _MOST_BYTES


def _read(words: Sequence[str]) -> str | None:
    """Read words that are a date and nothing else but marks around it."""
    if len(words) > _LONGEST_DATE:
        return None
    return parse_date(_EDGES.sub("", " ".join(words)))


def _opening_date(words: Sequence[str]) -> str | None:
    words = _BEFORE_DATE.sub("", " ".join(words), count=1).split()
    ends = range(min(len(words), _LONGEST_DATE), 0, -1)
    dates = (_read(words[:end]) for end in ends)
    return next((date for date in dates if date and len(date) > _YEAR), None)


def _closing_date(words: Sequence[str]) -> str | None:
    for start in range(1, len(words)):
        date = _read(words[start:])
        if date and len(date) > _YEAR:
            before = words[start - 1]
            is_named = before.endswith(":") or before.casefold() in _POINTING
            return None if is_named else date
    return None


def available_at(
    heading: str | None, version_available_at: dt.datetime, observed_at: dt.datetime
) -> dt.datetime:
    """Return the instant from which as-of questions may see a passage.

    An entry cannot be seen before the day it is dated, unless its version was observed earlier:
    an entry about next month is readable today. The version's own instant is never undercut.
    """
    if heading is None:
        return version_available_at
    return max(version_available_at, min(last_instant(heading), observed_at))
