"""Question sets as bare passages, to compare embedders without a vault in between.

The sets lie outside the project. Samples are the same on every run and keep every passage that
answers. A set of long texts is cut at fixed places; a cut answers if it holds half of an
answering span.
"""

import gzip
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.question_sets import Question, load_questions, note_of, passages, questions_file
from eval_assets.metrics import Judgement

DEFAULT_FOLDER = "../shared/benchmarks"

_LONG_TEXTS = "corpora.jsonl.gz"
_CUT_CHARS = 800  # about 200 tokens of English
_GOLD_SHARE = 0.5


@dataclass(frozen=True)
class RetrievalSet:
    """Passages with the names that the questions' judgements know them by."""

    name: str
    ids: list[str]
    passages: list[str]
    questions: list[Question]

    def sample(self, passages: int, questions: int) -> "RetrievalSet":
        """Return a smaller set that keeps all that answers, chosen by a fixed seed."""
        chance = random.Random(f"{self.name} sample")
        count = min(questions, len(self.questions))
        asked = sorted(chance.sample(range(len(self.questions)), count))
        groups = [group for row in asked for group in self.questions[row].judged.essential]
        needed = frozenset().union(*groups)
        kept = [row for row, name in enumerate(self.ids) if name in needed]
        others = [row for row, name in enumerate(self.ids) if name not in needed]
        kept += chance.sample(others, min(len(others), max(0, passages - len(kept))))
        return RetrievalSet(
            self.name,
            [self.ids[row] for row in sorted(kept)],
            [self.passages[row] for row in sorted(kept)],
            [self.questions[row] for row in asked],
        )

    def rank(self, passages: NDArray, questions: NDArray, depth: int) -> list[list[str]]:
        """Return each question's nearest passages by dot product; of equal ones, the first."""
        best = np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :depth]
        return [[self.ids[row] for row in rows] for rows in best]


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read one set by the name of its folder."""
    if (folder / name / _LONG_TEXTS).exists():
        return _read_long_texts(folder / name)
    notes = list(passages(folder / name))
    return RetrievalSet(
        name,
        [note_of(note["id"]) for note in notes],
        [note["text"] for note in notes],  # titles give most answers away
        load_questions(folder / name, questions_file(folder / name)),
    )


def _read_long_texts(folder: Path) -> RetrievalSet:
    texts = {}
    with gzip.open(folder / _LONG_TEXTS, "rt", encoding="utf-8") as lines:
        for corpus in map(json.loads, lines):
            for at in range(0, len(corpus["text"]), _CUT_CHARS):
                texts[_cut_id(corpus["id"], at)] = corpus["text"][at : at + _CUT_CHARS]
    rows = map(json.loads, questions_file(folder).read_text("utf-8").splitlines())
    questions = [_question(row) for row in rows]
    return RetrievalSet(folder.name, list(texts), list(texts.values()), questions)


def _question(row: Mapping[str, Any]) -> Question:
    cuts = (cut for span in row["spans"] for cut in _cuts_of(row["corpus"], span))
    groups = tuple(frozenset({cut}) for cut in dict.fromkeys(cuts))
    return Question(row["id"], row["question"], row["corpus"], Judgement(groups))


def _cuts_of(corpus: str, span: Mapping[str, Any]) -> Iterator[str]:
    start, end = span["start_index"], span["end_index"]
    for at in range(start // _CUT_CHARS * _CUT_CHARS, end, _CUT_CHARS):
        held = min(end, at + _CUT_CHARS) - max(start, at)
        if held >= _GOLD_SHARE * min(end - start, _CUT_CHARS):
            yield _cut_id(corpus, at)


def _cut_id(corpus: str, at: int) -> str:
    return f"{corpus}/{at:09}"
