"""Read single items of a language model's answer: exact fields, closed lists, short texts. Pure.

Whatever is not in form is dropped with its reason; nothing here looks at the chunk.
"""

import re
from typing import Any, NamedTuple

from kb_assets.answer_text import is_text
from kb_assets.asking.chunk_schema import CLAIMS, LINKS, MENTIONS, fields_of
from kb_assets.extractions.model_words import flat
from kb_assets.extractions.observations import LONGEST_VALUE
from kb_core.dates import parse_date
from kb_core.names import LONGEST_NAME
from kb_core.ontology import Ontology
from kb_core.property_names import property_key

LONGEST_ATTRIBUTE = 60  # characters
LONGEST_WORDS = 1_000  # of evidence or a quote; what is kept of it is shorter
_LONGEST_DATE = 40
_DATES = ("valid_from", "valid_to")
_ATTRIBUTE = re.compile(r"[^\W\d_][\w '’./&+()-]*")
_DIGITS = re.compile(r"[0-9]+")
_THOUSANDS = re.compile(r"(?<=[0-9])[,'’ \u00a0\u202f](?=[0-9]{3}(?![0-9]))")


class DroppedError(Exception):
    """An item that does not stand, and why; never leaves this room."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MentionItem(NamedTuple):
    """A thing that a chunk names."""

    name: str
    type: str
    aliases: tuple[str, ...]


class LinkItem(NamedTuple):
    """Two things that a chunk links."""

    source: str
    target: str
    type: str
    evidence: str
    modality: str


class ClaimItem(NamedTuple):
    """A value that a chunk states."""

    entity: str
    attribute: str  # folded, canonical
    value: str
    quote: str
    modality: str
    valid_from: str | None
    valid_to: str | None
    dates_dropped: int  # that were given and are none


def read_mention(item: Any, ontology: Ontology) -> MentionItem:
    """Read an item of `mentions`. Raises DroppedError."""
    _fields(item, MENTIONS)
    aliases = item["aliases"]
    if not isinstance(aliases, list) or not all(map(is_text, aliases)):
        raise DroppedError("wrong_fields")
    names = {flat(each) for each in aliases if len(each) <= LONGEST_NAME}
    return MentionItem(
        _text(item["name"], LONGEST_NAME),
        _one_of(item["type"], ontology.types, "unknown_type"),
        tuple(sorted(names - {""})),
    )


def read_link(item: Any, ontology: Ontology) -> LinkItem:
    """Read an item of `links`. Raises DroppedError."""
    _fields(item, LINKS)
    return LinkItem(
        _text(item["source"], LONGEST_NAME),
        _text(item["target"], LONGEST_NAME),
        _one_of(item["type"], ontology.links, "unknown_type"),
        _text(item["evidence"], LONGEST_WORDS),
        _one_of(item["modality"], ontology.modalities, "unknown_modality"),
    )


def read_claim(item: Any, ontology: Ontology) -> ClaimItem:
    """Read an item of `claims`. Raises DroppedError.

    The figures of a value have to be those of its quote.
    """
    _fields(item, CLAIMS)
    value, quote = _text(item["value"], LONGEST_VALUE), _text(item["quote"], LONGEST_WORDS)
    if not _figures(value) <= _figures(quote) and parse_date(value) is None:
        raise DroppedError("value_not_in_quote")
    given = [_text(item[name], _LONGEST_DATE, is_empty_fine=True) for name in _DATES]
    dates = [parse_date(each) for each in given]
    return ClaimItem(
        _text(item["entity"], LONGEST_NAME),
        _attribute(item["attribute"], ontology),
        value,
        quote,
        _one_of(item["modality"], ontology.modalities, "unknown_modality"),
        dates[0],
        dates[1],
        sum(bool(text) and date is None for text, date in zip(given, dates, strict=True)),
    )


def _fields(item: Any, name: str) -> None:
    if not isinstance(item, dict) or item.keys() != fields_of(name):
        raise DroppedError("wrong_fields")


def _text(value: Any, longest: int, *, is_empty_fine: bool = False) -> str:
    if not is_text(value):
        raise DroppedError("wrong_fields")
    if len(value) > longest:
        raise DroppedError("too_long")
    text = flat(value)
    if not text and not is_empty_fine:
        raise DroppedError("empty")
    return text


def _one_of(value: Any, words: Any, reason: str) -> str:
    if not isinstance(value, str) or value not in words:
        raise DroppedError(reason)
    return value


def _attribute(value: Any, ontology: Ontology) -> str:
    """Return an attribute's canonical name; one with marks in it is no name of anything."""
    text = _text(value, LONGEST_ATTRIBUTE)
    if not _ATTRIBUTE.fullmatch(text):
        raise DroppedError("bad_attribute")
    return ontology.attribute(property_key(text))


def _figures(text: str) -> set[int]:
    """Return the whole numbers in a text, thousands put together."""
    return {int(digits) for digits in _DIGITS.findall(_THOUSANDS.sub("", text))}
