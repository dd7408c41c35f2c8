"""Cut what a chunk is found by into passages that a small model can hold in one vector.

A passage is a run of whole sentences or lines of about the size the profile asks for. All but
the first begin with the text's first line, its breadcrumb, so that a passage from the middle
still says what it is about. Nothing overlaps and nothing is lost. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence

VERSION = "1"  # raise it when the same text would be cut differently

CountTokens = Callable[[str], int]

_SENTENCE_END = re.compile(
    r"[.!?…]['\"”’»)\]*_`]{0,3}\s+"
    r"|[。！？；]['\"”’」』）]{0,3}"
    r"|\n(?![a-z])"  # a line that goes on in lower case is a wrapped sentence
)
_WORD_END = re.compile(r"\s+")
_CUTS = (_SENTENCE_END, _WORD_END)
_SMALL_SHARE = 4  # a tail, or a breadcrumb, above a quarter of a passage is not small
_TRAIL = " > "


def split_passages(
    search_text: str, count_tokens: CountTokens, passage_tokens: int | None
) -> list[str]:
    """Cut a text into passages of about `passage_tokens` tokens; None leaves it whole.

    A passage holds at most a quarter more, when a short tail joined it. A blank text has none.
    """
    text = search_text.strip()
    if not text:
        return []
    if passage_tokens is None:
        return [text]
    small = passage_tokens // _SMALL_SHARE
    if count_tokens(text) <= passage_tokens + small:
        return [text]
    lead = _lead(text.partition("\n")[0].strip(), small, count_tokens)
    first, *rest = _pack(text, passage_tokens, count_tokens(lead), count_tokens)
    return [first, *(f"{lead}\n{body}" if lead else body for body in rest)]


def _lead(first_line: str, small: int, count_tokens: CountTokens) -> str:
    """Return the breadcrumb, or its last part, or nothing: it must not crowd out the text."""
    for lead in (first_line, first_line.rpartition(_TRAIL)[2]):
        if count_tokens(lead) <= small:
            return lead
    return ""


def _pack(text: str, passage_tokens: int, lead_tokens: int, count_tokens: CountTokens) -> list[str]:
    """Fill passages unit by unit. Later ones leave room for the lead."""
    room = passage_tokens - lead_tokens
    bodies: list[str] = []
    sizes: list[int] = []
    for unit, tokens in _units(text, room, count_tokens, _CUTS):
        limit = passage_tokens if len(bodies) == 1 else room
        if bodies and sizes[-1] + tokens <= limit:
            bodies[-1] += unit
            sizes[-1] += tokens
        else:
            bodies.append(unit)
            sizes.append(tokens)
    if len(bodies) > 1 and sizes[-1] < passage_tokens // _SMALL_SHARE:
        bodies[-2:] = ["".join(bodies[-2:])]
    return [body.strip() for body in bodies if body.strip()]


def _units(
    text: str, limit: int, count_tokens: CountTokens, cuts: Sequence[re.Pattern[str]]
) -> Iterator[tuple[str, int]]:
    """Yield the largest units of at most `limit` tokens, with their sizes."""
    tokens = count_tokens(text)
    if tokens <= limit or len(text) == 1:
        yield text, tokens
        return
    for part in _parts(text, cuts):
        yield from _units(part, limit, count_tokens, cuts[1:])


def _parts(text: str, cuts: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Cut after each end the first pattern finds, or in half when no pattern is left."""
    ends = [match.end() for match in cuts[0].finditer(text)] if cuts else [len(text) // 2]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        if start < end:
            yield text[start:end]
