"""Question files: what is asked, what should be found, and how the answer is recognised.

A file is JSON lines, one question each. The home's own questions are the files below `data/eval`;
`policy.jsonl` is another kind of file. Reading checks every row and says where it is wrong.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from eval_assets.metrics import Judgement
from kb_core.errors import SettingsError
from kb_core.ids import json_hash

EVAL_FOLDER = "eval"  # below a home's data
OWN_FILE = "questions.jsonl"  # what the user kept of the suggestions
POLICY_FILE = "policy.jsonl"

# A path inside the vault, spelled as notes are known by: one that was copied out of the macOS
# Finder is decomposed, and would be a note that no build has.
Note = Annotated[str, Field(min_length=1), AfterValidator(partial(unicodedata.normalize, "NFC"))]


class Fact(BaseModel):
    """One key fact and the exact words that state it; blanks are folded when compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fact: str
    note: Note
    quote: Annotated[str, Field(min_length=1)]


class Question(BaseModel):
    """One question. Grades of notes: essential 2, supporting 1, distractors 1 but no gain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    category: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    language: str = "en"
    principal: str = "owner"
    as_of: str | None = None  # the view's instant; None: now
    essential: tuple[Note, ...] = ()
    supporting: tuple[Note, ...] = ()
    distractors: tuple[Note, ...] = ()
    facts: tuple[Fact, ...] = ()
    forbidden: tuple[Note, ...] = ()  # must not be in any output
    expected: Literal["answer", "refuse", "ask_back"] = "answer"
    reason: str = ""

    @model_validator(mode="after")
    def _check_roles(self) -> "Question":
        if (self.expected == "answer") != bool(self.essential):
            raise ValueError(
                "a question with an answer names its essential notes, another names none"
            )
        roles = Counter([*self.essential, *self.supporting, *self.distractors, *self.forbidden])
        twice = [note for note, count in roles.items() if count > 1]
        if twice:
            raise ValueError(f"{len(twice)} notes have two roles")
        strangers = {fact.note for fact in self.facts} - {*self.essential, *self.supporting}
        if strangers:
            raise ValueError(f"{len(strangers)} facts come from notes that answer nothing")
        return self

    @property
    def judgement(self) -> Judgement:
        """Return the judgement that the ranking measures take."""
        return Judgement(
            essential=tuple(frozenset({note}) for note in self.essential),
            supporting=tuple(frozenset({note}) for note in self.supporting),
            distractors=frozenset(self.distractors),
        )

    @property
    def grade_one(self) -> frozenset[str]:
        """Return the notes of grade 1: supporting ones and distractors."""
        return frozenset((*self.supporting, *self.distractors))

    def to_json(self) -> dict[str, Any]:
        """Return the question as a file holds it."""
        return self.model_dump(mode="json")

    def key(self) -> str:
        """Hash everything that decides a score: scores of equal keys may be compared."""
        return json_hash({k: v for k, v in self.to_json().items() if k != "reason"})


@dataclass(frozen=True)
class Posed:
    """A question and the set it stands in: its file's name without the ending."""

    set: str
    question: Question


def read_sets(files: Sequence[Path]) -> list[Posed]:
    """Read several files in this order. Raises SettingsError, also for an id in two of them."""
    found = [Posed(file.stem, row) for file in files for row in read_questions(file)]
    twice = [name for name, n in Counter(each.question.id for each in found).items() if n > 1]
    if twice:
        sets = ", ".join(each.set for each in found if each.question.id == twice[0])
        raise SettingsError(f"The id {twice[0]!r} stands in several files: {sets}. Rename one.")
    return found


def read_questions(file: Path) -> list[Question]:
    """Read one file. Raises SettingsError with the line and what is wrong with it."""
    found = []
    for number, line in enumerate(_lines(file), start=1):
        if line.strip():
            found.append(_question(line, f"{file}, line {number}"))
    twice = [name for name, count in Counter(row.id for row in found).items() if count > 1]
    if twice:
        raise SettingsError(f"{file} holds the id {twice[0]!r} more than once. Rename one.")
    return found


def question_files(data: Path) -> list[Path]:
    """Return the question files of a home's data folder, by name.

    The policy set is none, nor are hidden files: file managers leave some beside what they copy.
    """
    return sorted(
        path
        for path in (data / EVAL_FOLDER).glob("*.jsonl")
        if path.name != POLICY_FILE and not path.name.startswith(".")
    )


def questions_text(questions: Sequence[Question]) -> str:
    """Return a file's text for these questions: one line each, keys in order."""
    return "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in questions)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8-sig").split("\n")  # not splitlines: U+2028 may stand in a text
    except FileNotFoundError:
        raise SettingsError(f"There is no question file {file}.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{file} cannot be read as UTF-8: {type(problem).__name__}.") from None


def _question(line: str, where: str) -> Question:
    try:
        return Question.model_validate_json(line)
    except ValidationError as problem:
        first = problem.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "row"
        raise SettingsError(f"{where}: {key}: {first['msg'].lower()}. Mend that line.") from None
