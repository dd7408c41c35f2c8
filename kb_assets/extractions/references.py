"""Read what a property's value refers to: linked notes, numbers, names. Pure, linear."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from kb_core.dates import parse_date
from kb_core.names import LONGEST_NAME, is_nameable, name_key
from kb_knowledge.records import NAME, NOTE, NUMBER, Reference

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]{0,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,400})\]\(([^()\s]{0,800})[^()\n]{0,200}\)")
_ADDRESS = re.compile(r"<[^<>\n]{0,200}>|\S{1,64}@\S{1,200}|\([^()\n]{0,80}@[^()\n]{0,80}\)")
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.|[./~]")  # an address or a path
_COMMAS = re.compile(r"\s*[,;，；、]\s*|\s*\n\s*")
# "the core team and community" is one name.
_AND = re.compile(r"\s+(?:and|und|y|et|&)\s+(?![a-zß-öø-ÿ])|\s*[,;，；、]\s*|\s*\n\s*")
_NUMBER = re.compile(r"#?0*([0-9]{1,9})")
_NUMBERED = re.compile(r"([^\W\d_][\w ]{0,40}?)[ #_-]{0,3}0*([0-9]{1,9})")
_ROLE = re.compile(r"(?<=\S)\s{0,8}[(（][^()（）]{1,100}[)）]\s{0,8}$")  # behind a name
_EDGES = " \t\"'`*_,;:“”„«»()[]"
_NONE_WORDS = "none n/a na - -- — – ? unknown tbd nobody null keine keiner unbekannt 无 暂无"
_NOTHING = frozenset(_NONE_WORDS.split())
_ANSWERS = frozenset(("yes", "no", "true", "false", "ja", "nein", "是", "否"))  # no names
_MOST_WORDS = 8  # of a name; more is a sentence
PERSON, LOCATION = "Person", "Location"


class Named(NamedTuple):
    """Something a value refers to, and what it is called there."""

    reference: Reference
    name: str


def linked(value: str) -> list[Named]:
    """Return the notes that a value links to, in order."""
    found = []
    for match in _WIKILINK.finditer(value):
        target = match[1].rstrip("\\").partition("#")[0].strip()
        if target:
            shown = (match[2] or "").strip() or last_part(target)
            found.append(Named(Reference(NOTE, target), shown))
    return found


def is_all_links(value: str) -> bool:
    """Tell whether a value is nothing but wikilinks."""
    return not _COMMAS.sub("", _WIKILINK.sub("", value)).strip()


def named(value: str, kind: str, labels: Collection[str]) -> list[Named]:
    """Return what a plain text of a linking property names: numbers or names, each once.

    `kind` is the type of what it names, `labels` what the numbers of this note count. A text with
    a part that is no name (an address, a date, a sentence) names nothing: it is a value.
    """
    shown = _LINK.sub(r"\1", value)
    found: list[Named] = []
    for part in _parts(_ADDRESS.sub(" ", shown), kind):
        one = _one(part, kind, labels)
        if one is None:
            return []
        found.append(one)
    return list(dict.fromkeys(found))


def plain(value: str) -> str:
    """Return a value with its links as a reader sees them."""
    if "[" not in value:
        return " ".join(value.split())
    shown = _WIKILINK.sub(lambda found: _shown(found[1], found[2]), value)
    return " ".join(_LINK.sub(r"\1", shown).split())


def is_nothing(value: str) -> bool:
    """Tell whether a value says that there is none."""
    return name_key(value.strip(_EDGES) or value) in _NOTHING or not value.strip()


def last_part(target: str) -> str:
    """Return a target's own name, without folders and ending.

    >>> last_part("Projects/Pricing.md")
    'Pricing'
    """
    return target.rpartition("/")[2].removesuffix(".md") or target


def _shown(target: str, display: str | None) -> str:
    return (display or "").strip() or last_part(target.rstrip("\\").partition("#")[0].strip())


def _parts(value: str, kind: str) -> Iterator[str]:
    """Yield the items of a text; a place may have a comma of its own."""
    joint = _AND if kind == PERSON else _COMMAS
    parts = [value] if kind == LOCATION else joint.split(value)
    for part in parts:
        item = " ".join((_ROLE.sub("", part) if kind == PERSON else part).strip(_EDGES).split())
        if item and not is_nothing(item):
            yield item


def _one(item: str, kind: str, labels: Collection[str]) -> Named | None:
    number = _NUMBER.fullmatch(item)
    if number:
        label = next(iter(labels), None)
        return _numbered(label, number[1]) if label else None
    labelled = _NUMBERED.fullmatch(item)
    if labelled and name_key(labelled[1].strip()) in labels:
        return _numbered(name_key(labelled[1].strip()), labelled[2])
    return Named(Reference(NAME, item), item) if _is_name(item, kind) else None


def _numbered(label: str, number: str) -> Named:
    name = f"{label} {int(number)}"
    return Named(Reference(NUMBER, name), name)


def _is_name(item: str, kind: str) -> bool:
    """Tell whether an item names something; a person may have a name of two letters."""
    if len(item) > LONGEST_NAME or len(item.split()) > _MOST_WORDS or _PLACE.match(item):
        return False
    is_short = kind == PERSON and len(item) > 1 and item[0].isalpha() and item[0] == item[0].upper()
    return (
        (is_nameable(item) or is_short) and name_key(item) not in _ANSWERS and not parse_date(item)
    )
