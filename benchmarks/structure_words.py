"""The words of a made vault: pseudo-words by Zipf's law, and titles, sentences and blocks of them.

Seeded. The text is as varied as notes are: emphasis, code, tables, tasks, callouts, quotes,
formulas and letters beyond ASCII. The Markdown parser finds about 40 events in a kilobyte of it;
in nine collections of real notes it finds 16 to 104, in the middle one 46.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

SECTIONS = ("Plan", "Costs", "Open questions", "Decisions", "History", "Links", "Next steps")
_SYLLABLES = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
_BEYOND_ASCII = ("ü", "é", "ß", "ø", "ñ", "ç")
_HAN = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
_VOCABULARY = 60_000
_EXPONENT = 1.07  # of English text, about
_RARE = 3_000  # titles are made of rarer words than sentences are
_WORDS_PER_SENTENCE = 14
_WORDS_PER_PARAGRAPH = 36
_PARAGRAPHS_PER_SECTION = 6
_BLOCK_SHARE = 0.3  # paragraphs that are a list, a table, code, …
_HAN_SHARE = 0.02


class Words:
    """A vocabulary, and what can be written with it."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._words = np.array(_vocabulary(rng))
        weights = 1 / np.arange(1, _VOCABULARY + 1) ** _EXPONENT
        self._cumulated = np.cumsum(weights / weights.sum())
        blocks: Sequence[Callable[[list[str]], str]] = (
            *(_bullets, _bullets, _bullets, _nested, _nested, _numbers, _numbers, _tasks),
            *(_table, _code, _callout, _quote, _formula),
        )
        self._blocks = blocks

    def title(self) -> str:
        """Make a title of one to four words, most of them with capitals."""
        count = int(self._rng.choice([1, 2, 3, 4], p=[0.1, 0.45, 0.3, 0.15]))
        picked = self._words[self._rng.integers(_RARE, _VOCABULARY, count)]
        text = " ".join(str(word).capitalize() for word in picked)
        return text if self._rng.random() > 0.08 else f"{_BEYOND_ASCII[count]}{text}"

    def paragraphs(self, count: int) -> Iterator[str]:
        """Yield headings, paragraphs and blocks of so many words in all."""
        places = np.searchsorted(self._cumulated, self._rng.random(count))
        words = self._words[places].tolist()
        for index, start in enumerate(range(0, count, _WORDS_PER_PARAGRAPH)):
            part = words[start : start + _WORDS_PER_PARAGRAPH]
            if index % _PARAGRAPHS_PER_SECTION == _PARAGRAPHS_PER_SECTION - 1:
                section = SECTIONS[int(self._rng.integers(len(SECTIONS)))]
                yield f"{'#' * int(self._rng.integers(2, 4))} {section}"
            yield self._paragraph(part)

    def _paragraph(self, words: list[str]) -> str:
        rng = self._rng
        draw = rng.random()
        if draw < _BLOCK_SHARE:
            return self._blocks[int(rng.integers(len(self._blocks)))](words)
        if draw < _BLOCK_SHARE + _HAN_SHARE:
            return _han(rng, len(words))
        between = "\n" if draw > 0.7 else " "  # some write each sentence on a line of its own
        return between.join(self._sentences(words))

    def _sentences(self, words: list[str]) -> Iterator[str]:
        for start in range(0, len(words), _WORDS_PER_SENTENCE):
            part = words[start : start + _WORDS_PER_SENTENCE]
            part[0] = part[0].capitalize()
            draw = self._rng.random()
            if draw < 0.25:
                at = int(draw * 4 * len(part))
                mark = ("**", "*", "`", "==")[at % 4]
                part[at] = f"{mark}{part[at]}{mark}"
            elif draw < 0.3:
                part[-1] = f"{part[-1]}{_BEYOND_ASCII[int(draw * 100) % 6]}"
            yield " ".join(part) + (", as said." if draw > 0.9 else ".")


def _vocabulary(rng: np.random.Generator) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        parts = rng.choice(_SYLLABLES, size=int(rng.integers(1, 5)))
        words["".join(parts)] = None
    return list(words)


def _rows(words: list[str], width: int) -> list[list[str]]:
    return [words[start : start + width] for start in range(0, len(words), width)]


def _bullets(words: list[str]) -> str:
    return "\n".join("- " + " ".join(row) for row in _rows(words, 9))


def _nested(words: list[str]) -> str:
    rows = _rows(words, 8)
    return "\n".join("  " * (at % 3) + "* " + " ".join(row) for at, row in enumerate(rows))


def _numbers(words: list[str]) -> str:
    return "\n".join(f"{at}. " + " ".join(row) for at, row in enumerate(_rows(words, 10), 1))


def _tasks(words: list[str]) -> str:
    rows = _rows(words, 7)
    return "\n".join(f"- [{'x '[at % 2]}] " + " ".join(row) for at, row in enumerate(rows))


def _table(words: list[str]) -> str:
    cells = [" ".join(row) for row in _rows(words, 3)]
    rows = ["| " + " | ".join([*row, "", "", ""][:4]) + " |" for row in _rows(cells, 4)]
    return "\n".join([rows[0], "|---|---|---:|---|", *rows[1:]])


def _code(words: list[str]) -> str:
    lines = [f"{row[0]} = {row[-1]}({len(row)})  # not a tag" for row in _rows(words, 6)]
    return "\n".join(["```python", *lines, 'x = "[[not a link]]"', "```"])


def _callout(words: list[str]) -> str:
    return "\n".join(["> [!note] " + words[0], *("> " + " ".join(r) for r in _rows(words, 12))])


def _quote(words: list[str]) -> str:
    return "\n".join("> " + " ".join(row) for row in _rows(words, 15))


def _formula(words: list[str]) -> str:
    half = len(words) // 2
    return " ".join([*words[:half], "$a_1 + b^2 = c$", *words[half:]]) + ".\n\n$$\n\\sum_i x_i\n$$"


def _han(rng: np.random.Generator, words: int) -> str:
    places = rng.integers(0, len(_HAN), 2 * words)
    text = "".join(_HAN[at] for at in places)
    return "。".join(text[start : start + 18] for start in range(0, len(text), 18)) + "。"
