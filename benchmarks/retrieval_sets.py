"""Public retrieval sets: questions, and the passages that answer them.

The sets lie outside the project, as folders with `corpus.jsonl.gz` or `corpora.jsonl.gz` and
`questions.jsonl`. Samples are the same on every run and keep every passage that answers.
"""

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT_FOLDER = "../shared/benchmarks"

_CUT_CHARS = 800  # about 200 tokens of English
_GOLD_SHARE = 0.5  # a cut answers if it holds this much of a span


@dataclass(frozen=True)
class RetrievalSet:
    """Passages by position; for each question, the positions that answer it."""

    name: str
    passages: list[str]
    questions: list[str]
    gold: list[frozenset[int]]

    def sample(self, passages: int, questions: int) -> "RetrievalSet":
        """Return a smaller set that keeps all that answers, chosen by a fixed seed."""
        chance = random.Random(f"{self.name} sample")
        asked = sorted(chance.sample(range(len(self.questions)), min(questions, self.size)))
        needed = frozenset().union(*(self.gold[row] for row in asked))
        others = [row for row in range(len(self.passages)) if row not in needed]
        more = chance.sample(others, min(len(others), max(0, passages - len(needed))))
        kept = sorted([*needed, *more])
        place = {row: position for position, row in enumerate(kept)}
        return RetrievalSet(
            self.name,
            [self.passages[row] for row in kept],
            [self.questions[row] for row in asked],
            [frozenset(place[row] for row in self.gold[asked_row]) for asked_row in asked],
        )

    @property
    def size(self) -> int:
        """Return the number of questions."""
        return len(self.questions)


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read one set by the name of its folder."""
    questions = list(_lines(folder / name / "questions.jsonl"))
    if (folder / name / "corpora.jsonl.gz").exists():
        passages, gold = _cut_corpora(list(_lines(folder / name / "corpora.jsonl.gz")), questions)
    else:
        notes = list(_lines(folder / name / "corpus.jsonl.gz"))
        passages = [f"{note['title']}\n{note['text']}" for note in notes]
        gold = [_gold(question, notes) for question in questions]
    return RetrievalSet(name, passages, [question["question"] for question in questions], gold)


def _gold(question: Mapping[str, Any], notes: Sequence[Mapping[str, Any]]) -> frozenset[int]:
    """Return the rows that answer: named by id, or by title where the set does so."""
    ids = set(question.get("gold_ids", ()))
    titles = set(question.get("gold_titles", ()))
    return frozenset(
        row for row, note in enumerate(notes) if note["id"] in ids or note["title"] in titles
    )


def _cut_corpora(
    corpora: Sequence[Mapping[str, Any]], questions: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[frozenset[int]]]:
    """Cut long texts at fixed places; a cut answers if it holds half of an answering span."""
    passages: list[str] = []
    first = {}
    for corpus in corpora:
        first[corpus["id"]] = len(passages)
        text = corpus["text"]
        passages += [text[at : at + _CUT_CHARS] for at in range(0, len(text), _CUT_CHARS)]
    gold = [
        frozenset(
            first[question["corpus"]] + cut
            for span in question["spans"]
            for cut in _cuts_of(span["start_index"], span["end_index"])
        )
        for question in questions
    ]
    return passages, gold


def _cuts_of(start: int, end: int) -> Iterator[int]:
    for cut in range(start // _CUT_CHARS, (end - 1) // _CUT_CHARS + 1):
        held = min(end, (cut + 1) * _CUT_CHARS) - max(start, cut * _CUT_CHARS)
        if held >= _GOLD_SHARE * min(end - start, _CUT_CHARS):
            yield cut


def _lines(path: Path) -> Iterator[Any]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
