"""Hide `%%comments%%` from every later pass, keeping all other bytes where they are. Pure, linear.

A comment that starts its line may span paragraphs; one inside a line ends with its paragraph, so
that two stray percent signs far apart hide nothing. Without a closing `%%` there is no comment.
"""

import re

from kb_assets.notes.spans import Spans

_BLANK_LINE = re.compile(rb"\n[ \t]*\n")
_PIECE = re.compile(rb"[^\r\n]+")
_LINE_END = re.compile(rb"[ \t]*(?:[\r\n]|\Z)")
_CODE_MARK = re.compile(rb"[`~$<]")

# A control character: no white space, which would turn an inline comment at the start of a line
# into the indent of a code block, and nothing that Markdown knows.
FILLER = "\x01"


def hide_comments(
    data: bytes, code: Spans, at: int = 0, *, stops: bool = False
) -> tuple[bytes, int]:
    """Overwrite comments from a byte on that do not open in code. The length stays the same.

    Returns the text and -1. If it `stops`, it does so behind a comment that holds a mark of code,
    and returns where: some of what follows may have been code only because of that mark, and the
    caller asks anew what is.
    """
    pieces: list[bytes] = []
    done = 0
    while (start := data.find(b"%%", at)) >= 0:
        end = data.find(b"%%", start + 2)
        if end < 0:
            break
        if code.covers(start):
            at = start + 2
        elif not _starts_line(data, start) and _BLANK_LINE.search(data, start, end):
            at = end  # no comment; the second mark may open one
        else:
            pieces += [data[done:start], _hidden(data, start, end + 2)]
            done = at = end + 2
            if stops and _CODE_MARK.search(data, start, end):
                return b"".join([*pieces, data[done:]]), at
    return b"".join([*pieces, data[done:]]), -1


def _starts_line(data: bytes, at: int) -> bool:
    while at and data[at - 1] in b" \t":
        at -= 1
    return at == 0 or data[at - 1] in b"\r\n"


def _hidden(data: bytes, start: int, end: int) -> bytes:
    """Blank out lines that are all comment, and fill what stands beside other text."""

    def fill(piece: re.Match[bytes]) -> bytes:
        begins = piece.start() > 0 or _starts_line(data, start)
        ends = piece.end() < end - start or _LINE_END.match(data, end)
        return (b" " if begins and ends else FILLER.encode()) * len(piece[0])

    return _PIECE.sub(fill, data[start:end])
