"""Find what a sentence links: a name, a cue, a name, and nothing else between them. Pure, linear.

Both names have to stand free: with another word left of the first or right of the second, they
are only a part of what is spoken of, and nothing is read.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kb_assets.extractions.prose_names import Name
from kb_core.dates import parse_date
from kb_core.prose_cues import Grammar, LinkCue, ProseCues
from kb_knowledge.records import NAME, NOTE, SELF

_LONGEST_BETWEEN = 60  # characters
_BE = ("is", "are", "was", "were", "be", "been", "being")
_FREE_LEFT = re.compile(r"(?:^|[,;:，；：。–—])$")
_FREE_RIGHT = re.compile(r"(?:\s?(?:$|[.,;:!?)—–，。；：！？、])|[”\"])")
_ARTICLES = re.compile(r"(?:^|(?<=[ ,;:(]))(?:the|our|a|an)$", re.IGNORECASE)
_GOES_ON = re.compile(r"\sfor\s[A-Z]")
_DATE_WORDS = 4
_THE = re.compile(r"\s{0,2}the\s")
_CHINESE_DATE = re.compile(r"\s?[0-9]{4}年(?:[0-9]{1,2}月(?:[0-9]{1,2}[日号])?)?")
_MOST_TARGETS = 8


class Linked(NamedTuple):
    """Two names that a sentence links, in the order of the sentence, and by which cue."""

    first: Name
    second: Name
    cue: LinkCue
    valid_from: str | None


def links_in(text: str, names: Sequence[Name], cues: ProseCues) -> Iterator[Linked]:
    """Yield what a sentence, as shown, links."""
    for at, (first, second) in enumerate(pairwise(names)):
        cue = _cue(text, first, second, cues) if is_free_left(text, names, at, cues) else None
        if cue is None:
            continue
        source = second if cue.is_inverse else first
        if cue.is_of_note and source.reference.kind not in (SELF, NOTE):
            continue
        targets = _targets(text, names[at + 1 :], cue, cues)
        for target in targets:
            valid_from = date_after(text[targets[-1].end :], cues.grammar.dates)
            yield Linked(first, target, cue, valid_from)


def is_free_left(text: str, names: Sequence[Name], at: int, cues: ProseCues) -> bool:
    """Tell whether a name begins what its sentence speaks of there."""
    name = names[at]
    if at and _joint(text, names[at - 1], name) in cues.grammar.joints:
        return False  # the last one of a list
    before = text[max(0, name.start - 40) : name.start].rstrip()
    if cues.language == "zh":
        return bool(_FREE_LEFT.search(before)) or before.endswith(tuple(cues.grammar.before))
    bare = _ARTICLES.sub("", before).rstrip().lower()
    if len(bare) < len(before) and name.text.isupper() and " " not in name.text:
        return False  # "the TLS" of something that was spoken of before
    before = bare
    if _FREE_LEFT.search(before):
        return True
    last = before.rpartition(" ")[2]
    return last in cues.grammar.before or f"{before[-5:]}".endswith((", and", "; and"))


def is_free_right(text: str, end: int, cue: LinkCue, cues: ProseCues) -> bool:
    """Tell whether nothing more belongs to the name that ends here."""
    rest = text[end : end + 40]
    if cue.behind:
        if not rest.lstrip().startswith(cue.behind):
            return False
        rest = rest.lstrip()[len(cue.behind) :]
    if _FREE_RIGHT.match(rest):
        return True
    if cues.language == "zh":
        return rest.startswith(tuple(cues.grammar.after))
    if _GOES_ON.match(rest):
        return False  # Friends for Clay
    word = re.match(r"\s([a-z]+)(?![\w’'-])", rest)
    return bool(word) and word[1] in cues.grammar.after - cue.not_before  # type: ignore[index]


def date_after(rest: str, words: Sequence[str]) -> str | None:
    """Return the date that a text begins with behind one of the words."""
    bare = rest.lstrip(" ,")
    for word in words:
        if bare.lower().startswith(word):
            return date_at(bare[len(word) :])[0]
    # "accepted by Mara, Friday, June 22, 2012"
    return date_at(bare)[0] if rest.startswith(", ") else None


def date_at(text: str) -> tuple[str | None, int]:
    """Return the longest date that a text begins with, and how many characters it takes."""
    chinese = _CHINESE_DATE.match(text)
    if chinese:
        return parse_date(chinese[0]), chinese.end()
    article = _THE.match(text)
    lead = article.end() if article else len(text) - len(text.lstrip())
    words = text[lead : lead + 40].split(" ")[:_DATE_WORDS]
    for count in range(len(words), 0, -1):
        tried = " ".join(words[:count]).rstrip(".,;:)。，")
        date = parse_date(tried) if tried[:1].isalnum() else None
        if date:
            return date, lead + len(tried)
    return None, 0


def _cue(text: str, first: Name, second: Name, cues: ProseCues) -> LinkCue | None:
    between = text[first.end : second.start]
    if len(between) > _LONGEST_BETWEEN:
        return None
    words = _bare(" ".join(between.lower().split()), cues.grammar)
    for phrase in _without_auxiliaries(words, cues.grammar):
        for cue in cues.links.get(phrase, ()):
            if is_free_right(text, second.end, cue, cues):
                return cue
    return None


def _bare(between: str, grammar: Grammar) -> str:
    for word in grammar.relatives:
        if between.startswith(f"{word} "):
            between = between[len(word) + 1 :]
            break
    for word in grammar.determiners:
        if between.endswith(f" {word}") or (len(word) == 1 and between.endswith(word)):
            return between[: -len(word)].rstrip()
    return between


def _without_auxiliaries(words: str, grammar: Grammar) -> Iterator[str]:
    """Yield what a cue may be, with one small word after the other taken away."""
    is_passive = False
    while words:
        yield words
        if is_passive:
            yield f"is {words}"
        found = next((each for each in grammar.auxiliaries if _begins(words, each)), None)
        if found is None:
            return
        is_passive = is_passive or found in _BE
        words = words[len(found) :].lstrip()


def _begins(words: str, auxiliary: str) -> bool:
    is_unspaced = not auxiliary.isascii()
    return words.startswith(auxiliary if is_unspaced else f"{auxiliary} ")


def _targets(text: str, names: Sequence[Name], cue: LinkCue, cues: ProseCues) -> list[Name]:
    """Return the second name and those listed with it, if their list ends where a clause does."""
    found = [names[0]]
    for before, name in pairwise(names[:_MOST_TARGETS]):
        if _joint(text, before, name) not in cues.grammar.joints or cue.behind:
            break
        found.append(name)
    is_whole = bool(_FREE_RIGHT.match(text[found[-1].end :])) and not found[-1].is_owner
    whole = found if is_whole else found[:1]
    return [name for at, name in enumerate(whole) if not _is_half(text, name, names[at + 1 :])]


def _is_half(text: str, name: Name, following: Sequence[Name]) -> bool:
    """Tell whether a word may only be the first half of a name: Arab and Kurdish Unions."""
    is_lone = name.reference.kind == NAME and " " not in name.text
    is_joined = bool(following) and _joint(text, name, following[0]) == "and"
    return is_lone and is_joined and " " in following[0].text


def _joint(text: str, before: Name, name: Name) -> str:
    """Return what joins two names, without an article."""
    return " ".join(_ARTICLES.sub("", text[before.end : name.start].rstrip()).split())
