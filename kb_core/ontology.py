"""What a vault's notes speak of, and the words questions use for it. Pure but for reading files.

The package's own ontology stands in defaults/ontology.toml, a home's additions in its
data/ontology.toml, the words of questions in defaults/lang/*.toml. Equal files give an equal
ontology with an equal digest, so that what was made with it is made anew when it changes.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from kb_core.errors import SettingsError
from kb_core.ids import json_hash
from kb_core.names import name_key
from kb_core.ontology_file import check_file, check_whole, merged
from kb_core.property_names import last_word, property_key

RELATED_TO = "RELATED_TO"
FACT = "fact"
STATUS = "status"

_PACKAGE = "kb_core.defaults"
_FILE_NAME = "ontology.toml"


class LinkProperty(NamedTuple):
    """What a property links: to which type, from which end, and what a plain text names there."""

    type: str
    is_inverse: bool
    value_type: str  # of the other end; empty: not said
    is_of_note: bool  # it holds of the note as a text, whatever became of what it plans


class LinkCues(NamedTuple):
    """Words of a link type. A forward word is read as "source word target", an inverse one not."""

    forward: tuple[str, ...]
    inverse: tuple[str, ...]


@dataclass(frozen=True)
class Cues:
    """The words that questions of one language use. Empty where a language has none."""

    language: str
    links: Mapping[str, LinkCues] = field(default_factory=dict)
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    now: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    count: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()  # words by which the language is known


@dataclass(frozen=True)
class Ontology:
    """The types, properties and states that a vault's structured text is read by."""

    types: Mapping[str, tuple[str, ...]]  # type -> other words for it
    links: Mapping[str, Mapping[str, Any]]  # type -> its entry in the file
    attributes: Mapping[str, Mapping[str, Any]]
    states: Mapping[str, Mapping[str, Any]]
    modalities: tuple[str, ...]
    areas: Mapping[str, str]  # of questions
    silent: frozenset[str]
    whole_only: frozenset[str]
    identifiers: frozenset[str]
    type_properties: tuple[str, ...]
    no_types: frozenset[str]
    state_cues: tuple[str, ...]
    date_columns: frozenset[str]
    digest: str

    def link(self, key: str) -> LinkProperty | None:
        """Return what a folded property links, by its whole name, else by its last word."""
        word = last_word(key)
        return self._links.get(key) or (None if word in self.whole_only else self._links.get(word))

    def attribute(self, key: str) -> str:
        """Return an attribute's canonical name; one that is unknown is called as it is."""
        return self._attributes.get(key, key)

    def prefixed_attribute(self, key: str) -> str | None:
        """Return the attribute that `project_status` is, where nothing else is the status."""
        found = self._attributes.get(last_word(key))
        return found if found and self.attributes[found].get("with_prefix") else None

    def is_of_note(self, attribute: str) -> bool:
        """Tell whether an attribute speaks of the note as a text: that is always a fact."""
        return bool(self.attributes.get(attribute, {}).get("of_note"))

    def is_known(self, key: str) -> bool:
        """Tell whether a folded property is an attribute by its whole name."""
        return key in self._attributes

    def entity_type(self, word: str) -> str | None:
        """Return the type that a word names, or None."""
        return self._types.get(name_key(word))

    def state(self, word: str) -> str | None:
        """Return the state that a word or two name, or None."""
        return self._states.get(name_key(word))

    def modality(self, status: str, *, is_record: bool = False) -> str:
        """Return how a note of this status is meant; a fact where the status says nothing.

        A record of what was is one before its text is finished.
        """
        state = self.states.get(self.state(status) or "", {})
        is_told = is_record and state.get("of_text", False)
        return FACT if is_told else state.get("modality", FACT)

    @cached_property
    def state_words(self) -> tuple[str, ...]:
        """Every word for a state, folded, longest first."""
        return tuple(sorted(self._states, key=lambda word: (-len(word), word)))

    @cached_property
    def _links(self) -> dict[str, LinkProperty]:
        found: dict[str, LinkProperty] = {}
        for name, entry in self.links.items():
            value = entry.get("value", "")
            for each in entry.get("properties", []):
                is_of_note = bool(entry.get("of_note"))
                found[property_key(each)] = LinkProperty(name, False, value, is_of_note)
            # What a note says it replaces, it only plans to replace while it is a plan.
            for each in entry.get("inverse_properties", []):
                found[property_key(each)] = LinkProperty(name, True, value, False)
        return found

    @cached_property
    def _attributes(self) -> dict[str, str]:
        return {
            property_key(each): name
            for name, entry in self.attributes.items()
            for each in (name, *entry.get("properties", []))
        }

    @cached_property
    def _types(self) -> dict[str, str]:
        return _by_word((name, (name, *words)) for name, words in self.types.items())

    @cached_property
    def _states(self) -> dict[str, str]:
        return _by_word(
            (name, (name, *each.get("words", ()))) for name, each in self.states.items()
        )


def read_ontology(home_file: Path | None = None) -> Ontology:
    """Read the package's ontology with a home's own over it, if the file is there.

    Raises SettingsError with the key and what is allowed.
    """
    if home_file is None or not home_file.is_file():
        return _ontology(b"", _FILE_NAME)
    return _ontology(home_file.read_bytes(), str(home_file))


def home_ontology(data: Path) -> Ontology:
    """Read the ontology that holds for a home, by the folder of its state.

    Raises SettingsError with the key and what is allowed.
    """
    return read_ontology(data / _FILE_NAME)


@lru_cache(maxsize=8)
def cues(language: str) -> Cues:
    """Return the words of a language; none for one that has no file."""
    path = resources.files(_PACKAGE) / "lang" / f"{language}.toml"
    if language not in languages():
        return Cues(language)
    values = tomllib.loads(path.read_text("utf-8"))
    links = {
        name: LinkCues(tuple(each.get("forward", ())), tuple(each.get("inverse", ())))
        for name, each in values.get("links", {}).items()
    }
    tables: dict[str, Any] = {
        "links": links,
        "attributes": _tuples(values, "attributes"),
        "states": _tuples(values, "states"),
    }
    traits: dict[str, Any] = {
        name: tuple(each) for name, each in values.items() if isinstance(each, list)
    }
    return Cues(language=language, **tables, **traits)


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Return the languages whose questions are understood, sorted."""
    names = (each.name for each in (resources.files(_PACKAGE) / "lang").iterdir())
    return tuple(sorted(name[: -len(".toml")] for name in names if name.endswith(".toml")))


@lru_cache(maxsize=8)  # asked for at every look at a folder
def _ontology(own: bytes, where: str) -> Ontology:
    package = (resources.files(_PACKAGE) / _FILE_NAME).read_bytes()
    return _made(merged(_read(package, _FILE_NAME), _read(own, where)), where)


def _read(data: bytes, where: str) -> dict[str, Any]:
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{where} is not valid TOML: {problem}. Mend that line.") from None
    check_file(values, where)
    return values


def _made(values: dict[str, Any], where: str) -> Ontology:
    check_whole(values, where)
    return Ontology(
        types={name: tuple(each.get("words", ())) for name, each in values["types"].items()},
        links=values["links"],
        attributes=values["attributes"],
        states=values["states"],
        modalities=tuple(values["modalities"]),
        areas=values["areas"],
        silent=frozenset(map(property_key, values["silent"])),
        whole_only=frozenset(map(property_key, values["whole_only"])),
        identifiers=frozenset(map(property_key, values["identifiers"])),
        type_properties=tuple(map(property_key, values["type_properties"])),
        no_types=frozenset(map(name_key, values["no_types"])),
        state_cues=tuple(values["state_cues"]),
        date_columns=frozenset(map(name_key, values["date_columns"])),
        digest=json_hash(values),
    )


def _by_word(entries: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """File names by their words; of two with one word the earlier has it."""
    found: dict[str, str] = {}
    for name, words in entries:
        for word in words:
            found.setdefault(name_key(word), name)
    return found


def _last_word(key: str) -> str:
    return key.rpartition("_")[2]


def _tuples(values: Mapping[str, Any], table: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(words) for name, words in values.get(table, {}).items()}
