"""Read the dated lines of a running log: what they name entered a state. Pure, linear.

`- 2024-05-02: [[Harbour plan]] moved from Draft to Accepted.` A list line that begins with a date,
or stands under a dated heading, links to something and ends a clause with a word before a state
and the state: that thing has had the state since that day.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from kb_assets.extractions.note_text import LinkRow, NoteText, Piece
from kb_assets.extractions.observations import Said
from kb_assets.extractions.properties import SUGGESTION
from kb_assets.extractions.references import last_part, plain
from kb_core.dates import parse_date
from kb_core.names import is_unspaced
from kb_core.ontology import FACT, STATUS, Ontology
from kb_knowledge.records import NOTE, Reference

_LINE = re.compile(
    rb"^[ \t>]{0,40}(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,8}(?:\[.\][ \t]{1,8})?"
    rb"([^\n]*\](?:\]|\()[^\n]*)$",
    re.MULTILINE,
)
_DATE = re.compile(
    r"[*_~`(\[]{0,4}(?P<date>(?=[^:\[\]]{0,24}\d)[^\[\]:–—|()*]{4,24}?)[)\]*_~`]{0,4}"
    r"(?:\s*[:–—|,]|\s+-\s|\s+(?=!?\[)|\s*$)"
)
_LINKED_DATE = re.compile(r"[*_(]{0,3}\[\[(?P<date>[^\[\]|#]{4,24})(?:\|[^\[\]]{0,40})?\]\]")
_LONGEST_LINE = 1_000  # characters; more is a paragraph


def read_log_lines(said: Said, note: NoteText, ontology: Ontology) -> None:
    """Add a claim for every state that a dated line gives to what it links to."""
    states = _states(ontology.state_cues, ontology.state_words)
    for line in _LINE.finditer(note.data, note.body_start):
        start, end = line.span(1)
        links = note.links_between(start, end)  # none in code or in a comment
        piece = note.piece_at(start) if links else None
        if piece is not None:
            _read(said, note, piece, (start, line[1]), links, states)


def _read(
    said: Said,
    note: NoteText,
    piece: int,
    line: tuple[int, bytes],
    links: Iterable[LinkRow],
    states: re.Pattern[str],
) -> None:
    start, data = line
    text = data.decode("utf-8", "replace")
    date, after = _date(text, note.pieces[piece])
    about = next((each for each in links if _is_subject(each, start, text, after)), None)
    if date is None or about is None:
        return
    if len(text) > _LONGEST_LINE:
        said.counts["long_lines"] += 1
        return
    rest = plain(data[about.end - start :].decode("utf-8", "replace"))
    found = list(states.finditer(rest))
    if found:
        subject = Reference(NOTE, about.target)
        value, modality = found[-1]["state"], SUGGESTION if note.is_chat else FACT
        said.claim(piece, subject, (STATUS, value), text, "log", modality, (date, None))
        said.mention(piece, subject, "", "value", about.display or last_part(about.target))


def _date(text: str, piece: Piece) -> tuple[str | None, int]:
    """Return the date a line begins with, or its heading's, and how many characters it takes."""
    for form in (_LINKED_DATE, _DATE):
        found = form.match(text)
        date = _parsed(found["date"]) if found else None
        if found and date:
            return date, found.end("date")
    return (piece.written_date if piece.is_dated else None), 0


def _is_subject(link: LinkRow, start: int, text: str, after: int) -> bool:
    begins = link.start - start >= len(text[:after].encode())
    return begins and not link.is_address and bool(link.target) and not _parsed(link.target)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> str | None:
    return parse_date(text)


@lru_cache(maxsize=8)
def _states(cues: tuple[str, ...], words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile "word before a state, state, end of a clause"."""
    plain_cues = [re.escape(cue) for cue in cues if cue[:1].isalpha() and not is_unspaced(cue[0])]
    signs = [re.escape(cue) for cue in cues if not cue[:1].isalpha() or is_unspaced(cue[0])]
    before = rf"(?:(?<!\w)(?:{'|'.join(plain_cues)})\s{{1,3}}|(?:{'|'.join(signs)})\s{{0,3}})"
    state = "|".join(re.escape(word) for word in words)
    return re.compile(
        rf"{before}[\"'“„‘*_`]{{0,3}}(?P<state>{state})[\"'”“’*_`]{{0,3}}(?=\s{{0,3}}(?:$|[.,;:!?()。，；]))",
        re.IGNORECASE,
    )
