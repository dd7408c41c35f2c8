"""Read YAML front matter as strings only, within limits. Pure.

Nothing becomes a date, a number or a boolean: `2026-02-30`, `1.10` and `no` stay what was
written. The text is read once, as a stream of events from the C parser; anchors, aliases and
anything too large or too deep are refused, so that no note can make this slow.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from kb_assets.notes.wikilinks import bare_link, split_links
from kb_core.errors import KbError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 20

_EMPTY = frozenset({"", "~", "null", "Null", "NULL"})


class YamlBrokenError(KbError):
    """The text is not valid YAML, or not a mapping."""


class YamlRefusedError(KbError):
    """The text goes beyond what front matter may use."""


class Property(NamedTuple):
    """One value of a property. A list is several of them, a nested map a dotted name."""

    name: str
    value: str
    is_whole: bool  # a list item or quoted: never to be split at commas


class YamlProperties(NamedTuple):
    """Properties in order, and how many keys were given twice."""

    properties: tuple[Property, ...]
    duplicates: int


def read_yaml(text: str) -> YamlProperties:
    """Read a mapping. Raises YamlBrokenError or YamlRefusedError."""
    if len(text.encode()) > MAX_BYTES:
        raise YamlRefusedError(f"Front matter is larger than {MAX_BYTES} bytes.")
    reader = _Reader(text)
    try:
        properties = reader.read()
    except (yaml.YAMLError, ValueError) as problem:
        # The parser's own message quotes the note, so only its class is passed on.
        raise YamlBrokenError(type(problem).__name__) from None
    return YamlProperties(tuple(properties), reader.duplicates)


class _Reader:
    """Walks the events of one document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.duplicates = 0
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CBaseLoader)

    def read(self) -> list[Property]:
        next(self._events)  # the stream's start
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return []
        properties = self._root(next(self._events))
        next(self._events)  # the document's end
        if not isinstance(next(self._events), yaml.StreamEndEvent):
            raise YamlBrokenError("Front matter holds a second document.")
        return properties

    def _root(self, event: Any) -> list[Property]:
        if isinstance(event, yaml.ScalarEvent) and event.value == "":
            return []
        if not isinstance(event, yaml.MappingStartEvent):
            raise YamlBrokenError("Front matter is no mapping.")
        return self._value(event, "", 1, False)

    def _value(self, event: Any, path: str, depth: int, in_list: bool) -> list[Property]:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise YamlRefusedError("Front matter uses anchors.")
        if depth > MAX_DEPTH:
            raise YamlRefusedError(f"Front matter is nested deeper than {MAX_DEPTH} levels.")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, path, in_list)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, path, depth)
        return self._mapping(path, depth)

    def _sequence(self, start: Any, path: str, depth: int) -> list[Property]:
        # `up: [[A]]` without quotes is a list in a list to YAML and a link to its writer.
        link = bare_link(self.text, start.start_mark.index)
        if link:
            self._skip()
            return [Property(path, link, True)]
        found: list[Property] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            found += self._value(event, path, depth + 1, True)
        return found

    def _skip(self) -> None:
        depth = 1
        while depth:
            event = next(self._events)
            if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
                depth += 1
            elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                depth -= 1

    def _mapping(self, path: str, depth: int) -> list[Property]:
        found: dict[str, list[Property]] = {}
        for key in self._events:
            if isinstance(key, yaml.MappingEndEvent):
                break
            if not isinstance(key, yaml.ScalarEvent):
                raise YamlBrokenError("Front matter has a key that is no text.")
            name = f"{path}.{key.value.strip()}" if path else key.value.strip()
            value = self._value(next(self._events), name, depth + 1, False)
            if key.anchor is not None:
                raise YamlRefusedError("Front matter uses anchors.")
            if found.pop(name, None) is not None:
                self.duplicates += 1
            found[name] = value
        return [each for values in found.values() for each in values]


def _scalar(event: Any, path: str, in_list: bool) -> list[Property]:
    value = event.value.strip()
    is_quoted = bool(event.style)  # empty for a plain scalar
    if not is_quoted and value in _EMPTY:
        return []
    links = split_links(value)
    if links:
        return [Property(path, link, True) for link in links]
    return [Property(path, value, in_list or is_quoted)] if value else []
