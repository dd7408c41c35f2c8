"""Does a chunk say what an answer says it does? Words compared as a reader would. Pure, linear.

White space counts as one blank, composed letters and typographic quotes as their plain forms, and
signs that nobody sees do not count. A quote keeps its capitals; a name may have others.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kb_assets.extractions.note_text import NoteText
from kb_core.dates import parse_date
from kb_core.name_places import stands_alone
from kb_core.names import folded, is_nameable, name_key
from kb_core.ontology import Ontology
from kb_knowledge.records import NAME, NOTE, SELF, Reference

_MOST_WORDS = 8  # of a name; more is a sentence
_SHORTEST_QUOTE = 2
_MOST_PLACES = 200  # of one name or quote in a chunk
_UNSEEN = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_TWINS = str.maketrans("‘’‚‛“”„‟′″", "''''\"\"\"\"'\"")
_NO_NAME = re.compile(r"[<>{}\[\]|`\\]|://|^www\.|^[./~]|\S@\S")
_INSIDE = re.compile(r"[a-z0-9\u00c0-\u024f\u0370-\u052f]{2}", re.IGNORECASE)
_FIGURE = re.compile(r"[0-9][.,][0-9]")
_ARTICLE = re.compile(r"^(?:the|an?|our|their|this|that|his|her|my|your)\s+")
# What stands for a name without being one. The ontology's words for its types are added.
_GENERIC_WORDS = """
    author business colleague content conversation customer customers data day deal everybody
    everyone file friend group issue issues it item leader link list manager member month new
    nobody number office page part partner people process question reader reason result somebody
    someone something staff step system task tasks team text thing things today tomorrow user
    users vendor week work year yesterday 公司 项目 团队 客户 用户 会议 文件 人员 问题
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())


def flat(text: str) -> str:
    """Write a text on one line, composed, without signs that nobody sees."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFC", _CONTROL.sub(" ", text)))
    return " ".join(seen.split())


def plain(text: str) -> str:
    """Fold a text into what is compared; its characters stay in their places."""
    return flat(text).translate(_TWINS)


@dataclass(frozen=True)
class ChunkWords:
    """The words of one chunk and of what stands above it, ready to be looked through."""

    text: str
    breadcrumb: str

    def has_quote(self, words: str) -> bool:
        """Tell whether words stand in the chunk as they are."""
        wanted = plain(words)
        return len(wanted) >= _SHORTEST_QUOTE and any(_has(place, wanted) for place in self._places)

    def has_name(self, name: str) -> bool:
        """Tell whether a name stands in the chunk or above it, and not inside another word."""
        wanted = folded(plain(name))
        return bool(wanted) and any(_has_alone(place, wanted) for place in self._folded)

    @cached_property
    def _places(self) -> tuple[str, str]:
        return plain(self.text), plain(self.breadcrumb)

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(folded(place) for place in self._places)


def is_name(text: str, ontology: Ontology) -> bool:
    """Tell whether a text can name something: no pronoun, no common word, no address, no date."""
    if len(text.split()) > _MOST_WORDS or _NO_NAME.search(text):
        return False
    bare = _ARTICLE.sub("", name_key(text))
    if bare in _GENERIC or ontology.entity_type(bare):
        return False
    return is_nameable(text) and parse_date(text) is None


class References:
    """What the names in one chunk refer to."""

    def __init__(self, note: NoteText, piece: int) -> None:
        self._own = {name_key(name) for name in (note.title, *note.aliases)}
        self._linked: dict[str, str] = {}
        where = note.pieces[piece]
        for link in note.links_between(where.start, where.end):
            if link.target and not link.is_address:
                for name in (link.target, link.display or "", last_part(link.target)):
                    self._linked.setdefault(name_key(name), link.target)

    def is_own(self, name: str) -> bool:
        """Tell whether a name is the note's."""
        return name_key(name) in self._own

    def is_linked(self, name: str) -> bool:
        """Tell whether a link of the chunk is called so."""
        return bool(name) and name_key(name) in self._linked

    def of(self, name: str) -> Reference:
        """Return the note itself, the note that a link leads to, or the name."""
        if self.is_own(name):
            return Reference(SELF)
        target = self._linked.get(name_key(name))
        return Reference(NAME, name) if target is None else Reference(NOTE, target)


def last_part(target: str) -> str:
    """Return a target's own name, without folders, heading and ending."""
    bare = target.partition("#")[0]
    return bare.rpartition("/")[2].removesuffix(".md") or target


def _has(place: str, wanted: str) -> bool:
    """Tell whether words stand somewhere without cutting a word or a number at their edges."""
    return any(
        not (_is_cut(place, start) or _is_cut(place, start + len(wanted)))
        for start in _starts(place, wanted)
    )


def _has_alone(place: str, wanted: str) -> bool:
    return any(stands_alone(place, start, start + len(wanted)) for start in _starts(place, wanted))


def _starts(place: str, wanted: str) -> Iterator[int]:
    """Yield where words stand, as often as anybody looks."""
    start = place.find(wanted)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        yield start
        start = place.find(wanted, start + 1)


def _is_cut(text: str, at: int) -> bool:
    """Tell whether a place lies inside a number, or in a word of a script that has blanks."""
    if at == 0:
        return False
    return bool(_INSIDE.match(text, at - 1) or _FIGURE.search(text, max(0, at - 2), at + 2))
