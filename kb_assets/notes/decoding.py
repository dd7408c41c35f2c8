"""Turn a note's bytes into text, whatever wrote them. Pure, and never raises.

UTF-8 and UTF-16 are read with and without a byte order mark, which is not part of the text. Line
breaks stay as they are. What cannot be read is replaced, one U+FFFD each, and a finding says so.
Bytes that are no text at all give none.
"""

import codecs
from typing import NamedTuple

from kb_assets.notes.findings import BAD_BYTES, NOT_TEXT, NUL_BYTES, WINDOWS_1252, Finding

_MARKS = (  # UTF-32 first: its mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNREADABLE = "\ufffd"
_SAMPLE_BYTES = 4_096
# What no text holds many of: bytes that mean nothing, and control characters but for white space
# and escape, which recordings of a terminal are full of.
_NOT_OF_TEXT = bytes(sorted({*range(32), 127} - {*b"\t\n\x0b\x0c\r\x1b"}))
_MOST_OF_THEM = 0.05
_FEWEST_CHARACTERS = 1_000  # a shorter text with many of them is somebody's example


class Decoded(NamedTuple):
    """A note's text, the encoding it was in, and what was odd about it."""

    text: str
    encoding: str
    findings: tuple[Finding, ...]


def decode(data: bytes) -> Decoded:
    """Decode a note's bytes."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _finish(*_lenient(data[len(mark) :], encoding))
    wide = _unmarked_utf16(data)
    if wide:
        return _finish(*_lenient(data, wide))
    try:
        return _finish(data.decode("utf-8"), "utf-8", ())
    except UnicodeDecodeError:
        return _finish(*_not_utf8(data))


def _lenient(data: bytes, encoding: str) -> tuple[str, str, tuple[Finding, ...]]:
    try:
        return data.decode(encoding), encoding, ()
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, encoding, (Finding(BAD_BYTES, f"{text.count(_UNREADABLE)} replaced"),)


def _unmarked_utf16(data: bytes) -> str | None:
    """Name the byte order of UTF-16 without a mark, where it is obvious.

    Western text in UTF-16 is half NUL bytes, all on the same side of each pair.
    """
    sample = data[:_SAMPLE_BYTES]
    if len(sample) < 4 or len(data) % 2:
        return None
    first, second = sample[::2].count(0), sample[1::2].count(0)
    few, many = len(sample) // 20, len(sample) // 5
    if second >= max(2, many) and first <= few:
        return "utf-16-le"
    if first >= max(2, many) and second <= few:
        return "utf-16-be"
    return None


def _not_utf8(data: bytes) -> tuple[str, str, tuple[Finding, ...]]:
    """Choose between damaged UTF-8 and Windows-1252.

    Letters of Windows-1252 hardly ever form a valid UTF-8 sequence. Where more sequences are
    valid than broken, the text is UTF-8, and one torn byte must not garble the rest.
    """
    text = data.decode("utf-8", "replace")
    broken = text.count(_UNREADABLE)
    valid = sum(char > "\x7f" for char in text) - broken
    if valid > broken:
        return text, "utf-8", (Finding(BAD_BYTES, f"{broken} replaced"),)
    text = data.decode("windows-1252", "replace")
    unknown = text.count(_UNREADABLE)
    findings = (Finding(BAD_BYTES, f"{unknown} replaced"),) if unknown else ()
    return text, "windows-1252", (Finding(WINDOWS_1252), *findings)


def _finish(text: str, encoding: str, findings: tuple[Finding, ...]) -> Decoded:
    if _is_no_text(text):
        return Decoded("", encoding, (Finding(NOT_TEXT, f"{len(text)} characters"),))
    nuls = text.count("\0")
    if nuls:
        text = text.replace("\0", _UNREADABLE)
        findings = (*findings, Finding(NUL_BYTES, f"{nuls} replaced"))
    return Decoded(text, encoding, findings)


def _is_no_text(text: str) -> bool:
    if len(text) < _FEWEST_CHARACTERS:
        return False
    data = text.encode("utf-8", "surrogatepass")
    # One pass over the bytes; a search for each character takes eight times as long.
    controls = len(data) - len(data.translate(None, _NOT_OF_TEXT))
    return controls + text.count(_UNREADABLE) > _MOST_OF_THEM * len(text)
