"""Make a large vault of pseudo-words: Zipf's law, headings, links, dates; always the same."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

_SYLLABLES = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
_VOCABULARY = 60_000
_EXPONENT = 1.07  # of English text, about
_WORDS_PER_SENTENCE = 14
_SENTENCES_PER_PARAGRAPH = 5
_PARAGRAPHS_PER_SECTION = 4


def make_vault(root: Path, notes: int, words: int, folders: int = 13, seed: int = 1) -> None:
    """Write `notes` notes of `words` words in all into `folders` folders of unequal size."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(_vocabulary(rng))
    weights = 1 / np.arange(1, _VOCABULARY + 1) ** _EXPONENT
    weights /= weights.sum()
    sizes = rng.lognormal(0, 0.8, notes)
    lengths = np.maximum(20, (sizes / sizes.sum() * words)).astype(int)
    shares = np.sqrt(np.arange(1, folders + 1))
    homes = rng.choice(folders, notes, p=shares / shares.sum())
    for number in range(notes):
        folder = root / f"Folder {homes[number]:02}"
        folder.mkdir(parents=True, exist_ok=True)
        text = vocabulary[rng.choice(_VOCABULARY, lengths[number], p=weights)]
        (folder / f"Note {number:05}.md").write_text(_note(number, notes, text, rng))


def _vocabulary(rng: np.random.Generator) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        parts = rng.choice(_SYLLABLES, size=int(rng.integers(1, 5)))
        words["".join(parts)] = None
    return list(words)


def _note(number: int, notes: int, words: np.ndarray, rng: np.random.Generator) -> str:
    year, month, day = 2019 + number % 7, number % 12 + 1, number % 28 + 1
    head = f"---\ndate: {year}-{month:02}-{day:02}\ntags: [t{number % 40}]\n---\n# {words[0]}\n\n"
    links = " ".join(f"[[Note {int(n):05}]]" for n in rng.integers(0, notes, 2))
    return head + "\n\n".join(_paragraphs(words)) + f"\n\nSee {links}.\n"


def _paragraphs(words: np.ndarray) -> Iterator[str]:
    size = _WORDS_PER_SENTENCE * _SENTENCES_PER_PARAGRAPH
    for index, start in enumerate(range(0, len(words), size)):
        part = words[start : start + size]
        if index % _PARAGRAPHS_PER_SECTION == 0:
            yield f"## {part[0]} {index}"
        yield " ".join(
            " ".join(part[at : at + _WORDS_PER_SENTENCE]).capitalize() + "."
            for at in range(0, len(part), _WORDS_PER_SENTENCE)
        )
