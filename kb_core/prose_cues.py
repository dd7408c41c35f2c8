"""The words by which prose says what is linked to what, and how it is meant, by language.

They stand in defaults/prose/*.toml, whose head explains them. Pure but for reading
these files once.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

_PACKAGE = "kb_core.defaults"
_GAP = "…"  # where B stands inside a cue


class LinkCue(NamedTuple):
    """What a phrase between two names says of them."""

    type: str
    is_inverse: bool
    behind: str  # the rest of the cue, right of B; mostly empty
    not_before: frozenset[str]  # words right of B with which it means something else
    label: str
    is_of_note: bool  # its source has to be a note


@dataclass(frozen=True)
class Grammar:
    """The small words around a cue."""

    auxiliaries: tuple[str, ...]  # longest first, as all below
    relatives: tuple[str, ...]
    determiners: tuple[str, ...]
    before: frozenset[str]
    after: frozenset[str]
    joints: frozenset[str]
    dates: tuple[str, ...]


@dataclass(frozen=True)
class ProseCues:
    """The words of one language's prose."""

    language: str
    links: Mapping[str, tuple[LinkCue, ...]]  # by the words between the names
    modality: Mapping[str, tuple[str, ...]]  # in the order in which they decide
    behind: tuple[str, ...]  # words of these that also count right of what is said
    negation: tuple[str, ...]
    not_names: frozenset[str]
    titles: frozenset[str]
    itself: tuple[str, ...]
    groups: frozenset[str]  # nouns that end a name: DevX team
    kinds: frozenset[str]  # nouns behind a name that only say what it is: MPFR library
    grammar: Grammar
    claims: Mapping[str, tuple[str, ...]]
    figures: Mapping[str, str]  # words between a subject and a figure -> attribute
    events: Mapping[str, str]  # words between a subject and a date -> attribute


@lru_cache(maxsize=8)
def prose_cues(language: str) -> ProseCues:
    """Return the words of a language that has a file: `en`, `zh`."""
    path = resources.files(_PACKAGE) / "prose" / f"{language}.toml"
    values = tomllib.loads(path.read_text("utf-8"))
    claims: dict[str, Any] = values["claims"]
    modality: dict[str, list[str]] = values["modality"]
    return ProseCues(
        language=language,
        links=_links(values["links"]),
        modality={name: tuple(words) for name, words in modality.items() if name != _BEHIND},
        behind=tuple(modality[_BEHIND]),
        negation=tuple(values["negation"]),
        not_names=frozenset(values["not_names"]),
        titles=frozenset(values["titles"]),
        itself=tuple(values["itself"]),
        groups=frozenset(values["groups"]),
        kinds=frozenset(values["kinds"]),
        grammar=_grammar(values["grammar"]),
        claims={name: _longest_first(claims[name]) for name in claims if name not in _PAIRED},
        figures=_attributes(claims["figures"]),
        events=_attributes(claims["events"]),
    )


_BEHIND = "behind"
_PAIRED = frozenset({"figures", "events"})


def _links(values: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[LinkCue, ...]]:
    """File the cues by what stands between the names."""
    found: dict[str, tuple[LinkCue, ...]] = {}
    for kind, entry in values.items():
        for direction in ("forward", "inverse"):
            is_inverse = direction == "inverse"
            barred = frozenset(entry.get("not_before", ()) if is_inverse else ())
            for phrase in entry[direction]:
                between, _, behind = phrase.partition(_GAP)
                is_of_note = bool(entry.get("is_of_note"))
                cue = LinkCue(kind, is_inverse, behind, barred, phrase, is_of_note)
                found[between] = (*found.get(between, ()), cue)
    return found


def _grammar(values: Mapping[str, list[str]]) -> Grammar:
    return Grammar(
        auxiliaries=_longest_first(values["auxiliaries"]),
        relatives=_longest_first(values["relatives"]),
        determiners=_longest_first(values["determiners"]),
        before=frozenset(values["before"]),
        after=frozenset(values["after"]),
        joints=frozenset(values["joints"]),
        dates=_longest_first(values["subject_dates"]),
    )


def _attributes(pairs: Iterable[tuple[str, list[str]]]) -> dict[str, str]:
    return {phrase: attribute for attribute, phrases in pairs for phrase in phrases}


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: (-len(word), word)))
