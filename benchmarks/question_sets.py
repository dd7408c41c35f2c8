"""Question sets as vaults and judged questions. Formats differ; each is read here.

A public set with a corpus becomes a vault of one note per passage, named by its id; a set without
one asks about a vault that lies elsewhere. A home's own question files are a set too: the folder
`data/eval` of a home, which asks about that home's vault.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_assets.metrics import Group, Judgement
from eval_assets.questions import EVAL_FOLDER, question_files, read_questions
from eval_assets.questions import Question as OwnQuestion
from kb_core.settings import read_settings

# Sets without a corpus: where their notes lie, next to the sets.
_VAULTS = {"pep-questions": "peps", "lihua-world": "lihua-world"}
_DISTRACTORS = ("outdated", "other_time", "state_today", "namesake")
_ESSENTIAL = 2
_OWNER = "owner"
_UNANSWERABLE = ("unanswerable", "Null")


@dataclass(frozen=True)
class Question:
    """One question, what it should find, and what kind it is."""

    id: str
    text: str
    category: str
    judged: Judgement
    language: str = ""  # a set that names none is of one language


def is_home_set(folder: Path) -> bool:
    """Tell whether a folder holds a home's own question files."""
    return folder.name == EVAL_FOLDER and folder.parent.name == "data"


def read_all_questions(folder: Path, file: Path | None) -> tuple[list[Question], int]:
    """Return a set's questions that can be scored, and how many others it has.

    `file` is read instead of the set's own files. A home's set has several.
    """
    files = [file] if file else [questions_file(folder)]
    if not file and is_home_set(folder):
        files = question_files(folder.parent)
    found = [question for each in files for question in load_questions(folder, each)]
    return found, sum(_count_rows(each) for each in files) - len(found)


def read_unanswerable(folder: Path, file: Path | None) -> list[str]:
    """Return a set's questions that its vault does not answer, by their text."""
    files = [file] if file else [questions_file(folder)]
    if not file and is_home_set(folder):
        files = question_files(folder.parent)
    return [text for each in files for text in _unanswerable(each)]


def questions_file(folder: Path) -> Path:
    """Return a set's default questions: those meant for development where it says so."""
    dev = folder / "dev.jsonl"
    return dev if dev.is_file() else folder / "questions.jsonl"


def default_vault(folder: Path) -> Path | None:
    """Return the vault a set without a corpus asks about; None if it brings its corpus."""
    if is_home_set(folder):
        home = folder.parent.parent
        return home / Path(read_settings(home).vault.path).expanduser()
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
    """Read a set's questions that have an answer in the vault, in its format or in a home's.

    Raises SettingsError for a line of a home's file that cannot be used.
    """
    if _is_home_file(file):
        return [_from_home(row) for row in read_questions(file) if _can_be_scored(row)]
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


def _unanswerable(file: Path) -> list[str]:
    if _is_home_file(file):
        rows = [row for row in read_questions(file) if row.expected == "refuse"]
        return [row.question for row in rows if row.as_of is None and row.principal == _OWNER]
    found = map(json.loads, file.read_text("utf-8").splitlines())
    kinds = ((row, row.get("category") or row.get("type")) for row in found)
    return [row["question"] for row, kind in kinds if kind in _UNANSWERABLE]


def _count_rows(file: Path) -> int:
    return sum(1 for line in file.read_text("utf-8-sig").split("\n") if line.strip())


def _is_home_file(file: Path) -> bool:
    first, _, _ = file.read_text("utf-8-sig").lstrip().partition("\n")
    return "essential" in json.loads(first or "{}")


def _can_be_scored(row: OwnQuestion) -> bool:
    """Tell whether a ranking over the whole present vault can be right or wrong about it."""
    return row.expected == "answer" and row.as_of is None and row.principal == _OWNER


def _from_home(row: OwnQuestion) -> Question:
    return Question(row.id, row.question, row.category, row.judgement, row.language)


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
