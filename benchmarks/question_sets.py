"""Public question sets as vaults and judged questions. Formats differ; each is read here.

A set with a corpus becomes a vault of one note per passage, named by its id; a set without one
asks about a vault that lies elsewhere.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_assets.metrics import Group, Judgement

# Sets without a corpus: where their notes lie, next to the sets.
_VAULTS = {"pep-questions": "peps", "lihua-world": "lihua-world"}
_DISTRACTORS = ("outdated", "other_time", "state_today", "namesake")
_ESSENTIAL = 2


@dataclass(frozen=True)
class Question:
    """One question, what it should find, and what kind it is."""

    id: str
    text: str
    category: str
    judged: Judgement


def questions_file(folder: Path) -> Path:
    """Return a set's default questions: those meant for development where it says so."""
    dev = folder / "dev.jsonl"
    return dev if dev.is_file() else folder / "questions.jsonl"


def default_vault(folder: Path) -> Path | None:
    """Return the vault a set without a corpus asks about; None if it brings its corpus."""
    name = _VAULTS.get(folder.name)
    return folder.parent.parent / "vaults" / name if name else None


def corpus_file(folder: Path) -> Path:
    """Return the file with a set's passages."""
    return folder / "corpus.jsonl.gz"


def passages(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a set's passages: id, title, text."""
    with gzip.open(corpus_file(folder), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def write_vault(folder: Path, vault: Path) -> None:
    """Write a set's passages as notes; equal files are left alone."""
    for passage in passages(folder):
        note = vault / note_of(passage["id"])
        text = f"# {passage['title']}\n\n{passage['text']}\n"
        note.parent.mkdir(parents=True, exist_ok=True)
        if not note.is_file() or note.read_text("utf-8") != text:
            note.write_text(text, "utf-8")


def note_of(passage_id: int) -> str:
    """Return the note a passage becomes."""
    return f"passages/{int(passage_id):06}.md"


def load_questions(folder: Path, file: Path) -> list[Question]:
    """Read a set's questions that have an answer in the vault."""
    titles: defaultdict[str, set[str]] = defaultdict(set)
    if corpus_file(folder).is_file():
        for passage in passages(folder):
            titles[passage["title"]].add(note_of(passage["id"]))
    found = []
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        judged = _judged(row, titles)
        if judged.essential:
            category = row.get("category") or row.get("type") or _hops(row)
            found.append(Question(str(row["id"]), row["question"], category, judged))
    return found


def _hops(row: dict[str, Any]) -> str:
    return f"{row['hops']}_hops" if "hops" in row else "all"


def _judged(row: dict[str, Any], titles: dict[str, set[str]]) -> Judgement:
    if "gold" in row:
        return _graded(row["gold"])
    if "gold_ids" in row:
        return Judgement(tuple(frozenset({note_of(gold)}) for gold in row["gold_ids"]))
    if "gold_titles" in row:
        groups = (frozenset(titles[title]) for title in dict.fromkeys(row["gold_titles"]))
        return Judgement(tuple(group for group in groups if group))
    # Notes are known by their stems; `any_of` asks for one of them.
    stems = [frozenset({stem}) for stem in row.get("gold_notes", [])]
    if row.get("any_of") and stems:
        return Judgement((frozenset().union(*stems),))
    return Judgement(tuple(stems))


def _graded(gold: list[dict[str, Any]]) -> Judgement:
    def group(entry: dict[str, Any]) -> Group:
        return frozenset({entry["note"]})

    lesser = [entry for entry in gold if entry["grade"] < _ESSENTIAL]
    return Judgement(
        essential=tuple(group(entry) for entry in gold if entry["grade"] >= _ESSENTIAL),
        supporting=tuple(group(e) for e in lesser if e["role"] not in _DISTRACTORS),
        distractors=frozenset(e["note"] for e in lesser if e["role"] in _DISTRACTORS),
    )
