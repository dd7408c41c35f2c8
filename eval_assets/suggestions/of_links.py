"""Questions that need two notes: a property that names a note, and what that note says. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eval_assets.suggestions.drafts import Draft, facts_of
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.of_properties import (
    Property,
    asked_value,
    is_worth_asking,
    properties_of,
    shown_key,
)
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import (
    Templates,
    concept_of,
    ignored,
    key_name,
    templates,
)
from kb_core.dates import is_later, parse_date
from kb_core.text import fold

_NUMBER = re.compile(r"[A-Za-z]{0,6}-?0*(\d{1,7})")
_NUMBERS = re.compile(r"(?:[A-Za-z]{0,6}-?\d{1,7}[,;\s]*)+")
_KEY_LINE = re.compile(r"^([^\s:#-][^:\n]*):", re.MULTILINE)
_FEWEST_IDS = 5  # notes that carry a number of their own before it is taken for their id
_DAY = len("2024-03-14")
_MOST_PAIRS = 3  # comparisons from one note
_BEST_DATES = ("created", "published")
_DATE_KEYS = frozenset({"date", "datum", "fecha"})

Known = Mapping[str, Mapping[str, Property]]


class Step(NamedTuple):
    """A note names another one under a relation."""

    source: SourceNote
    relation: str
    quote: str
    target: SourceNote


def link_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield drafts over named relations, and comparisons of two linked notes' dates."""
    known = {note.note_id: properties_of(note) for note in vault.notes}
    for step in _steps(vault, known):
        name = names.of(step.source)
        if name and names.of(step.target):
            yield from _values(vault, step, name, known[step.target.note_id])
    for note in vault.notes:
        yield from _older(vault, names, note, known)


def _steps(vault: SourceVault, known: Known) -> Iterator[Step]:
    """A property leads to a note by a link, or by the number that notes carry as their id."""
    id_key = _id_key(vault, known)
    ids = _notes_by_number(vault, known, id_key)
    for note in vault.notes:
        links = _property_links(note)
        for folded, found in known[note.note_id].items():
            target = vault.by_id.get(links.get(folded, "")) or ids.get(_number(found.value))
            if target and target is not note and folded != id_key:
                yield Step(note, found.key, found.quote, target)


def _property_links(note: SourceNote) -> dict[str, str]:
    """Return the note that a front matter property links to, where it links to one."""
    front = note.text.encode()[: note.body_start]
    found: dict[str, set[str]] = defaultdict(set)
    for link in note.links:
        if link.start < note.body_start:
            keys = _KEY_LINE.findall(front[: link.start].decode("utf-8", "replace"))
            if keys:
                found[key_name(keys[-1])].add(link.target)
    return {key: min(targets) for key, targets in found.items() if len(targets) == 1}


def _notes_by_number(vault: SourceVault, known: Known, key: str) -> dict[str, SourceNote]:
    """Return notes by the number that one property gives each of them alone."""
    if not key:
        return {}
    return {
        _number(known[note.note_id][key].value): note
        for note in vault.notes
        if key in known[note.note_id]
    }


def _id_key(vault: SourceVault, known: Known) -> str:
    """Name the property whose numbers all differ and stand in their notes' titles."""
    carriers: dict[str, list[str]] = defaultdict(list)
    for note in vault.notes:
        for folded, found in known[note.note_id].items():
            number = _number(found.value)
            if number and re.search(rf"\b0*{number}\b", note.title):
                carriers[folded].append(number)
    sure = [k for k, held in carriers.items() if len(held) == len(set(held)) >= _FEWEST_IDS]
    return min(sure, key=lambda k: (-len(carriers[k]), k)) if sure else ""


def _number(value: str) -> str:
    found = _NUMBER.fullmatch(value.strip())
    return found[1] if found else ""


def _values(
    vault: SourceVault, step: Step, name: str, properties: Mapping[str, Property]
) -> Iterator[Draft]:
    wording = templates(step.source.language)
    for folded, found in properties.items():
        if not is_worth_asking(step.target, folded, found) or _leads_back(step, found):
            continue
        question = _worded(vault, wording, step, name, found)
        if question:
            yield Draft(
                rule="linked",
                topic=f"{key_name(step.relation)}/{concept_of(folded) or folded}",
                category="multi_hop",
                language=wording.code,
                question=question,
                answer=found.value,
                facts=(
                    *facts_of(step.source.note_id, [step.quote]),
                    *facts_of(step.target.note_id, [found.quote]),
                ),
                reason="One note names the other, which holds the answer.",
                weight=1.1,
            )


def _leads_back(step: Step, found: Property) -> bool:
    """A number is another reference; the asking note's own name answers nothing."""
    return bool(_NUMBERS.fullmatch(found.value)) or fold(step.source.title) in fold(found.value)


def _worded(
    vault: SourceVault, wording: Templates, step: Step, name: str, found: Property
) -> str | None:
    relation = step.relation.replace("_", " ")
    linked = wording.word("linked_name", name=name, relation=relation)
    if linked:
        return asked_value(vault, wording, found, linked)
    key = shown_key(found.key, vault)
    return wording.word("linked_value", key=key, name=name, relation=relation)


def _older(vault: SourceVault, names: Names, note: SourceNote, known: Known) -> Iterator[Draft]:
    """Two linked notes that both give a day under one name can be compared by it."""
    counts = Counter(link.target for link in note.links if link.target != note.note_id)
    nearest = sorted(counts, key=lambda target: (-counts[target], target))[:_MOST_PAIRS]
    for other in (vault.by_id[target] for target in nearest if target in vault.by_id):
        first, second = names.of(note), names.of(other, note.language)
        if not first or not second or other.language != note.language:
            continue
        draft = _comparison(vault, note, other, (first, second), known)
        if draft:
            yield draft


def _comparison(
    vault: SourceVault, note: SourceNote, other: SourceNote, names: tuple[str, str], known: Known
) -> Draft | None:
    wording = templates(note.language)
    shared = set(known[note.note_id]) & set(known[other.note_id])
    for folded in sorted(shared, key=lambda key: (concept_of(key) not in _BEST_DATES, key)):
        a, b = known[note.note_id][folded], known[other.note_id][folded]
        older = _older_of(a, b)
        key = shown_key(a.key, vault)
        question = wording.older(concept_of(folded), key=key, name=names[0], other=names[1])
        if older is None or not question or folded in ignored("keys") - _DATE_KEYS:
            continue
        return Draft(
            rule="older",
            topic=folded,
            category="multi_hop",
            language=wording.code,
            question=question,
            answer=names[older],
            facts=(
                *facts_of(note.note_id, [a.quote]),
                *facts_of(other.note_id, [b.quote]),
            ),
            reason="One note links to the other; both dates are needed.",
            weight=0.8,
        )
    return None


def _older_of(a: Property, b: Property) -> int | None:
    """Return which of two properties is the earlier day; None if they are no two days."""
    days = [parse_date(found.value) for found in (a, b)]
    if any(day is None or len(day) != _DAY for day in days):
        return None
    first, second = str(days[0]), str(days[1])
    if is_later(first, second):
        return 1
    return 0 if is_later(second, first) else None
