"""Read a note's front matter: where it ends, its properties, and the links in it. Pure.

Broken front matter never loses a note: what strict YAML refuses is read line by line, and a
finding says so. Blanks after the opening `---` are allowed, because a note that says
`private: true` under `--- ` means it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kb_assets.notes.findings import (
    DUPLICATE_KEY,
    NO_PROPERTIES,
    YAML_BROKEN,
    YAML_REFUSED,
    Finding,
)
from kb_assets.notes.front_matter_lines import access_properties, read_lines
from kb_assets.notes.wikilinks import Link, split_target, split_wikilink
from kb_assets.notes.yaml_strings import (
    MAX_BYTES,
    Property,
    YamlBrokenError,
    YamlRefusedError,
    read_yaml,
)

_OPENER = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
_CLOSER = re.compile(r"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE = re.compile(rb"[^\r\n]+")
_TOP_KEY = re.compile(rb"""["']?([^\s#:"'\[{-][^:"']{0,100}?)["']?[ \t]*:(?:[ \t]|$)""")
_LINK = re.compile(rb"\[\[([^\[\]\r\n]+)\]\]")


class Block(NamedTuple):
    """Where front matter stands in a text, in characters."""

    yaml: str
    yaml_start: int
    body_start: int


class FrontMatter(NamedTuple):
    """What a note's front matter says. `body_start` counts bytes of the text in UTF-8."""

    properties: tuple[Property, ...]
    links: tuple[Link, ...]
    body_start: int
    findings: tuple[Finding, ...]


NOTHING = FrontMatter((), (), 0, ())


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a decoded note. Never raises."""
    block = split_front_matter(text)
    if block is None:
        return _unclosed(text)
    properties, findings, has_more = _properties(block.yaml)
    if has_more:
        # Text between two rules, with or without properties: it belongs to the body and its
        # search, and so do its links.
        findings = findings if properties else (Finding(NO_PROPERTIES),)
        return FrontMatter(properties, (), 0, findings)
    before = len(text[: block.yaml_start].encode())
    links = tuple(_links(block.yaml.encode(), before))
    return FrontMatter(properties, links, len(text[: block.body_start].encode()), findings)


def split_front_matter(text: str) -> Block | None:
    """Find the block between `---` on the first line and a line `---` or `...`."""
    opener = _OPENER.match(text)
    closer = _CLOSER.search(text, opener.end()) if opener else None
    if not opener or not closer:
        return None
    return Block(text[opener.end() : closer.start()], opener.end(), closer.end())


def _unclosed(text: str) -> FrontMatter:
    """Read who may see a note from front matter that nothing ends: a slip must not open it."""
    opener = _OPENER.match(text)
    if not opener:
        return NOTHING
    head = text[opener.end() : opener.end() + MAX_BYTES].replace("\r\n", "\n").replace("\r", "\n")
    access = access_properties(head.partition("\n\n")[0])
    return FrontMatter(access, (), 0, (Finding(YAML_BROKEN),)) if access else NOTHING


def _properties(yaml: str) -> tuple[tuple[Property, ...], tuple[Finding, ...], bool]:
    """Return the properties, what was odd, and whether there is text that none of them holds."""
    try:
        read = read_yaml(yaml)
    except YamlBrokenError:
        odd = Finding(YAML_BROKEN)
    except YamlRefusedError:
        odd = Finding(YAML_REFUSED)
    else:
        twice = (Finding(DUPLICATE_KEY, f"{read.duplicates} keys"),) if read.duplicates else ()
        return read.properties, twice, False
    lines = read_lines(yaml)
    return lines.properties, (odd,), lines.has_more


def _links(yaml: bytes, before: int) -> Iterator[Link]:
    """Yield the wikilinks of front matter with the top-level property they stand under.

    They are read from the raw lines, so that they survive YAML that does not.
    """
    name: str | None = None
    for line in _LINE.finditer(yaml):
        if line[0].lstrip().startswith(b"#"):
            continue
        key = _TOP_KEY.match(line[0])
        name = key[1].decode().strip() if key else name
        for found in _LINK.finditer(line[0]):
            raw, display = split_wikilink(found[1].decode())
            target = split_target(raw)
            if any(target):
                start = before + line.start() + found.start()
                end = before + line.start() + found.end()
                yield Link("property", *target, display, name, start, end)
