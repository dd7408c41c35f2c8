"""The few lines of a chunk that show why it was found. Pure, linear in the text."""

import re
from collections.abc import Iterator, Mapping

from kb_core.text import fold

QUOTE_CHARS = 240

_SENTENCE_ENDS = re.compile(r"[.!?][\"')\]]*\s|[。！？]+|\n")
_UNSPACED = re.compile(
    "[\u0e01-\u0e4e\u1000-\u109f\u1780-\u17d3\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]"
)


class _SameLengthFolds(dict[int, str]):
    """Folds character by character, so that positions in the folded text stay what they are."""

    def __missing__(self, code: int) -> str:
        folded = fold(chr(code))
        self[code] = folded if len(folded) == 1 else chr(code)
        return self[code]


_FOLDS = _SameLengthFolds()


def best_quote(text: str, weights: Mapping[str, float], width: int = QUOTE_CHARS) -> str:
    """Return the part of the text, at most `width` characters, that says most of the question.

    `weights` says how much each of the question's terms counts; each counts once. White space is
    folded, words are whole unless one alone is too long, and the quote begins and ends with a
    sentence where one fits.
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    shown = "\n".join(line for line in lines if line)
    if len(shown) > width:
        start, end = _richest(_hits(shown, weights), weights, width)
        opening = _opening(shown, start, end, width)
        shown = shown[opening : _closing(shown, opening, end, width)]
    return " ".join(shown.split())


_Hit = tuple[int, int, str]


def _hits(text: str, weights: Mapping[str, float]) -> list[_Hit]:
    """Return where the question's terms stand. A name's whole is found by its parts."""
    folded = text.lower() if text.isascii() else text.translate(_FOLDS)
    return sorted(hit for term in weights for hit in _places(folded, term))


def _places(folded: str, term: str) -> Iterator[_Hit]:
    start = folded.find(term)
    while start >= 0:
        end = start + len(term)
        if not (_is_inside_word(folded, start) or _is_inside_word(folded, end)):
            yield start, end, term
        start = folded.find(term, end)


def _richest(hits: list[_Hit], weights: Mapping[str, float], width: int) -> tuple[int, int]:
    """Return the first stretch of at most `width` characters with the greatest weight."""
    best, best_weight = (0, 0), 0.0
    inside: dict[str, int] = {}
    first = 0
    for start, end, term in hits:
        inside[term] = inside.get(term, 0) + 1
        while end - hits[first][0] > width and hits[first][0] < start:
            gone = hits[first][2]
            inside[gone] -= 1
            first += 1
        weight = sum(weights[each] for each, times in inside.items() if times)
        if weight > best_weight:
            best, best_weight = (hits[first][0], min(end, hits[first][0] + width)), weight
    return best


def _opening(text: str, start: int, end: int, width: int) -> int:
    """Return where the quote begins: at a sentence if the stretch still fits, else at a word."""
    earliest = max(0, end - width)
    if not earliest:
        return 0
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, earliest, start)]
    if ends:
        return ends[0] if end - start > width // 2 else ends[-1]
    # Some words of what went before, not all that fit: the stretch is what matters.
    return _whole_from(text, max(earliest, start - width // 4), start)


def _whole_from(text: str, at: int, limit: int) -> int:
    """Return the first beginning of a word at or after `at`, at most `limit`."""
    while at < limit and _is_inside_word(text, at):
        at += 1
    return at


def _closing(text: str, opening: int, end: int, width: int) -> int:
    """Return where the quote ends: after the last sentence that fits, else after a word."""
    latest = min(len(text), opening + width)
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, end, latest)]
    if latest < len(text) and ends and ends[-1] - opening >= width // 2:
        return ends[-1]
    while latest > max(end, opening) and _is_inside_word(text, latest):
        latest -= 1
    # One endless word is cut rather than left out.
    return latest if latest - opening >= width // 2 else min(len(text), opening + width)


def _is_inside_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (_UNSPACED.match(before) or _UNSPACED.match(after))
