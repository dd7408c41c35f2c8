"""Read one version of a note: everything its bytes and its path say. Pure.

This is the only place that knows the order of the passes. It may raise on a defect of a pass;
`plain_note` then keeps the note with what is certain. Where a note cannot be read to its end, the
word `private` before a colon makes it private: a limit of ours must not open what somebody closed.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_assets.notes.decoding import Decoded
from kb_assets.notes.findings import ALIASES_CUT, READ_PLAINLY, TITLE_CUT, Finding
from kb_assets.notes.front_matter import NOTHING, FrontMatter, read_front_matter
from kb_assets.notes.kinds import first_value, split_values, values_of
from kb_assets.notes.markdown import Body, Heading, read_body
from kb_assets.notes.tags import property_tags
from kb_assets.notes.wikilinks import Link
from kb_assets.notes.yaml_strings import Property
from kb_core.workload import markdown_end

# A title and the aliases stand beside every chunk of their note.
MOST_TITLE = 500  # characters, of an alias too
MOST_ALIASES = 200

_PRIVATE = re.compile(r"\bprivate[\"'*_ \t]{0,8}[:：]")
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
    first_commit: dt.datetime | None = None  # of the note, where git history was imported


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
    end = markdown_end(after)
    body = read_body(after[:end], front.body_start)
    fields = sorted(body.fields, key=lambda field: field.start)
    of_note = tuple(Property(f.name, f.value, True) for f in fields if f.is_of_note)
    title = (
        _stated_title(front.properties)
        or _title_heading(after, front.body_start, body.headings)
        or file_title(note_id)
    )
    aliases = split_values(values_of(front.properties, "aliases", "alias"))
    return Parsed(
        title=title[:MOST_TITLE].rstrip(),
        aliases=[alias for alias in aliases if len(alias) <= MOST_TITLE][:MOST_ALIASES],
        tags=_tags(front.properties, body),
        front_matter=front.properties,
        of_note=(*of_note, *_said_private(after[end:])),
        properties=[
            *((each.name, each.value) for each in front.properties),
            *((field.name, field.value) for field in fields),
        ],
        links=(*front.links, *body.links),
        body_start=front.body_start,
        findings=(*front.findings, *_limits_met(title, aliases, after[:end], after)),
    )


def plain_note(note_id: str, text: str, finding: Finding) -> Parsed:
    """Return what is left of a note that could not be parsed: its name, its access, and why."""
    front = _front_matter_or_none(text)
    return Parsed(
        title=file_title(note_id)[:MOST_TITLE],
        aliases=[],
        tags={},
        front_matter=front.properties,
        of_note=_said_private(text),
        properties=[(each.name, each.value) for each in front.properties],
        links=(),
        body_start=front.body_start,
        findings=(finding, *front.findings),
    )


def _front_matter_or_none(text: str) -> FrontMatter:
    try:
        return read_front_matter(text)
    except Exception:  # noqa: BLE001 - the note is kept without it, and its finding says so
        return NOTHING


def _said_private(unread: str) -> tuple[Property, ...]:
    """Return the property that closes a note whose unread part seems to say it is private."""
    lowered = unread.lower()  # ten times as fast as a search without regard to case
    is_said = "private" in lowered and bool(_PRIVATE.search(lowered))
    return (Property("private", "true", True),) if is_said else ()


def _limits_met(title: str, aliases: Sequence[str], read: str, body: str) -> Iterator[Finding]:
    if len(title) > MOST_TITLE:
        yield Finding(TITLE_CUT, f"{len(title)} characters")
    if len(aliases) > MOST_ALIASES or any(len(alias) > MOST_TITLE for alias in aliases):
        yield Finding(ALIASES_CUT, f"{len(aliases)} aliases")
    if len(read) < len(body):
        yield Finding(READ_PLAINLY, f"from character {len(read)} of the body's {len(body)}")


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
    return text[_characters(text, body_start) :]


def _characters(text: str, size: int) -> int:
    """Return how many characters the first bytes of a text are."""
    # A character is a byte or more: the bytes lie in no more characters than their number.
    return len(text[:size].encode()[:size].decode())


def _stated_title(front: Sequence[Property]) -> str:
    return " ".join((first_value(front, "title") or "").split())


def _title_heading(body: str, body_start: int, headings: Sequence[Heading]) -> str:
    """Return the H1 that opens the body: one further down heads its own part, not the note."""
    first = headings[0] if headings else None
    if first is None or first.level > 1:
        return ""
    above = body[: _characters(body, first.start - body_start)]
    return first.text if _BEFORE_TITLE.fullmatch(above) else ""


def _tags(front: Sequence[Property], body: Body) -> dict[str, str]:
    stated = values_of(front, "tags", "tag")
    tags = dict.fromkeys(property_tags((each.value, each.is_whole) for each in stated), "property")
    return {**tags, **{tag: "text" for tag in body.tags if tag not in tags}}
