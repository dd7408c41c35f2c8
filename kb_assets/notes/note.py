"""Read one version of a note: everything its bytes and its path say. Pure.

This is the only place that knows the order of the passes. It may raise on a defect of a pass;
`plain_note` then keeps the note with what is certain.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_assets.notes.decoding import Decoded
from kb_assets.notes.findings import Finding
from kb_assets.notes.front_matter import read_front_matter
from kb_assets.notes.kinds import first_value, split_values, values_of
from kb_assets.notes.markdown import Body, Heading, read_body
from kb_assets.notes.tags import property_tags
from kb_assets.notes.wikilinks import Link
from kb_assets.notes.yaml_strings import Property

_ENDINGS = (".markdown", ".md")
# What may stand above a note's title: blank lines, comments, embeds, images and tags. Linear:
# nothing that was matched is tried again.
_BEFORE_TITLE = re.compile(
    r"(?:\s|%%(?:[^%]|%(?!%))*+%%|<!--(?:[^-]|-(?!->))*+-->"
    r"|!\[\[[^\[\]\n]{1,800}\]\]"
    r"|\[?!\[[^\[\]\n]{0,400}\]\([^()\n]{0,2000}\)(?:\]\([^()\n]{0,2000}\))?"
    r"|(?<!\S)#[^\s#]{1,200}(?!\S))*+"
)


class Version(NamedTuple):
    """One content row of the journal, with its place in the note's history."""

    note_id: str
    version_id: str
    number: int
    content_hash: str
    observed_at: dt.datetime
    observed_until: dt.datetime | None
    is_current: bool
    file_time: dt.datetime | None
    is_first_listing: bool


class Parsed(NamedTuple):
    """What one version says."""

    title: str
    aliases: list[str]
    tags: dict[str, str]  # tag -> property or text
    front_matter: tuple[Property, ...]
    of_note: tuple[Property, ...]  # fields and header lines that speak for the whole note
    properties: list[tuple[str, str]]  # all of them, in order
    links: tuple[Link, ...]
    body_start: int
    findings: tuple[Finding, ...]


def parse_note(note_id: str, text: str) -> Parsed:
    """Parse a decoded note."""
    front = read_front_matter(text)
    after = _after(text, front.body_start)
    body = read_body(after, front.body_start)
    fields = sorted(body.fields, key=lambda field: field.start)
    return Parsed(
        title=_stated_title(front.properties)
        or _title_heading(after, front.body_start, body.headings)
        or file_title(note_id),
        aliases=split_values(values_of(front.properties, "aliases", "alias")),
        tags=_tags(front.properties, body),
        front_matter=front.properties,
        of_note=tuple(Property(f.name, f.value, True) for f in fields if f.is_of_note),
        properties=[
            *((each.name, each.value) for each in front.properties),
            *((field.name, field.value) for field in fields),
        ],
        links=(*front.links, *body.links),
        body_start=front.body_start,
        findings=front.findings,
    )


def plain_note(note_id: str, finding: Finding) -> Parsed:
    """Return what is left of a note that could not be parsed: its name, and why."""
    return Parsed(file_title(note_id), [], {}, (), (), [], (), 0, (finding,))


def without_ending(note_id: str) -> str:
    """Return a note's path without its file ending."""
    ending = next((end for end in _ENDINGS if note_id.lower().endswith(end)), "")
    return note_id[: len(note_id) - len(ending)]


def file_title(note_id: str) -> str:
    """Name a note after its file."""
    name = without_ending(note_id).rpartition("/")[2]
    return name or note_id


def all_findings(decoded: Decoded, parsed: Parsed, *more: Finding) -> Iterator[Finding]:
    """Yield a version's findings, each once, in the order the passes made them."""
    yield from dict.fromkeys((*decoded.findings, *parsed.findings, *more))


def _after(text: str, body_start: int) -> str:
    return text.encode()[body_start:].decode() if body_start else text


def _stated_title(front: Sequence[Property]) -> str:
    return " ".join((first_value(front, "title") or "").split())


def _title_heading(body: str, body_start: int, headings: Sequence[Heading]) -> str:
    """Return the H1 that opens the body: one further down heads its own part, not the note."""
    first = headings[0] if headings else None
    if first is None or first.level > 1:
        return ""
    above = body.encode()[: first.start - body_start].decode()
    return first.text if _BEFORE_TITLE.fullmatch(above) else ""


def _tags(front: Sequence[Property], body: Body) -> dict[str, str]:
    stated = values_of(front, "tags", "tag")
    tags = dict.fromkeys(property_tags((each.value, each.is_whole) for each in stated), "property")
    return {**tags, **{tag: "text" for tag in body.tags if tag not in tags}}
