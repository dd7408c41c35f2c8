"""Turn a folder's journaled note versions into tables. Pure, and safe to repeat.

One bad note never stops a folder: what cannot be parsed is kept as plain text under its file
name, and a finding says so. The rows come out sorted by note and version, whatever order the
journal had.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.notes.carrying import carried, known_versions
from kb_assets.notes.dating import FIRST_COMMIT, available_at, note_date
from kb_assets.notes.decoding import Decoded, decode
from kb_assets.notes.findings import CONTENT_MISSING, PARSE_FAILED, Finding
from kb_assets.notes.kinds import is_private, kind_of, may_leave, readers_of, tenant_of
from kb_assets.notes.note import (
    Parsed,
    Version,
    all_findings,
    parse_note,
    plain_note,
    without_ending,
)
from kb_assets.notes.note_columns import Columns
from kb_core.contracts import FINDINGS, NOTE_LINKS_RAW, NOTE_TAGS, NOTES
from kb_core.dates import DailyFormat, compile_daily_format
from kb_core.ids import content_id, json_hash
from kb_core.settings import FolderRule, Settings

VERSION = "4"  # raise it when equal bytes would give other rows


@dataclass(frozen=True)
class NoteRules:
    """What the user decides about reading notes."""

    date_properties: tuple[str, ...] = ("date", "created")
    available_property: str = "available_at"
    tenant: str = "main"
    folders: tuple[FolderRule, ...] = ()
    egress: tuple[str, ...] = ()
    daily_formats: tuple[str, ...] = ()  # of Obsidian's daily notes

    @classmethod
    def from_settings(cls, settings: Settings, daily_formats: Sequence[str] = ()) -> "NoteRules":
        """Take the rules out of the settings; the formats come from the vault's own."""
        return cls(
            date_properties=settings.notes.date_properties,
            available_property=settings.notes.available_property,
            tenant=settings.notes.tenant,
            folders=settings.folders,
            egress=settings.egress.allow,
            daily_formats=tuple(daily_formats),
        )

    def digest(self) -> str:
        """Hash the rules: other rules, other tables."""
        folders = [rule.model_dump(mode="json") for rule in self.folders]
        return json_hash({**asdict(self), "folders": folders})


@dataclass(frozen=True)
class NoteTables:
    """The stage's tables, named as their contracts."""

    notes: pa.Table
    note_links_raw: pa.Table
    note_tags: pa.Table
    findings: pa.Table

    def checked(self) -> "NoteTables":
        """Return the tables, held against their contracts."""
        for contract in (NOTES, NOTE_LINKS_RAW, NOTE_TAGS, FINDINGS):
            contract.check(getattr(self, contract.name))
        return self


class _Row(NamedTuple):
    note_id: str
    observed_at: dt.datetime
    content_hash: str | None
    file_time: dt.datetime | None
    is_first_listing: bool
    source: str | None
    at: int  # where its content lies in the versions table


def parse_notes(
    versions: pa.Table, rules: NoteRules, before: NoteTables | None = None
) -> NoteTables:
    """Parse every kept version of a folder's notes (contract VERSIONS).

    `before` are tables that the same rules and this code made of an earlier state of the folder:
    what stands in them is not parsed again.
    """
    out = Columns()
    daily = [compile_daily_format(fmt) for fmt in rules.daily_formats]
    contents = versions["content"]
    rows = list(_versions(versions))
    order = [version for version, _ in rows]
    known = known_versions(vars(before), order) if before else set()
    for version, index in rows:
        if version.version_id in known:
            continue
        content = contents[index].as_py()
        if content is None:
            out.add_findings(version, [Finding(CONTENT_MISSING)])
        else:
            _add(out, version, content, rules, daily)
    made = {
        "notes": out.notes(),
        "note_links_raw": out.links(),
        "note_tags": out.tags(),
        "findings": out.findings(),
    }
    return NoteTables(**(carried(vars(before), made, known, order) if before else made)).checked()


def _versions(table: pa.Table) -> Iterator[tuple[Version, int]]:
    """Yield each content row with its number and how long it stood, sorted by note and time."""
    order = pc.sort_indices(
        table.select(["note_id", "observed_at"]),
        sort_keys=[("note_id", "ascending"), ("observed_at", "ascending")],
    )
    # Only the small columns are sorted: the contents of a folder are read where they lie.
    columns = _Row._fields[:-1]
    small = table.select(columns).take(order)
    values = zip(*(small[name].to_pylist() for name in columns), order.to_pylist(), strict=True)
    for _, group in groupby((_Row(*row) for row in values), key=lambda row: row.note_id):
        yield from _numbered(list(group))


def _numbered(rows: Sequence[_Row]) -> Iterator[tuple[Version, int]]:
    number = 0
    first_commit = rows[0].observed_at if rows[0].source == FIRST_COMMIT else None
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if row.content_hash is None:
            continue
        number += 1
        yield (
            Version(
                note_id=row.note_id,
                version_id=version_id(row.note_id, row.content_hash, row.observed_at),
                number=number,
                content_hash=row.content_hash,
                observed_at=row.observed_at,
                observed_until=following.observed_at if following else None,
                is_current=following is None,
                file_time=row.file_time,
                is_first_listing=row.is_first_listing,
                first_commit=first_commit,
            ),
            row.at,
        )


def version_id(note_id: str, content_hash: str, observed_at: dt.datetime) -> str:
    """Name a version by what it is and when it was first seen."""
    return content_id(note_id, content_hash, observed_at.astimezone(dt.UTC).isoformat())


def _add(
    out: Columns, version: Version, content: bytes, rules: NoteRules, daily: Sequence[DailyFormat]
) -> None:
    decoded = decode(content)
    parsed = _parse_or_keep(version.note_id, decoded)
    stated = (*parsed.front_matter, *parsed.of_note)
    path = without_ending(version.note_id)
    times = (version.first_commit, version.file_time)
    date = note_date(path, stated, rules.date_properties, daily, *times)
    out.add_note(
        version,
        decoded,
        parsed,
        {
            **_access(version.note_id, decoded, parsed, rules),
            "note_date": date.value,
            "date_basis": date.basis,
            "date_is_weak": date.is_weak,
            "available_at": available_at(
                date,
                stated,
                rules.available_property,
                version.observed_at,
                version.is_first_listing,
            ),
        },
    )
    out.add_findings(version, all_findings(decoded, parsed, *date.findings))


def _access(note_id: str, decoded: Decoded, parsed: Parsed, rules: NoteRules) -> dict[str, Any]:
    front = parsed.front_matter
    private = is_private(note_id, front, parsed.of_note, rules.folders)
    return {
        "kind": kind_of(note_id, front, rules.folders, decoded.text),
        "tenant": tenant_of(note_id, front, rules.folders, rules.tenant),
        "readers": readers_of(note_id, front, rules.folders),
        "is_private": private,
        "may_leave": may_leave(note_id, rules.egress, private),
    }


def _parse_or_keep(note_id: str, decoded: Decoded) -> Parsed:
    """Parse a note, or keep it as it is: its folder must not wait for one defect."""
    try:
        return parse_note(note_id, decoded.text)
    except Exception as problem:  # noqa: BLE001 - whatever it is, the note is kept and listed
        return _kept(note_id, decoded.text, problem)
    except BaseException as problem:
        # A panic inside the Markdown parser is no Exception; an interrupt must pass.
        if type(problem).__name__ != "PanicException":
            raise
        return _kept(note_id, decoded.text, problem)


def _kept(note_id: str, text: str, problem: BaseException) -> Parsed:
    return plain_note(note_id, text, Finding(PARSE_FAILED, type(problem).__name__))
