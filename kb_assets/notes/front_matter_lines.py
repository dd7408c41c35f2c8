"""Read front matter that is not valid YAML, line by line, losing as little as possible. Pure.

People write `title: Fwd: hi`, `people: [[A]], [[B]]`, tabs and `{{date}}`; strict YAML drops the
whole block over one such line. Here each line stands for itself: `key: value`, list items under
a key, flow lists, one level of nesting, and indented lines that go on with a value.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kb_assets.notes.wikilinks import split_links
from kb_assets.notes.yaml_strings import MAX_BYTES, Property

_KEY = re.compile(
    r"""(?P<q>["']?)(?P<key>[^\s:#\-"'\[\]{}][^:"']{0,100}?)(?P=q)\s*:(?:\s(?P<v>.*))?"""
)
_BLOCK_SCALAR = re.compile(r"[|>][+-]?[0-9]?")
_ITEM = re.compile(r"-(?:\s+(?P<v>.*))?")
_COMMENT = re.compile(r"\s#\s.*")


# Who may read a note is asked even where nothing else is read any more.
_ACCESS = re.compile(
    r"""^["']?(?:private|readers|tenant)["']?[ \t]*:[^\n]*(?:\n[ \t]*-[^\n]*){0,1000}+""",
    re.IGNORECASE | re.MULTILINE,
)


class Lines(NamedTuple):
    """The properties found, in order, and whether the text says more than they hold."""

    properties: tuple[Property, ...]
    has_more: bool


def read_lines(text: str) -> Lines:
    """Recover properties from the first 64 KiB of front matter. Never raises.

    Beyond them only `private`, `readers` and `tenant` are looked for.
    """
    reader = _LineReader()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    end = len(text) if len(text) <= MAX_BYTES else text.rfind("\n", 0, MAX_BYTES) + 1
    for line in (*text[:end].splitlines(), *_access_lines(text[end:])):
        reader.take(line)
    return Lines(tuple(reader.found), reader.has_more or end < len(text))


def access_properties(text: str) -> tuple[Property, ...]:
    """Return only what lines say about who may read the note."""
    reader = _LineReader()
    for line in _access_lines(text):
        reader.take(line)
    return tuple(reader.found)


def _access_lines(text: str) -> list[str]:
    return "\n".join(found[0] for found in _ACCESS.finditer(text))[:MAX_BYTES].splitlines()


class _LineReader:
    """Remembers under which key the next list item or continued line belongs."""

    def __init__(self) -> None:
        self.found: list[Property] = []
        self.has_more = False  # was there a line that is of no property?
        self._top = ""
        self._name = ""
        self._open = False  # may an indented line go on with the last value?

    def take(self, line: str) -> None:
        content = line.strip()
        if not content or content.startswith("#"):
            return
        item = _ITEM.fullmatch(content)
        key = _KEY.fullmatch(content)
        is_indented = line[:1].isspace()
        if item and self._name:
            self._add(item["v"] or "", True)
        elif key and not (is_indented and self._open):
            self._start(key["key"].strip(), key["v"] or "", is_indented)
        elif is_indented and self._name:
            self._continue(content)
        else:
            self.has_more = True

    def _start(self, key: str, value: str, is_indented: bool) -> None:
        if is_indented and self._top:
            self._name = f"{self._top}.{key}"
        else:
            self._top = self._name = key
        value = value.strip()
        is_block = bool(_BLOCK_SCALAR.fullmatch(value))
        self._add("" if is_block else value, False)
        self._open = is_block

    def _continue(self, content: str) -> None:
        if self.found and self.found[-1].name == self._name:
            last = self.found.pop()
            content = f"{last.value} {content}"
        self.found.append(Property(self._name, content, True))

    def _add(self, raw: str, in_list: bool) -> None:
        self._open = False
        for value, is_whole in _values(raw.strip()):
            if value:
                self.found.append(Property(self._name, value, in_list or is_whole))


def _values(raw: str) -> Iterator[tuple[str, bool]]:
    """Split a value into its parts; True: the part is whole, its commas are its own."""
    links = split_links(_unquoted(raw))
    if links:
        yield from ((link, True) for link in links)
    elif raw.startswith("[") and raw.endswith("]") and not raw.startswith("[["):
        yield from ((_unquoted(part.strip()), True) for part in _flow_parts(raw[1:-1]))
    elif raw[:1] in ('"', "'"):
        yield _unquoted(raw), True
    else:
        yield _COMMENT.sub("", raw).strip(), False


def _flow_parts(inner: str) -> Iterator[str]:
    """Split a flow list at its commas, but not inside quotes or a wikilink."""
    start, quote, depth = 0, "", 0
    is_blank = True  # has the part only blanks so far? A quote elsewhere is an apostrophe
    for at, char in enumerate(inner):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and is_blank:
            quote = char
        elif char in "[]":
            depth = max(0, depth + (1 if char == "[" else -1))
        elif char == "," and not depth:
            yield inner[start:at]
            start, is_blank = at + 1, True
            continue
        is_blank = is_blank and char.isspace()
    yield inner[start:]


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]
    return value[1:-1] if is_quoted else value
