"""The CPU time of each step that makes a vault's structure, measured over one vault.

Read, parse, resolve and find mentions are called as the stages call them, on tables in memory. The
floor is a bare loop over the Markdown parser's events with their ranges, over the same bodies and
with the same options, folder by folder in turn with our parser: whatever slows one slows the other.
"""

import datetime as dt
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyromark

from kb_assets.note_links import resolver
from kb_assets.notes.parser import NoteRules, NoteTables, parse_notes
from kb_core.contracts import NOTE_LINKS, NOTES, VERSIONS
from kb_core.ids import bytes_hash
from kb_core.settings import VaultSettings
from kb_knowledge.note_mentions import Names, find_mentions
from kb_knowledge.note_names import find_names
from resources.vault import Entry, LocalVault

_OBSERVED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_OPTIONS = pyromark.Options
_PRESENT = ["note_id", "is_current", "title", "aliases"]
_OWN = ["version_id", "is_current"]
_MARKDOWN_KINDS = ("markdown", "image")
_MARKDOWN = pyromark.Markdown(
    options=_OPTIONS.ENABLE_WIKILINKS
    | _OPTIONS.ENABLE_TABLES
    | _OPTIONS.ENABLE_FOOTNOTES
    | _OPTIONS.ENABLE_TASKLISTS
    | _OPTIONS.ENABLE_MATH
)


@dataclass
class Clock:
    """Adds up the CPU seconds of named steps, all threads together."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        start = time.process_time()
        yield
        self.seconds[name] += time.process_time() - start


@dataclass(frozen=True)
class Structure:
    """What was found in a vault, and the CPU seconds of read, parse, floor, resolve, mentions."""

    notes: int
    unread: int  # listed and not read: hidden ones, and those whose bytes are not here
    words: int
    megabytes: float
    links: Mapping[str, int]  # status -> links
    wikilinks: int
    names: int
    mentions: int
    findings: Mapping[str, int]  # code -> findings
    seconds: Mapping[str, float]


def measure_structure(root: Path) -> Structure:
    """Make a vault's structure in memory and measure each step."""
    clock = Clock()
    vault = LocalVault(root, VaultSettings())
    with clock.step("read"):
        entries = vault.list()
        contents = _contents(vault, entries)
    size = sum(len(content) for notes in contents.values() for content in notes.values())
    tables = [_parsed(clock, notes) for _, notes in sorted(contents.items())]
    links = _resolved(clock, tables, entries)
    names, mentions = _mentioned(clock, tables)
    read = sum(len(notes) for notes in contents.values())
    return Structure(
        notes=read,
        unread=sum(1 for entry in entries if entry.is_note) - read,
        words=sum(len(text.split()) for each in tables for text in each.notes["text"].to_pylist()),
        megabytes=size / 1e6,
        links=Counter(links["status"].to_pylist()),
        wikilinks=sum(1 for syntax in links["syntax"].to_pylist() if syntax not in _MARKDOWN_KINDS),
        names=names,
        mentions=mentions,
        findings=Counter(code for each in tables for code in each.findings["code"].to_pylist()),
        seconds=dict(clock.seconds),
    )


def _contents(vault: LocalVault, entries: list[Entry]) -> dict[str, dict[str, bytes]]:
    """Read every note, by folder and path."""
    contents: dict[str, dict[str, bytes]] = defaultdict(dict)
    for entry in entries:
        read = vault.read(entry) if entry.is_note else None
        if read and read.content is not None:
            contents[entry.folder(1)][entry.path] = read.content
    return contents


def _parsed(clock: Clock, notes: Mapping[str, bytes]) -> NoteTables:
    versions = _versions(notes)
    with clock.step("parse"):
        tables = parse_notes(versions, NoteRules())
    columns = (tables.notes[name].to_pylist() for name in ("text", "body_start"))
    bodies = [text.encode()[start:].decode() for text, start in zip(*columns, strict=True)]
    with clock.step("floor"):
        for body in bodies:
            for _event, _range in _MARKDOWN.events_with_range(body, merge_text=True):
                pass
    return tables


def _versions(notes: Mapping[str, bytes]) -> pa.Table:
    return VERSIONS.table(
        [
            {
                "note_id": path,
                "observed_at": _OBSERVED,
                "content_hash": bytes_hash(content),
                "file_time": _OBSERVED,
                "is_first_listing": True,
                "content": content,
            }
            for path, content in notes.items()
        ]
    )


def _resolved(clock: Clock, tables: list[NoteTables], entries: list[Entry]) -> pa.Table:
    files = pa.table(
        {
            "path": [entry.path for entry in entries],
            "is_note": pa.array([entry.is_note for entry in entries], pa.bool_()),
        }
    )
    notes = pa.concat_tables([NOTES.empty(), *(each.notes for each in tables)])
    with clock.step("resolve"):
        vault = resolver.build_vault(notes.select(_PRESENT), files)
        links = [
            resolver.resolve_links(each.notes.select(_OWN), each.note_links_raw, vault)
            for each in tables
        ]
    return pa.concat_tables([NOTE_LINKS.empty(), *links])


def _mentioned(clock: Clock, tables: list[NoteTables]) -> tuple[int, int]:
    notes = pa.concat_tables([NOTES.empty(), *(each.notes for each in tables)])
    with clock.step("names"):
        found = find_names(notes.select(_PRESENT))
        names = Names.of_table(found)
    with clock.step("mentions"):
        mentions = [find_mentions(each.notes, each.note_links_raw, names) for each in tables]
    return found.num_rows, sum(table.num_rows for table in mentions)
