"""One drafted question with its answer, its notes and why it was drafted. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval_assets.questions import Fact, Question
from eval_assets.suggestions.wording import plain
from kb_core.ids import content_id

ID_START = "own-"
LONGEST_QUOTE = 240
SHORTEST_QUOTE = 8
_ID_DIGITS = 10


@dataclass(frozen=True)
class Draft:
    """A question that a rule proposes; `rule` and `topic` keep a choice from repeating itself."""

    rule: str
    topic: str  # what kind of thing is asked: a property's name, a label, else ""
    category: str
    language: str
    question: str
    answer: str
    facts: tuple[Fact, ...]  # quotes of the essential notes, in order
    supporting: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    reason: str = ""
    weight: float = 1.0
    inside: str | None = None  # the question with the note named, for when it could mean others
    is_named: bool = True  # the question names its note
    must_name: bool = False  # it is understood only with its note named

    @property
    def essential(self) -> tuple[str, ...]:
        """The notes that answer it, each once."""
        return tuple(dict.fromkeys(fact.note for fact in self.facts))

    @property
    def note_id(self) -> str:
        """The note it was drafted from."""
        return self.facts[0].note

    @property
    def id(self) -> str:
        """An id that stays when the wording of questions is changed."""
        quotes = (text for fact in self.facts for text in (fact.note, fact.quote))
        return ID_START + content_id(self.rule, self.topic, *quotes)[:_ID_DIGITS]

    def named(self) -> "Draft":
        """Return the same question with its note named."""
        return replace(self, question=self.inside or self.question, is_named=True)

    def to_question(self) -> Question:
        """Return the row that a question file holds."""
        return Question(
            id=self.id,
            question=self.question,
            category=self.category,
            language=self.language,
            essential=self.essential,
            supporting=self.supporting,
            distractors=self.distractors,
            facts=self.facts,
            reason=self.reason,
        )


def facts_of(note_id: str, quotes: Sequence[str]) -> tuple[Fact, ...]:
    """Return a fact for each quote of a note: its plain words are what the quote says."""
    return tuple(Fact(fact=plain(quote), note=note_id, quote=quote) for quote in quotes)


def is_quotable(quote: str) -> bool:
    """Say whether a quote is neither too short to be found nor too long to be read."""
    return SHORTEST_QUOTE <= len(quote) <= LONGEST_QUOTE
