"""Who is called what among the notes of one tenant, and whom a name in full means. Pure.

A name that stands where a property names something is compared folded, without the marks around it.
A title is taken in any capitals; an alias or a short form of one word only in its own, because
`HIS` is not `his`. `Acme Ltd` may mean the note `Acme`, unless an `Acme GmbH` is there as well; the
other way round nothing is taken for more than it says.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_core.names import KINDS, TITLE, forms_of, is_one_word, meant, name_key

NOBODY = "nobody"  # no note is called so: the name is an entity of its own
SEVERAL = "several"  # more than one note is
COMPANY = "company"  # a title with a company's legal form or address behind it

_AROUND = " \t\"'“”‘’«»„‚"
_BEHIND = _AROUND + ".,;:"
_COMPANY_END = re.compile(
    r"(?:,?\s(?:ltd|limited|llc|inc|incorporated|corp|corporation|plc|gmbh|ag|kg|ug|ohg|sa|sas"
    r"|sarl|srl|spa|bv|nv|ab|oy|aps|kk|株式会社|有限公司)\.?|\.(?:ai|com))$"
)
_LEGAL_FORM_MARKS = re.compile(r"[.,]")
_PUNCTUATED = re.compile(r"\b(?:[a-z]\.){2,}$")  # of S.A., which is no end of a sentence


class Meant(NamedTuple):
    """Whom a name means."""

    note_id: str | None
    rule: str  # title, alias, short or company; nobody or several where there is no one note


def entity_key(text: str) -> str:
    """Fold a name into what entities are told apart by: marks around it do not count.

    >>> entity_key("“Acme  Ltd.”"), entity_key("C++"), entity_key("...")
    ('acme ltd', 'c++', '...')
    """
    key = name_key(text)
    is_abbreviated = key.endswith(".") and _PUNCTUATED.search(key)
    return key.lstrip(_AROUND).rstrip(_AROUND if is_abbreviated else _BEHIND) or key


class Names:
    """The names of a tenant's notes."""

    def __init__(self) -> None:
        self._carriers: dict[str, dict[tuple[int, str], set[str]]] = defaultdict(dict)
        self._companies: dict[str, set[str]] = defaultdict(set)  # bare name -> full names

    def add(self, note_id: str, title: str, stem: str, aliases: Sequence[str]) -> None:
        """File what a note is called."""
        for kind, form in forms_of(title, stem, aliases):
            key = entity_key(form)
            forms = self._carriers[key].setdefault((kind, note_id), set())
            forms.add(unicodedata.normalize("NFC", form))
            self._hear(key)

    def hear(self, text: str) -> None:
        """Take down that somebody is called so: of two `Acme` neither is just `Acme`."""
        self._hear(entity_key(text))

    def _hear(self, key: str) -> None:
        for bare in _without_company(key):
            self._companies[bare].add(_LEGAL_FORM_MARKS.sub("", key))

    def meant(self, text: str) -> Meant:
        """Return the one note that a name means, or why there is none."""
        key = entity_key(text)
        if key in self._carriers:
            return self._carried(key, text)
        for bare in _without_company(key):
            others = self._companies.get(bare, set()) - {_LEGAL_FORM_MARKS.sub("", key)}
            is_lone = bare in self._carriers and not others
            found = self._carried(bare, text) if is_lone else Meant(None, NOBODY)
            if found.rule == KINDS[TITLE]:
                return Meant(found.note_id, COMPANY)
        return Meant(None, NOBODY)

    def _carried(self, key: str, text: str) -> Meant:
        carriers = self._carriers[key]
        kind, notes = meant(carriers)
        if len(notes) != 1:
            return Meant(None, SEVERAL)
        written = unicodedata.normalize("NFC", text).strip(_BEHIND)
        is_bound = kind != TITLE and is_one_word(key)
        if is_bound and written not in {each.strip(_BEHIND) for each in carriers[kind, notes[0]]}:
            return Meant(None, NOBODY)
        return Meant(notes[0], KINDS[kind])


def is_company(text: str) -> bool:
    """Tell whether a name ends in a company's legal form or address."""
    return any(True for _ in _without_company(entity_key(text)))


def _without_company(key: str) -> Iterator[str]:
    found = _COMPANY_END.search(key)
    if found and found.start():
        yield key[: found.start()]
