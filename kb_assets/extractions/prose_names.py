"""Find what a sentence names: links, capitals, quoted names, the note itself. Pure, linear.

A lone word in capitals is a name only if the note does not use it in lower case; at the start of
a sentence it also has to stand in the middle of another. What stands in code, in an address or in
brackets is no name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from kb_assets.extractions.note_text import LinkRow, NoteText
from kb_assets.extractions.prose_sentences import Sentence
from kb_core.names import is_nameable, short_forms
from kb_core.prose_cues import ProseCues
from kb_knowledge.names import is_company
from kb_knowledge.records import NAME, NOTE, SELF, Reference

BARRIER = "\x00"  # code, an address, an image: nothing is read across it
_PERSON, _ORGANIZATION = "Person", "Organization"
_MARKUP = re.compile(
    r"(?P<wiki>(?<!!)\[\[(?P<target>[^\[\]\n|]{1,300})(?:\|(?P<shown>[^\[\]\n]{1,200}))?\]\])"
    r"|(?P<link>(?<!!)\[(?P<words>[^\[\]\n]{1,200})\]\([^()\s]{0,400}[^()\n]{0,100}\))"
    r"|(?P<gap>\s{2,})|(?P<rest>\[#?[\w.-]{1,30}\]_|\[\^[\w-]{1,30}\]|\*\*|(?<!\w)[*_]|[*_](?!\w)"
    r"|\s?\([^()\n]{0,120}\)|\s?（[^（）\n]{0,120}）|</?[A-Za-z][^<>\n]{0,80}>)"
    r"|(?P<barred>``[^`\n]{1,200}``|`[^`\n]{1,200}`|!\[|~~[^~]{1,200}~~|<[^<>\n]{1,300}>"
    r"|(?:https?://|www\.)\S{1,400}|\S{1,64}@\S{1,100}|\[|\])"
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"
_WORD = rf"{_CAPITAL}[\w’'&+#]{{0,40}}(?:[.\-](?=\w)[\w’'&+#]{{1,40}}){{0,4}}"
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,4}){0,3}[a-z]?(?!\w)"
_RUN = re.compile(
    rf"(?<![\w.@/\\’'\-])(?P<run>{_WORD}(?:[ ](?:(?:de|van|von|der|den|di|da|la|&)[ ]){{0,2}}"
    rf"(?:[A-Z]\.(?=\s[A-Z])|{_WORD}|{_NUMBER})){{0,6}})"
)
_QUOTED = re.compile(r"[《「『“](?P<name>[^《》「」『』“”\n]{2,30})[》」』”]")
_OWNER = re.compile(r"[’']s$|(?<=s)[’']$")
_OF = re.compile(r"[’']s(?!\w)|[’'](?=\s)")
_STARTS = re.compile(r"(?:^|[:：(\"“‘–—.!?…])\s{0,3}[\"“‘(]?$")
_LOWER = re.compile(r"(?<![^\W_])[a-z][a-z]{1,30}(?![^\W_])")
_MIDDLE = re.compile(rf"(?<=[a-z,] ){_WORD}")
# Code and addresses, where names stand in lower case.
_UNREAD = re.compile(
    r"\]\([^()\n]{0,400}\)|`[^`\n]{1,200}`|https?://\S{1,400}|\[\[[^\[\]|\n]{1,300}\|"
)
_MOST_WORDS = 4
_CONTEXT = 6  # characters looked back


class Name(NamedTuple):
    """Something named in a sentence."""

    start: int  # in the shown text
    end: int
    raw_start: int  # in the sentence as it stands
    raw_end: int
    reference: Reference
    text: str
    type: str  # told by its form; empty where it is not
    is_owner: bool  # 's stands behind it


class Shown(NamedTuple):
    """A sentence as a reader sees it."""

    text: str
    places: list[int]  # where each character stands in the raw sentence
    links: list[Name]


class NameReader:
    """Finds the names in the sentences of one note."""

    def __init__(self, note: NoteText) -> None:
        self._note = note
        text = note.data[note.body_start :].decode("utf-8", "replace")
        self._text = _UNREAD.sub(" ", text)

    def shown(self, sentence: Sentence) -> Shown:
        """Return a sentence without its markup, and the links in it."""
        raw = sentence.text
        rows = self._note.links_between(sentence.start, sentence.end) if "[" in raw else ()
        links = {row.start - sentence.start: row for row in rows}
        parts, places, names, at = [], list[int](), list[Name](), 0
        for found in _MARKUP.finditer(raw):
            words, name = _piece(found, raw, links, len(places) + found.start() - at)
            parts += [raw[at : found.start()], words]
            places += range(at, found.start())
            inside = max(raw.find(words, found.start()), found.start())
            places += range(inside, inside + len(words))
            names += [name] if name else []
            at = found.end()
        places += range(at, len(raw))
        text = "".join([*parts, raw[at:]])
        owners = [name._replace(is_owner=_is_owner(text, name.end)) for name in names]
        return Shown(text, places, owners)

    def names(self, shown: Shown, cues: ProseCues) -> list[Name]:
        """Return what a sentence names, in order, none inside another."""
        found = [*shown.links, *self._own(shown, cues)]
        if cues.language == "zh":
            found += _quoted(shown)
        taken = _without_overlaps(found)
        return _without_overlaps([*taken, *self._capitals(shown, cues, taken)])

    def _own(self, shown: Shown, cues: ProseCues) -> Iterator[Name]:
        for pattern in (self._own_names, _itself(cues.itself)):
            for found in pattern.finditer(shown.text) if pattern else ():
                yield _name(shown, *found.span(), Reference(SELF), "")

    def _capitals(self, shown: Shown, cues: ProseCues, taken: Iterable[Name]) -> Iterator[Name]:
        text = list(shown.text)
        for name in taken:
            text[name.start : name.end] = BARRIER * (name.end - name.start)
        for found in _RUN.finditer("".join(text)):
            span = self._trimmed(shown.text, found.start("run"), found.end("run"), cues)
            if span:
                yield self._named(shown, *span, cues)

    def _named(self, shown: Shown, start: int, end: int, kind: str, cues: ProseCues) -> Name:
        words = shown.text[start:end]
        kind = kind or (_ORGANIZATION if is_company(words) else "")
        behind = _noun(cues.kinds).match(shown.text, end)
        end = behind.end() if behind else end
        return _name(shown, start, end, Reference(NAME, words), kind)._replace(text=words)

    def _trimmed(
        self, text: str, start: int, end: int, cues: ProseCues
    ) -> tuple[int, int, str] | None:
        """Cut words off a run of capitals that are no part of a name."""
        owner = _OWNER.search(text, start, end)
        end = owner.start() if owner else end
        words = text[start:end].split(" ")
        is_first = bool(_STARTS.search(text[max(0, start - _CONTEXT) : start]))
        kind = ""
        group = _noun(cues.groups).match(text, end) if not owner else None
        while words and self._is_no_part(words[0], is_first and len(words) > 1, cues):
            kind = _PERSON if words[0].lower() in cues.titles else ""
            is_first = False
            start += len(words.pop(0)) + 1
        while words and words[-1].lower() in cues.not_names:
            end -= len(words.pop()) + 1
        is_fine = 0 < len(words) <= _MOST_WORDS and is_nameable(" ".join(words))
        is_lone = len(words) == 1 and not kind and not group
        if not is_fine or (is_lone and not self._is_known(words[0], is_first)):
            return None
        return start, group.end() if group else end, kind

    def _is_no_part(self, word: str, is_first: bool, cues: ProseCues) -> bool:
        if word.lower() in cues.not_names or word[0].isdigit():
            return True
        return is_first and word.lower() in self._lower_words

    def _is_known(self, word: str, is_first: bool) -> bool:
        """Tell whether a word alone is surely a name."""
        if len(word) < 2 or word.lower() in self._lower_words:
            return False
        return not is_first or word in self._middle_words or word[1:] != word[1:].lower()

    @cached_property
    def _lower_words(self) -> frozenset[str]:
        return frozenset(_LOWER.findall(self._text))

    @cached_property
    def _middle_words(self) -> frozenset[str]:
        return frozenset(_MIDDLE.findall(self._text))

    @cached_property
    def _own_names(self) -> re.Pattern[str] | None:
        title = self._note.title
        # "Harbour: the film" speaks of a harbour too; "PEP 8 – Style" of no other PEP 8.
        short = [each for each in short_forms(title) if any(map(str.isdigit, each))]
        forms = {title, *short, *self._note.aliases}
        names = sorted(filter(is_nameable, forms), key=lambda each: (-len(each), each))
        either = "|".join(map(re.escape, names))
        return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])") if names else None


def _piece(
    found: re.Match[str], raw: str, links: Mapping[int, LinkRow], at: int
) -> tuple[str, Name | None]:
    """Return what a piece of markup shows, and what it names."""
    if found["gap"] is not None:
        return " ", None
    if found["rest"] is not None:
        return "", None
    if found["barred"] is not None:
        return BARRIER, None
    row = links.get(len(raw[: found.start()].encode()))
    words = found["words"] or found["shown"] or (found["target"] or "").rpartition("/")[2]
    words = words.partition("#")[0].strip(" *_`")
    # A place inside a note is not what the note is about.
    if row is not None and (row.is_address or "#" in found[0]):
        return words, None
    if row is None or not row.target or not _is_name(words, is_wikilink=found["wiki"] is not None):
        return BARRIER, None
    span = (at, at + len(words), found.start(), found.end())
    return words, Name(*span, Reference(NOTE, row.target), words, "", is_owner=False)


def _is_name(words: str, *, is_wikilink: bool) -> bool:
    """Tell whether a link's words name its note; a Markdown link often has a sentence's words."""
    if len(words.split()) > 2 * _MOST_WORDS:
        return False
    return is_wikilink or (words[:1].isupper() and is_nameable(words))


def _itself(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=8)
def _noun(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\s(?:{'|'.join(sorted(words))})(?![\w’'-])" if words else "(?!)")


def _quoted(shown: Shown) -> Iterator[Name]:
    for found in _QUOTED.finditer(shown.text):
        words = found["name"].strip()
        if is_nameable(words):
            name = _name(shown, *found.span(), Reference(NAME, words), "")
            yield name._replace(text=words)


def _name(shown: Shown, start: int, end: int, reference: Reference, kind: str) -> Name:
    is_owner = _is_owner(shown.text, end)
    raw = (shown.places[start], shown.places[end - 1] + 1)
    return Name(start, end, *raw, reference, shown.text[start:end], kind, is_owner)


def _is_owner(text: str, end: int) -> bool:
    return bool(_OF.match(text, end))


def _without_overlaps(names: Iterable[Name]) -> list[Name]:
    """Return names in order; of two at one place the longer one, of two in part the first."""
    found: list[Name] = []
    for name in sorted(names, key=lambda each: (each.start, -each.end)):
        if not found or name.start >= found[-1].end:
            found.append(name)
    return found
