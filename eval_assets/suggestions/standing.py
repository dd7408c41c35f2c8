"""Do a home's questions still stand: are their notes there, and do they still say it? Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.questions import Question

Versions = Mapping[str, Sequence[tuple[bool, str]]]  # note -> (is the present one, text)


@dataclass(frozen=True)
class Broken:
    """A question that can no longer be scored as it stands."""

    id: str
    question: str
    missing_notes: tuple[str, ...]
    missing_quotes: tuple[str, ...]  # notes that no longer hold a fact's quote


class Standing:
    """Checks questions against a vault's texts; each text is folded once."""

    def __init__(self, versions: Versions) -> None:
        """Take every version's text of every note."""
        self._versions = versions
        self._folded: dict[str, list[tuple[bool, str]]] = {}

    def broken(self, questions: Sequence[Question]) -> list[Broken]:
        """Return the questions whose notes or quotes are gone, in order.

        A question about an earlier instant may rest on an earlier version or a deleted note.
        """
        found = []
        for row in questions:
            notes = self._missing_notes(row)
            quotes = self._missing_quotes(row, notes)
            if notes or quotes:
                found.append(Broken(row.id, row.question, notes, quotes))
        return found

    def _missing_notes(self, row: Question) -> tuple[str, ...]:
        named = (*row.essential, *row.supporting, *row.distractors)
        return tuple(note for note in named if not self._texts(note, row))

    def _missing_quotes(self, row: Question, missing: Sequence[str]) -> tuple[str, ...]:
        facts = [fact for fact in row.facts if fact.note not in missing]
        gone = [fact.note for fact in facts if not self._says(fact.note, fact.quote, row)]
        return tuple(dict.fromkeys(gone))

    def _says(self, note: str, quote: str, row: Question) -> bool:
        folded = " ".join(quote.split())
        return any(folded in text for text in self._texts(note, row))

    def _texts(self, note: str, row: Question) -> list[str]:
        if note not in self._folded:
            versions = self._versions.get(note, ())
            self._folded[note] = [(current, " ".join(text.split())) for current, text in versions]
        return [text for current, text in self._folded[note] if current or row.as_of is not None]
