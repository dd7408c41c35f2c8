"""What was odd about a note, without a word of its text.

A finding says that a note was read in a lesser way than it was written for. It never stops a
note. Its detail holds counts, positions and class names only, because findings are shown where
note text must not be. Pure.
"""

from typing import NamedTuple

WINDOWS_1252 = "encoding-windows-1252"  # not UTF-8: read as Windows text
BAD_BYTES = "encoding-bad-bytes"  # some bytes mean nothing in the note's encoding
NUL_BYTES = "nul-bytes"  # replaced, because no table and no search can hold them
NOT_TEXT = "not-text"  # a picture or program under a note's name: nothing of it is read
YAML_BROKEN = "front-matter-broken"  # read line by line instead
YAML_REFUSED = "front-matter-refused"  # too large, too deep, or with anchors: read by line
DUPLICATE_KEY = "front-matter-duplicate-key"  # the last one counts
NO_PROPERTIES = "front-matter-without-properties"  # two rules around text: read as text
DATE_UNREADABLE = "date-unreadable"  # a date property holds no date that can be read
FILE_TIME_DROPPED = "file-time-dropped"  # a copy or sync set most file times of that listing
CONTENT_MISSING = "content-missing"  # the journal knows the version, its bytes are gone
TITLE_CUT = "title-cut"  # longer than a title may be
ALIASES_CUT = "aliases-cut"  # more, or longer ones, than a note may have
READ_PLAINLY = "read-plainly"  # from here on no Markdown: the text would take too long to read
PARSE_FAILED = "parse-failed"  # kept as plain text; the detail names the exception's class


class Finding(NamedTuple):
    """A code from this module, and counts or positions."""

    code: str
    detail: str = ""
