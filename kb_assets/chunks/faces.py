"""Write what a chunk is found by: its search text. Pure.

A chunk is found by its breadcrumb and its words, a note's first chunk also by the properties that
say something: once is enough, a long note must not repeat them in every chunk.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kb_assets.chunks.prose import display_text
from kb_core.property_names import property_key

Property = Mapping[str, str]

_MOST_CHARACTERS = 400
_LONGEST_TITLE = 200
# Dates have their own columns; ids, layout and access say nothing about the subject.
_SILENT_NAMES = """
    alias aliases available_at banner collapsed color cover creation_date created created_at
    css_class cssclass cssclasses date dates day draft excalidraw_plugin icon id image kanban_plugin
    kind last_modified layout modified modified_at nanoid nav_order order permalink position private
    publish published readers sidebar sitemap slug tag tags template tenant thumbnail timestamp
    title toc uid updated updated_at uuid weight
"""
_SILENT = frozenset(_SILENT_NAMES.split())
_FIELD = re.compile(r"::[ \t]([^\n]*)")
_BEFORE_NAME = re.compile(r"[\n\[(]|(?:^|\n)[ \t]*[-*+][ \t]")
_HEADER_LINE = re.compile(r"^[*_]{0,2}([^\n:*_|]{1,60}):[*_]{0,2}[ \t]([^\n]*)", re.MULTILINE)
_HEADER_CHARACTERS = 4_000
_LONGEST_NAME = 60
_MOST_LINES = 50  # of one name: a task list may hold thousands of `due::`


def breadcrumb(title: str, trail: Sequence[str]) -> str:
    """Return "Title > Heading > Subheading", links as a reader sees them.

    >>> breadcrumb("Log", ["[[2024-05-02]]", "Calls"])
    'Log > 2024-05-02 > Calls'
    """
    return " > ".join(display_text(part) for part in (title[:_LONGEST_TITLE], *trail))


def search_text(crumb: str, properties: str, text: str) -> str:
    """Join the parts of a search face, leaving out empty ones."""
    head = "\n".join(part for part in (crumb, properties) if part)
    return f"{head}\n\n{text}".strip()


def property_face(
    aliases: Sequence[str], tags: Sequence[str], properties: Iterable[Property], body: str
) -> str:
    """Write the properties that say something, one a line, at most about 400 characters.

    Those that stand in the text already, inline or in a header block, are left out.
    """
    values: dict[str, list[str]] = {"aliases": list(aliases), "tags": list(tags)}
    said = _said_in(body)
    for item in properties:
        key, value = property_key(item["name"]), display_text(item["value"]).strip()
        if key not in _SILENT and not any(value in line for line in said.get(key, ())):
            values.setdefault(item["name"].strip(), []).append(value)
    lines: list[str] = []
    room = _MOST_CHARACTERS
    for name, texts in values.items():
        shown = ", ".join(filter(None, texts))
        if shown and room > 0:
            lines.append(f"{name}: {_shortened(shown, room)}")
            room -= len(lines[-1])
    return "\n".join(lines)


def _said_in(body: str) -> Mapping[str, Sequence[str]]:
    """Return what the text itself says of each property, by the property's folded name."""
    said: dict[str, list[str]] = {}
    for name, line in [*_fields(body), *_HEADER_LINE.findall(body[:_HEADER_CHARACTERS])]:
        lines = said.setdefault(property_key(name), [])
        if len(lines) < _MOST_LINES:
            lines.append(display_text(line))
    return said


def _fields(body: str) -> Iterator[tuple[str, str]]:
    """Yield what may be inline properties, `name:: value`: each name and the rest of its line."""
    for found in _FIELD.finditer(body):
        before = body[max(0, found.start() - _LONGEST_NAME) : found.start()]
        yield _BEFORE_NAME.split(before)[-1], found[1]


def _shortened(text: str, room: int) -> str:
    """Cut after the last whole word that fits, and keep a value on one line."""
    flat = " ".join(text[: room + 1].split())
    if len(text) <= room:
        return flat
    return flat[:room].rpartition(" ")[0] or flat[:room]
