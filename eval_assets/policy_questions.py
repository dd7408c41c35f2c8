"""Policy questions: what one principal may be handed of what a start is connected with, and when.

A file is JSON lines, one question each: where to start, which links to follow how far, and which
notes are required, forbidden (another's) or future (not there yet). Reading checks every row.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from eval_assets.questions import EVAL_FOLDER, POLICY_FILE, Note
from kb_core.dates import instant_of
from kb_core.errors import SettingsError
from kb_core.ids import json_hash
from kb_core.settings import Settings
from kb_search.connecting import Asked
from kb_search.policy import Policy, policy_for

_MOST_DEPTH = 10
Named = Annotated[str, Field(min_length=1)]


class PolicyQuestion(BaseModel):
    """One question over connected records."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Named
    question: Named  # as plain search is asked it
    category: Literal["policy"] = "policy"
    language: str = "en"
    principal: str = "owner"
    as_of: str | None = None  # None: now
    start: Named
    links: tuple[Named, ...]
    depth: int = Field(ge=0, le=_MOST_DEPTH)
    kinds: tuple[Named, ...] = ("Asset",)  # of the start and of everything between
    attach: tuple[Named, ...]
    required: tuple[Note, ...] = ()
    forbidden: tuple[Note, ...] = ()
    future: tuple[Note, ...] = ()
    expected: Literal["answer", "ask_back"] = "answer"
    candidates: tuple[Note, ...] = ()  # what an ambiguous start could mean
    reason: str = ""

    @model_validator(mode="after")
    def _check(self) -> "PolicyQuestion":
        if (self.expected == "answer") != bool(self.required):
            raise ValueError("a question with an answer names what is required, another does not")
        if self.as_of is not None and instant_of(self.as_of) is None:
            raise ValueError("as_of is no date")
        roles = Counter([*self.required, *self.forbidden, *self.future])
        if any(count > 1 for count in roles.values()):
            raise ValueError("a note has two roles")
        return self

    @property
    def asked(self) -> Asked:
        """Return what connected retrieval is asked."""
        return Asked(self.start, self.links, self.depth, self.kinds, self.attach)

    def policy(self, settings: Settings) -> Policy:
        """Return who asks as of when. Raises SettingsError for a principal not in kb.toml."""
        return policy_for(settings, self.principal, instant_of(self.as_of) if self.as_of else None)

    def key(self) -> str:
        """Hash everything that decides a score."""
        return json_hash(self.model_dump(mode="json", exclude={"reason"}))


def read_policy_questions(data: Path) -> list[PolicyQuestion]:
    """Read a home's policy questions; none without the file.

    Raises SettingsError with the line and what is wrong with it.
    """
    file = data / EVAL_FOLDER / POLICY_FILE
    if not file.is_file():
        return []
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{file} cannot be read: {type(problem).__name__}.") from None
    rows = [
        _question(line, f"{file}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    if twice:
        raise SettingsError(f"{file} holds the id {twice[0]!r} more than once. Rename one.")
    return rows


def _question(line: str, where: str) -> PolicyQuestion:
    try:
        return PolicyQuestion.model_validate_json(line)
    except ValidationError as problem:
        first = problem.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the row"
        raise SettingsError(f"{where}: {key}: {first['msg']}. Mend that line.") from None
