"""Say when a passage was written: the dated heading above it, else the note's date. Pure.

Running logs keep their entries under headings such as `## 2024-05-02`. Statements there carry
the heading's date, and so win over older entries of the same note.
"""

import datetime as dt
import re

from kb_core.dates import find_date, last_instant

# "What the board said on 2 May 2024 about the controller" speaks about a day; it is not one.
_MOST_WORDS = 8
_MOST_BYTES = 100  # the same for scripts without spaces: 33 Chinese characters
_DIGIT = re.compile(r"\d")


def heading_date(heading: str) -> str | None:
    """Return the partial date that a heading gives to what stands below it, if any.

    >>> heading_date("2 May 2024, call with Ana"), heading_date("Plans for 2025")
    ('2024-05-02', None)
    """
    if not _DIGIT.search(heading) or len(heading.encode()) > _MOST_BYTES:
        return None
    return find_date(heading) if len(heading.split()) <= _MOST_WORDS else None


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
