"""Find the links of which only is known that they are related, but whose words say more. Pure.

Each has a key of its own, which covers all that a model is told about it, and the types there are
to choose from: a new type asks about the vague ones again, and about nothing else.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from kb_core.ids import content_id, json_hash
from kb_core.names import folded, name_key
from kb_core.ontology import RELATED_TO, Ontology
from kb_knowledge.records import SELF, STRUCTURE

PROMPT_VERSION = "1"  # of prompts/retype.md: another one pays again

THIS_NOTE = "this note"
_COLUMNS = [
    *("version_id", "chunk_id", "ordinal", "note_id", "type", "phrase"),
    *("source_kind", "source", "target_kind", "target", "extractor"),
]
_SIGNS = re.compile(r"[^\w\s]+|_")
_BEFORE = """
    a an the is are was were be been being has have had also and or that which who der die das ein
    eine ist sind war und auch 的 了 是 和 与
"""
_BEHIND = "a an the our their its der die das ein eine einen einem einer 了"
_SMALL = "of to in on at by for with as it its this from von zu mit in an auf 在"
_FIRST, _LAST = frozenset(_BEFORE.split()), frozenset(_BEHIND.split())
_FILLERS = _FIRST | _LAST | frozenset(_SMALL.split())


class VagueLink(NamedTuple):
    """One observation of a vague link."""

    version_id: str
    chunk_id: str
    ordinal: int
    note_id: str
    key: str  # 32 hex digits
    source: str  # what it is called, as a model is told
    target: str
    phrase: str


def vague_links(links: pa.Table, identity: str, ontology: Ontology) -> list[VagueLink]:
    """Return the vague links of a folder (contract `link_observations`) in order, whoever says so.

    Left out are those whose phrase says no more than the names: `see also: Kiln`.
    """
    types = types_digest(ontology)
    silent = _silent_words(ontology)
    found = []
    for row in links.select(_COLUMNS).to_pylist():
        if row["type"] == RELATED_TO:
            link = _vague(row, identity, types)
            if verb_phrase(link) and not set(verb_phrase(link).split()) <= silent:
                found.append(link)
    return found


def types_digest(ontology: Ontology) -> str:
    """Return the digest of the types that there are to choose from."""
    return json_hash(sorted(ontology.links))


def verb_phrase(link: VagueLink) -> str:
    """Return the words that link two names: what stands between them, else all but the names.

    Folded, without signs, auxiliaries before and articles behind.
    """
    text, ends = folded(" ".join(link.phrase.split())), sorted(_places(link))
    if len(ends) == 2 and ends[0][1] <= ends[1][0]:
        text = text[ends[0][1] : ends[1][0]] or text
    else:
        for start, end in reversed(ends):
            text = f"{text[:start]} {text[end:]}"
    words = _SIGNS.sub(" ", text).split()
    while words and words[0] in _FIRST:
        words.pop(0)
    while words and words[-1] in _LAST:
        words.pop()
    return " ".join(words)


def is_in_order(link: VagueLink) -> bool:
    """Tell whether a phrase names the source, and then the target; the note itself comes first."""
    places = _places(link)
    if link.source == THIS_NOTE:
        return link.target != THIS_NOTE and bool(places)
    return len(places) == 2 and places[0][1] <= places[1][0]


def _places(link: VagueLink) -> list[tuple[int, int]]:
    """Return where the phrase names the source and the target, of those that it names."""
    text, found = folded(" ".join(link.phrase.split())), []
    for name in (link.source, link.target):
        at = text.find(name_key(name)) if name != THIS_NOTE else -1
        if at >= 0:
            found.append((at, at + len(name_key(name))))
    return found


def _vague(row: Mapping[str, Any], identity: str, types: str) -> VagueLink:
    source, target = (_called(row[f"{role}_kind"], row[role]) for role in ("source", "target"))
    phrase = row["phrase"]
    if row["extractor"] == STRUCTURE:  # `stored near: Kiln, Oven` says two links, each by itself
        phrase = f"{phrase.partition(':')[0]}: {source if target == THIS_NOTE else target}"
    key = content_id(identity, PROMPT_VERSION, types, source, target, phrase)
    place = (row["version_id"], row["chunk_id"], row["ordinal"], row["note_id"])
    return VagueLink(*place, key, source, target, phrase)


def _called(kind: str, text: str) -> str:
    """Return what an end is called; of a link's target only its own name, not its folders."""
    if kind == SELF:
        return THIS_NOTE
    bare = text.partition("#")[0].rpartition("/")[2].removesuffix(".md")
    return bare.strip() or text


def _silent_words(ontology: Ontology) -> frozenset[str]:
    """Return the words that say no more than that two things are related."""
    entry = ontology.links.get(RELATED_TO, {})
    names = (name.replace("_", " ") for name in entry.get("properties", ()))
    return _FILLERS.union(*(folded(name).split() for name in names))
