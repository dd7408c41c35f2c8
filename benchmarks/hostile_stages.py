"""Run the stages over one note at a time: how long it takes, and whether it says what it lost.

What a note lost is found by other means than the stages': its bytes, a plain YAML reader, and
whether every word of it stands in one of its chunks.
"""

import datetime as dt
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import yaml

from benchmarks.hostile_vault import is_marked
from benchmarks.report import progress
from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.note_links.resolver import build_vault, resolve_links
from kb_assets.notes.parser import NoteRules, NoteTables, parse_notes
from kb_core.contracts import FILES, VERSIONS
from kb_core.ids import bytes_hash
from kb_core.tokens import TokenCounter
from kb_search.keyword import build_postings
from resources.vault import Entry, LocalVault

_NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
_SLOW_SECONDS = 1.0
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE
)


@dataclass
class StageFigures:
    """What was seen over all notes."""

    notes: int = 0
    read: int = 0
    crashes: int = 0
    over_1s: int = 0
    degraded: int = 0
    unlisted_degraded: int = 0
    escapes: int = 0
    slowest_seconds: float = 0.0
    slowest_index_seconds: float = 0.0
    slowest: str = ""
    milliseconds: list[float] = field(default_factory=list)


class StageRun:
    """The real functions of the stages, over the notes of one vault."""

    def __init__(self, vault: LocalVault, counter: TokenCounter) -> None:
        self._vault = vault
        self._counter = counter
        self.figures = StageFigures()

    def over_all(self, entries: Sequence[Entry]) -> StageFigures:
        """Read, cut, link and index every note by itself."""
        notes = [entry for entry in entries if entry.is_note]
        for number, entry in enumerate(notes, start=1):
            self._one(entry)
            if number % 1_000 == 0:
                progress(
                    f"{number} of {len(notes)} notes, slowest {self.figures.slowest_seconds:.2f} s"
                )
        return self.figures

    def _one(self, entry: Entry) -> None:
        figures = self.figures
        figures.notes += 1
        read = self._vault.read(entry)
        if read.content is None:
            figures.degraded += 1
            figures.unlisted_degraded += not read.problem
            return
        figures.read += 1
        figures.escapes += is_marked(read.content)
        start = time.process_time()
        try:
            tables, chunks = self._stages(entry, read.content)
            worked = time.process_time() - start
            build_postings(chunks["search_text"].to_pylist())
        except Exception as problem:  # noqa: BLE001 - counting them is what this is for
            figures.crashes += 1
            progress(f"crash: {type(problem).__name__} in {entry.path!a}")
            return
        self._note_time(entry, worked, time.process_time() - start - worked)
        self._note_losses(entry, read.content, tables, chunks)

    def _stages(self, entry: Entry, content: bytes) -> tuple[NoteTables, pa.Table]:
        row = {
            "note_id": entry.path,
            "observed_at": _NOW,
            "content_hash": bytes_hash(content),
            "file_time": _NOW,
            "is_first_listing": True,
            "content": content,
        }
        tables = parse_notes(VERSIONS.table([row]), NoteRules())
        resolve_links(tables.notes, tables.note_links_raw, build_vault(tables.notes, FILES.empty()))
        return tables, chunk_notes(tables.notes, Limits(), self._counter)

    def _note_time(self, entry: Entry, worked: float, indexed: float) -> None:
        figures = self.figures
        figures.milliseconds.append(1000 * worked)
        figures.slowest_index_seconds = max(figures.slowest_index_seconds, indexed)
        if worked > _SLOW_SECONDS:
            figures.over_1s += 1
            progress(f"{worked:.2f} s: {entry.path!a} ({entry.size} bytes)")
        if worked > figures.slowest_seconds:
            figures.slowest_seconds, figures.slowest = worked, entry.path

    def _note_losses(
        self, entry: Entry, content: bytes, tables: NoteTables, chunks: pa.Table
    ) -> None:
        lost = list(losses(content, tables, chunks))
        codes = tables.findings["code"].to_pylist()
        self.figures.degraded += bool(codes)
        if lost and not codes:
            self.figures.unlisted_degraded += 1
            progress(f"lost in silence ({', '.join(lost)}): {entry.path!a}")


def losses(content: bytes, tables: NoteTables, chunks: pa.Table) -> Iterator[str]:
    """Name what a note lost, told from its bytes."""
    note = tables.notes.to_pylist()[0]
    text, encoding = note["text"], note["encoding"]
    if not _is_whole(text, encoding, content):
        yield "bytes"
    front = _FRONT_MATTER.match(text)
    if front and not _is_said(front[1], note):
        yield "properties"
    if note["kind"] not in ("card", "researcher", "practitioner", "evidence"):
        yield from _lost_words(text, note, chunks)


def _is_whole(text: str, encoding: str, content: bytes) -> bool:
    """Tell whether a text is all that stands in the bytes, but for a byte order mark."""
    try:
        return (
            content.endswith(text.encode(encoding))
            and len(content) - len(text.encode(encoding)) <= 4
        )
    except UnicodeEncodeError:
        return False


def _is_said(front: str, note: dict) -> bool:
    """Tell whether the note's properties hold every plain value of its front matter."""
    try:
        values = yaml.load(front, Loader=yaml.CBaseLoader)  # noqa: S506 - texts only
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    if not isinstance(values, dict):
        return not values
    said = {item["value"] for item in note["properties"]}
    plain = (value.strip() for value in values.values() if isinstance(value, str))
    return all(value in said for value in plain if value not in ("", "~", "null", "Null", "NULL"))


def _lost_words(text: str, note: dict, chunks: pa.Table) -> Iterator[str]:
    data = text.encode()
    at = note["body_start"]
    for start, end in sorted(
        zip(*(chunks[x].to_pylist() for x in ("byte_start", "byte_end")), strict=True)
    ):
        if data[at:start].decode("utf-8", "replace").strip():
            yield f"text before byte {start}"
            return
        at = max(at, end)
    if data[at:].decode("utf-8", "replace").strip():
        yield f"text after byte {at}"
