"""Questions on what changes along a series of dated notes: minutes, weekly reports. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_assets.suggestions.drafts import Draft, facts_of
from eval_assets.suggestions.naming import Names, series_of
from eval_assets.suggestions.of_labels import is_worth_asking as is_label_worth_asking
from eval_assets.suggestions.of_labels import labels_of
from eval_assets.suggestions.of_properties import (
    Property,
    asked_value,
    is_worth_asking,
    properties_of,
)
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import (
    Templates,
    concept_of,
    key_name,
    templates,
)
from kb_core.dates import is_later
from kb_core.text import fold

_FEWEST_NOTES = 3  # two titles that differ in a number may be anything
_MOST_DISTRACTORS = 8
_OF_THE_NOTE = ("author", "created", "date", "published", "status")  # of each note, not of a thing


class Said(NamedTuple):
    """A value that one note of a series gives a key."""

    note: SourceNote
    found: Property
    is_property: bool

    @property
    def value(self) -> str:
        """What the note says."""
        return self.found.value


def series_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield a draft for every key whose newest value in a series differs from the older ones."""
    series: dict[tuple[str, str], list[SourceNote]] = defaultdict(list)
    for note in vault.notes:
        name = series_of(note) if note.date and note.kind != "chat" else ""
        if name and names.of(note):
            series[(fold(name), note.folder)].append(note)
    for (_, _), notes in sorted(series.items()):
        if len(notes) >= _FEWEST_NOTES:
            for said in _by_key(vault, notes).values():
                yield from _draft(vault, said)


def _by_key(vault: SourceVault, notes: Sequence[SourceNote]) -> Mapping[str, list[Said]]:
    """Collect the values that each key has, where a note gives it once."""
    found: dict[str, list[Said]] = defaultdict(list)
    for note in notes:
        for folded, each in properties_of(note).items():
            if is_worth_asking(note, folded, each):
                found[folded].append(Said(note, each, True))
        labels: dict[str, list[Said]] = defaultdict(list)
        for label in labels_of(note):
            if is_label_worth_asking(vault, label):
                read = Property(label.label, label.value, label.quote)
                said = Said(note, read, False)
                labels[key_name(label.label)].append(said)
        for folded, given in labels.items():
            if len(given) == 1 and not any(said.note is note for said in found[folded]):
                found[folded].extend(given)
    return found


def _draft(vault: SourceVault, said: Sequence[Said]) -> Iterator[Draft]:
    ordered = sorted(said, key=lambda each: (each.note.date or "", each.note.note_id), reverse=True)
    newest, older = ordered[0], ordered[1:]
    if not older or not is_later(newest.note.date or "", older[0].note.date or ""):
        return
    if concept_of(newest.found.key) in _OF_THE_NOTE:
        return
    changed = [each for each in older if fold(each.value) != fold(newest.value)]
    wording = templates(newest.note.language)
    question = _worded(vault, wording, newest)
    if question and changed and fold(older[0].value) != fold(newest.value):
        yield Draft(
            rule="series",
            topic=key_name(newest.found.key),
            category="temporal",
            language=wording.code,
            question=question,
            answer=newest.value,
            facts=facts_of(newest.note.note_id, [newest.found.quote]),
            distractors=tuple(sorted(each.note.note_id for each in changed[:_MOST_DISTRACTORS])),
            reason="Older notes of the series give other values.",
            weight=1.3,
        )


def _worded(vault: SourceVault, wording: Templates, newest: Said) -> str | None:
    series = series_of(newest.note)
    name = wording.word("newest_of", series=series)
    if newest.is_property and name:
        return asked_value(vault, wording, newest.found, name)
    return wording.word("newest_in_series", series=series, key=newest.found.key)
