"""Give a vague link a type where a cue word of exactly one type stands between its ends. Pure.

It is the offline twin of what a model answers, and modest: the phrase has to name the source before
the target, a cue of one word has to be all that stands between, and what is negated, or what fits
two types or the other direction, stays vague.
"""

import re
from functools import lru_cache

from kb_assets.asking.vague_links import VagueLink, is_in_order, verb_phrase
from kb_core.names import folded, is_unspaced
from kb_core.ontology import RELATED_TO, Ontology, cues, languages

VERSION = "1"  # raise it when equal links would get another type

# The last of them is what is left of "isn't" when signs are gone.
_NEGATED = re.compile(
    r"\b(?:not|no|never|without|neither|nor|nicht|kein|keine|nie|ohne|t)\b|不|没|非"
)
_PATTERN_OF_WORDS = r"(?<!\w){}(?!\w)"


def type_of(link: VagueLink, ontology: Ontology) -> str:
    """Return a link's type: RELATED_TO unless exactly one other is told by its words."""
    words = verb_phrase(link)
    if not is_in_order(link) or _NEGATED.search(words):
        return RELATED_TO
    forward, inverse = _cues()
    types = {kind for cue, kind in forward if _tells(cue, words)}
    is_other_way = any(_tells(cue, words) for cue, _ in inverse)
    known = types & set(ontology.links) - {RELATED_TO}
    return known.pop() if len(known) == 1 and not is_other_way else RELATED_TO


def _tells(cue: str, words: str) -> bool:
    """Tell whether words say a cue: one of several words may stand among others."""
    if is_unspaced(cue[0]):
        return cue in words
    if " " not in cue:
        return cue == words
    return bool(re.search(_PATTERN_OF_WORDS.format(re.escape(cue)), words))


@lru_cache(maxsize=1)
def _cues() -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the cues of all languages with their types: source first, and the other way round."""
    forward: set[tuple[str, str]] = set()
    inverse: set[tuple[str, str]] = set()
    for language in languages():
        for kind, each in cues(language).links.items():
            forward |= {(folded(cue), kind) for cue in each.forward}
            inverse |= {(folded(cue), kind) for cue in each.inverse}
    return tuple(sorted(forward)), tuple(sorted(inverse))
