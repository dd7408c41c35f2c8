"""Read what a note's properties say: what it is, what it is known by, its links and its claims.

Pure. Properties of front matter and header block belong to the note's first chunk and are said
once; an inline field belongs to the chunk it stands in. A field of a task is not the note's.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from kb_assets.extractions.note_text import NoteText
from kb_assets.extractions.observations import LONGEST_VALUE, Said
from kb_assets.extractions.placing import FIELD, FRONT_MATTER, HEADER, Placed
from kb_assets.extractions.references import (
    Named,
    is_all_links,
    is_nothing,
    linked,
    named,
    plain,
)
from kb_core.dates import find_date, parse_date
from kb_core.names import name_key
from kb_core.ontology import FACT, RELATED_TO, STATUS, LinkProperty, Ontology
from kb_core.property_names import property_key
from kb_knowledge.records import NUMBER, SELF, Reference

SUGGESTION = "ai_suggestion"
SELF_REFERENCE = Reference(SELF)
_WHOLE_NUMBER = re.compile(r"0*([0-9]{1,9})")
_NAMED_NUMBER = re.compile(r"([^\W\d_][\w ]{0,40}?)[ #_-]{1,3}0*([0-9]{1,9})(?!\w)")
_VALID = {"valid_from": 0, "valid_to": 1, "valid_until": 1}
_MILLISECONDS = re.compile(r"[0-9]{13}")
_TYPE_WORDS = 2
_DAY = len("2024-05-02")
_TEMPLATE = re.compile(r"\{\{|<%|\{%")  # a place that a template leaves open
_LONGEST_TYPE = 40


class Frame(NamedTuple):
    """What the note's properties say about all the others."""

    labels: tuple[str, ...]  # what its own numbers count: `pep`
    modality: str
    valid: tuple[str | None, str | None]
    attributes: frozenset[str]  # those it has under their whole names


def read_frame(note: NoteText, placed: Sequence[Placed], ontology: Ontology) -> Frame:
    """Read a note's status, validity and labels."""
    valid: list[str | None] = [None, None]
    attributes: set[str] = set()
    for each in placed:
        key = property_key(each.name)
        if ontology.is_known(key):
            attributes.add(ontology.attribute(key))
        if each.basis != FIELD and key in _VALID:
            valid[_VALID[key]] = valid[_VALID[key]] or parse_date(plain(each.value))
    status = next((p.value for p in placed if p.basis != FIELD and _is_status(p, ontology)), "")
    modality = ontology.modality(plain(status), is_record=_is_of_a_day(note))
    names = _own_names(note)
    labels = {property_key(p.name) for p in placed if _number(p, names, ontology)}
    return Frame(tuple(sorted(labels)), modality, (valid[0], valid[1]), frozenset(attributes))


def read_properties(
    said: Said, note: NoteText, placed: Sequence[Placed], frame: Frame, ontology: Ontology
) -> None:
    """Add what the properties of one version say."""
    names = _own_names(note)
    # A header line stands in the chunk itself, so its words are the better quote.
    for each in sorted(placed, key=lambda each: each.basis != HEADER):
        piece = note.piece_at(each.start) if each.start is not None else 0
        key = property_key(each.name)
        if piece is None or each.is_of_item or _is_empty(each.value):
            said.counts["properties_left"] += 1
            continue
        number = _number(each, names, ontology)
        if number:
            name = f"{key.replace('_', ' ')} {number}"
            said.mention(piece, SELF_REFERENCE, "", "identifier", name)
            continue
        if key in ontology.type_properties and each.basis != FIELD:
            _say_type(said, note, each.value, ontology)
        # `image.url` and `config.theme` are as silent as `image` and `config`.
        if key.partition(".")[0] not in ontology.silent:
            _say(said, note, piece, each, frame, ontology)


def _is_empty(value: str) -> bool:
    return is_nothing(value) or bool(_TEMPLATE.search(value))


def _say(
    said: Said, note: NoteText, piece: int, each: Placed, frame: Frame, ontology: Ontology
) -> None:
    key = property_key(each.name)
    link = ontology.link(key) if not ontology.is_known(key) else None
    others = _others(each.value, link, frame)
    if not others and link is None and not ontology.is_known(key) and is_all_links(each.value):
        link, others = LinkProperty(RELATED_TO, False, "", True), linked(each.value)
    if link and others:
        _say_links(said, note, piece, each, (link, others), frame)
    else:
        _say_claim(said, note, piece, each, frame, ontology)


def _others(value: str, link: LinkProperty | None, frame: Frame) -> list[Named]:
    if link is None:
        return []
    return linked(value) or named(value, link.value_type, frame.labels)


def _say_links(
    said: Said,
    note: NoteText,
    piece: int,
    each: Placed,
    found: tuple[LinkProperty, Sequence[Named]],
    frame: Frame,
) -> None:
    link, others = found
    kind = (link.type, property_key(each.name))
    modality = _modality(note, each, frame, link.is_of_note)
    for other in others:
        ends = (SELF_REFERENCE, other.reference)
        valid_from = frame.valid[0] if each.basis != FIELD else None
        phrase = f"{each.name}: {plain(each.value)}"
        said.link(
            piece, ends[::-1] if link.is_inverse else ends, kind, phrase, modality, valid_from
        )
        if other.reference.kind != NUMBER:
            said.mention(piece, other.reference, link.value_type, "value", other.name)


def _say_claim(
    said: Said, note: NoteText, piece: int, each: Placed, frame: Frame, ontology: Ontology
) -> None:
    value = _dated(plain(each.value))
    if not value or len(value) > LONGEST_VALUE:
        said.counts["long_values"] += 1
        return
    attribute = _attribute(property_key(each.name), frame, ontology)
    modality = _modality(note, each, frame, ontology.is_of_note(attribute))
    valid = frame.valid if each.basis != FIELD else (None, None)
    quote = f"{each.name}{'::' if each.basis == FIELD else ':'} {each.value}"
    said.claim(piece, SELF_REFERENCE, (attribute, value), quote, each.basis, modality, valid)


def _dated(value: str) -> str:
    """Return a value, or the date that a number of milliseconds is."""
    return parse_date(value) or value if _MILLISECONDS.fullmatch(value) else value


def _attribute(key: str, frame: Frame, ontology: Ontology) -> str:
    if ontology.is_known(key):
        return ontology.attribute(key)
    prefixed = ontology.prefixed_attribute(key)
    return prefixed if prefixed and prefixed not in frame.attributes else key


def _modality(note: NoteText, each: Placed, frame: Frame, is_of_note: bool) -> str:
    """Return how a property is meant; in a conversation nobody knows whose field it is."""
    if note.is_chat and each.basis == FIELD:
        return SUGGESTION
    return FACT if is_of_note else frame.modality


def _is_of_a_day(note: NoteText) -> bool:
    """Tell whether a note is named after a day: it records what was."""
    dates = (find_date(name) for name in (note.note_id.rpartition("/")[2], note.title))
    return any(date is not None and len(date) == _DAY for date in dates)


def _is_status(each: Placed, ontology: Ontology) -> bool:
    return ontology.attribute(property_key(each.name)) == STATUS


def _say_type(said: Said, note: NoteText, value: str, ontology: Ontology) -> None:
    """Say what the note is about; a type of one or two words that is unknown counts as it is."""
    shown = plain(value)
    if name_key(shown) in ontology.no_types or len(shown) > _LONGEST_TYPE:
        return
    kind = ontology.entity_type(shown)
    if kind is None and len(shown.split()) <= _TYPE_WORDS and any(map(str.isalpha, shown)):
        kind = " ".join(word[:1].upper() + word[1:] for word in shown.split())
    if kind:
        said.mention(0, SELF_REFERENCE, kind, "type", note.title)


def _own_names(note: NoteText) -> frozenset[tuple[str, str]]:
    """Return the labels with numbers that begin the note's title or are its aliases."""
    found = [_NAMED_NUMBER.match(note.title)]
    found += [_NAMED_NUMBER.fullmatch(alias) for alias in note.aliases]
    return frozenset((property_key(each[1]), each[2]) for each in found if each)


def _number(each: Placed, names: frozenset[tuple[str, str]], ontology: Ontology) -> str | None:
    """Return the number by which a property names the note, or None."""
    number = _WHOLE_NUMBER.fullmatch(each.value.strip())
    if each.basis not in (FRONT_MATTER, HEADER) or not number:
        return None
    key = property_key(each.name)
    is_own = (key, number[1]) in names or key in ontology.identifiers
    return number[1] if is_own else None
