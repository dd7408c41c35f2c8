"""Questions on a note's properties: front matter and the header lines below its title. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from eval_assets.suggestions.drafts import Draft, facts_of, is_quotable
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import (
    Templates,
    concept_of,
    ignored,
    key_name,
    templates,
)
from eval_assets.suggestions.values import is_askable, is_date, is_name
from eval_assets.suggestions.wording import plain
from kb_core.dates import parse_date
from kb_core.text import fold

_KEY_SIZE = range(2, 33)
_TOP = 6_000  # characters below the front matter in which a header block stands
_NUMBERS = re.compile(r"[\d\s,;]+")
_USUAL = 0.5  # a value that so many notes share tells nothing


class Property:
    """One property of a note: its name as written, its plain value and the line that says so."""

    def __init__(self, key: str, value: str, quote: str) -> None:
        """Take what was read."""
        self.key, self.value, self.quote = key, value, quote


def properties_of(note: SourceNote) -> dict[str, Property]:
    """Return a note's properties by folded name; one that is given two values is left out."""
    values: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, value in note.properties:
        values[key_name(key)].append((key, plain(value).strip("\"' ")))
    found = {}
    for name, given in values.items():
        read = _one_value(note, name, given)
        if read:
            found[name] = read
    return found


def property_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield a draft for every property that is worth asking for."""
    known = {note.note_id: properties_of(note) for note in vault.notes}
    shares = _value_shares(known)
    for note in vault.notes:
        name = names.of(note)
        if name is None:
            continue
        for folded, found in known[note.note_id].items():
            share = shares[(folded, fold(found.value))]
            if share <= _USUAL and is_worth_asking(note, folded, found):
                yield from _draft(vault, note, name, folded, found, share)


def is_worth_asking(note: SourceNote, folded: str, found: Property) -> bool:
    """Say whether a property's value is an answer that the title does not give already."""
    if folded in ignored("keys") or len(folded) not in _KEY_SIZE or "." in folded:
        return False
    value = found.value
    if not is_askable(value) or not is_quotable(found.quote):
        return False
    if value.isdigit() and len(value) < 5 and not concept_of(folded):
        return _is_figure_key(folded)
    return fold(value) not in fold(note.title)


def asked_value(vault: SourceVault, wording: Templates, found: Property, name: str) -> str | None:
    """Word the question for one property of a note, which `name` names."""
    concept = concept_of(found.key)
    if concept and (question := wording.concept(concept, name=name)):
        return question
    shown = shown_key(found.key, vault)
    return wording.word(_kind(vault, wording, found), key=shown, name=name)


def _kind(vault: SourceVault, wording: Templates, found: Property) -> str:
    """Choose the wording that a property's name and value allow."""
    key, value = key_name(found.key), found.value
    is_people = is_name(value) and wording.text("person")
    if is_date(value) and wording.text("date"):
        return "value" if key.endswith("date") else "date"
    if is_people and is_person_key(wording, key) and "," not in value:
        return "person"
    if is_people and key.endswith(" by"):
        return "agent"
    if not vault.is_noun(key.split()[-1]) and wording.text("agent"):
        return "given"
    if not key.endswith("s") or key.endswith("ss"):
        return "value"
    return "number" if value.isdigit() and wording.text("number") else "values"


def is_person_key(wording: Templates, key: str) -> bool:
    """Say whether a property's last word names a person's part in something."""
    words = key_name(key).split()
    people = wording.words("person_words")
    return bool(words) and (words[-1] in people or " ".join(words[-2:]) in people)


def shown_key(key: str, vault: SourceVault) -> str:
    """Write a property's name as words; capitals stay where the vault's sentences write them.

    >>> shown_key("BDFL-Delegate", SourceVault(())), shown_key("superseded_by", SourceVault(()))
    ('BDFL delegate', 'superseded by')
    """
    words = re.sub(r"[-_]+", " ", key).split()
    return " ".join(
        word if word.isupper() or vault.words[word] > vault.words[word.lower()] else word.lower()
        for word in words
    )


def _draft(
    vault: SourceVault, note: SourceNote, name: str, folded: str, found: Property, share: float
) -> Iterator[Draft]:
    wording = templates(note.language)
    question = asked_value(vault, wording, found, name)
    is_reference = _NUMBERS.fullmatch(found.value) and not vault.is_noun(folded.split()[-1])
    if not question or is_reference:
        return
    yield Draft(
        rule="property",
        topic=concept_of(folded) or folded,
        category="single_fact",
        language=wording.code,
        question=question,
        answer=found.value,
        facts=facts_of(note.note_id, [found.quote]),
        reason="One property of a note says it.",
        weight=1.0 - share if concept_of(folded) or vault.is_noun(folded.split()[-1]) else 0.4,
    )


def _one_value(note: SourceNote, name: str, given: list[tuple[str, str]]) -> Property | None:
    """Join a list's items; a body line that repeats the front matter counts once."""
    lines = _lines(note, name)
    if not lines:
        return None
    quote = lines[-1]
    value = plain(re.sub(r"^[^:：]{1,80}[:：]{1,2}\**\s*", "", quote)).strip("\"'[] ")
    stated = [text for _, text in given if text]
    if (
        not value
        or value.endswith((",", ";", ":"))
        or any(not _agrees(text, value) for text in stated)
    ):
        return None
    return Property(given[-1][0], _tidy(value), quote)


def _agrees(stated: str, value: str) -> bool:
    """A value read by another reader may spell lists, quotes and dates otherwise."""
    a, b = (" ".join(re.sub(r"[\"'\[\],]", " ", fold(text)).split()) for text in (stated, value))
    return a in b or b in a or (parse_date(stated) or a) == (parse_date(value) or b)


def _lines(note: SourceNote, name: str) -> list[str]:
    """Return the lines `name: value`, with what continues them, blanks folded."""
    top = note.text[: note.body_start + _TOP]
    key = r"[-_\s]+".join(re.escape(word) for word in name.split())
    start = rf"^(?:[-*+] )?\**(?:{key})\**[:：]{{1,2}}\**[ \t]*"
    line = r"\S[^\n]*(?:\n[ \t]{2,}[^\s:-][^\n:]*$)*"
    items = r"(?:\n[ \t]*- [^\n]*)+"
    found = re.finditer(f"{start}(?:{line}|{items})", top, re.MULTILINE | re.IGNORECASE)
    return [" ".join(each[0].split()).removeprefix("- ") for each in found]


def _tidy(value: str) -> str:
    """Write a list as people do: commas between its items, no quotation marks."""
    items = value.removeprefix("- ").split(" - ") if value.startswith("- ") else [value]
    return ", ".join(re.sub(r"[\"']\s*,\s*[\"']", ", ", item).strip("\"' ") for item in items)


def _value_shares(known: Mapping[str, Mapping[str, Property]]) -> dict[tuple[str, str], float]:
    """Return for each property and value the share of the property's notes that have it."""
    pairs = Counter(
        (key, fold(found.value))
        for found_keys in known.values()
        for key, found in found_keys.items()
    )
    totals: Counter[str] = Counter()
    for (key, _), number in pairs.items():
        totals[key] += number
    return {pair: (number - 1) / max(totals[pair[0]], 4) for pair, number in pairs.items()}


def _is_figure_key(folded: str) -> bool:
    """A small number without a unit is an answer only where its name says what it counts."""
    return len(folded) > 5
