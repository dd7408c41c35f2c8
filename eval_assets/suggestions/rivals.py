"""Does another note answer the question as well? Then it is graded too, or the draft goes. Pure.

A question that names its note can only be answered elsewhere by a line about that note. One that
does not may be answered by any passage that holds all its words: if there is such a passage, the
question gets its note named.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from eval_assets.suggestions.drafts import Draft
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.wording import plain, word_set
from kb_core.dates import find_date, parse_date
from kb_core.text import fold, keyword_tokens

_NEAR = 300  # characters on each side of a word within which one passage speaks
_MOST_SUPPORTING = 4
_MOST_RIVALS = 6
_COPIED = 50  # characters of a quote that are no coincidence in another note
_SHORTEST_VALUE = 2
_SMALL_WORDS = word_set(
    "the and for are was were what when who why how which does did has have had you our your "
    "with from that this can should will many much into than not its about use used using "
    "there their must may could would in of to is a an on at by be do we or as it"
)
_DATED_BY_NOTE = frozenset({"label", "series", "newest_label"})  # asked of a note of that day
_BY_NAME = frozenset({"property", "linked", "older", "series"})


class Rivals:
    """Looks through a vault for other answers. Texts are folded once."""

    def __init__(self, vault: SourceVault) -> None:
        """Remember the vault; nothing is read before it is needed."""
        self._vault = vault
        self._folded: dict[str, str] = {}
        self._linking: dict[str, list[SourceNote]] | None = None

    def judged(self, draft: Draft) -> Draft | None:
        """Return the draft with other answering notes graded, or None if it is not sound."""
        if not all(fact.quote in self._vault.by_id[fact.note].folded for fact in draft.facts):
            return None
        if self._gives_itself_away(draft):
            return None
        if draft.rule in _BY_NAME:
            return self._with_mentions(draft)
        if self._is_copied(draft):
            return None
        return draft if draft.is_named else self._alone_or_named(draft)

    def _gives_itself_away(self, draft: Draft) -> bool:
        """The question, its note's title among it, already holds the answer."""
        if draft.rule == "older":
            return False
        answer = fold(draft.answer)
        day = parse_date(draft.answer)
        if day and day in {self._vault.by_id[note].date for note in draft.essential}:
            return draft.rule in _DATED_BY_NOTE
        return len(answer) >= _SHORTEST_VALUE and answer in fold(draft.question)

    def _is_copied(self, draft: Draft) -> bool:
        quotes = [fact.quote for fact in draft.facts if len(fact.quote) >= _COPIED]
        return any(
            quote in note.folded
            for quote in quotes[:1]
            for note in self._vault.notes
            if note.note_id not in draft.essential
        )

    def _alone_or_named(self, draft: Draft) -> Draft | None:
        terms = _terms(draft.question)
        others = list(self._rivals(draft, terms)) if len(terms) > 1 else None
        if others == [] and not draft.must_name:
            return draft
        if draft.inside is None:
            return None
        answer = _terms(draft.answer)
        same = [
            note.note_id
            for note in others or ()
            if answer and all(term in self._text(note) for term in answer)
        ]
        if len(same) > _MOST_SUPPORTING:
            return None
        return replace(draft.named(), supporting=tuple(sorted(same)))

    def _rivals(self, draft: Draft, terms: list[str]) -> Iterator[SourceNote]:
        """Yield other notes with a passage that holds all the question's words."""
        found = 0
        for note in self._vault.notes:
            if note.note_id in draft.essential or found >= _MOST_RIVALS:
                continue
            text = self._text(note)
            if all(term in text for term in terms) and _are_near(text, terms):
                found += 1
                yield note

    def _with_mentions(self, draft: Draft) -> Draft:
        """Grade the notes with a line that links to the asked note and gives the value."""
        last = draft.facts[-1].note
        value = fold(draft.answer)
        if draft.rule == "older" or len(value) < _SHORTEST_VALUE:
            return draft
        taken = {*draft.essential, *draft.distractors}
        found = [
            note.note_id
            for note in self._links_to(last)
            if note.note_id not in taken and _says(note, last, value)
        ]
        return replace(draft, supporting=tuple(sorted(found)[:_MOST_SUPPORTING]))

    def _links_to(self, note_id: str) -> list[SourceNote]:
        if self._linking is None:
            linking: dict[str, list[SourceNote]] = defaultdict(list)
            for note in self._vault.notes:
                for target in sorted({link.target for link in note.links}):
                    linking[target].append(note)
            self._linking = linking
        return self._linking.get(note_id, [])

    def _text(self, note: SourceNote) -> str:
        if note.note_id not in self._folded:
            self._folded[note.note_id] = fold(note.folded)
        return self._folded[note.note_id]


def _terms(text: str) -> list[str]:
    """Return the words that carry a text's meaning, rarest kinds first: long ones."""
    words = {word for word in keyword_tokens(plain(text)) if _carries(word)}
    return sorted(words, key=lambda word: (-len(word), word))


def _carries(word: str) -> bool:
    if not word.isascii():
        return len(word) > 1
    return word not in _SMALL_WORDS and (len(word) > 2 or word.isdigit())


def _are_near(text: str, terms: list[str]) -> bool:
    at = text.find(terms[0])
    while at >= 0:
        passage = text[max(0, at - _NEAR) : at + _NEAR]
        if all(term in passage for term in terms):
            return True
        at = text.find(terms[0], at + 1)
    return False


def _says(note: SourceNote, target: str, value: str) -> bool:
    """Say whether a line of the note that links to the target also gives the value."""
    data = note.text.encode()
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    day = parse_date(value)
    for link in note.links:
        if link.target == target:
            start = data.rfind(b"\n", 0, link.start) + 1
            end = data.find(b"\n", link.end)
            line = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")
            if whole.search(fold(line)) or (day and find_date(line) == day):
                return True
    return False
