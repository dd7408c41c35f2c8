"""Collect parsed versions column by column and make tables of them. Pure.

Rows as dicts would copy every text of a big vault twice; columns do not.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from kb_assets.notes.decoding import Decoded
from kb_assets.notes.findings import Finding
from kb_assets.notes.note import Parsed, Version
from kb_core.contract import PROPERTIES
from kb_core.contracts import FINDINGS, NOTE_LINKS_RAW, NOTE_TAGS, NOTES


class Columns:
    """The growing columns of the stage's four tables."""

    def __init__(self) -> None:
        self._notes: dict[str, list[Any]] = defaultdict(list)
        self._links: dict[str, list[Any]] = defaultdict(list)
        self._tags: dict[str, list[Any]] = defaultdict(list)
        self._findings: dict[str, list[Any]] = defaultdict(list)

    def add_note(
        self, version: Version, decoded: Decoded, parsed: Parsed, rest: Mapping[str, Any]
    ) -> None:
        """Add a version, its links and its tags. `rest` holds access and date columns."""
        _append(
            self._notes,
            {
                "version_id": version.version_id,
                "note_id": version.note_id,
                "version": version.number,
                "content_hash": version.content_hash,
                "observed_at": version.observed_at,
                "observed_until": version.observed_until,
                "is_current": version.is_current,
                "title": parsed.title,
                "aliases": parsed.aliases,
                "tags": list(parsed.tags),
                "properties": parsed.properties,
                "text": decoded.text,
                "body_start": parsed.body_start,
                "encoding": decoded.encoding,
                **rest,
            },
        )
        self._add_links(version, parsed)
        for tag, source in parsed.tags.items():
            _append(self._tags, {**_of(version), "tag": tag, "source": source})

    def add_findings(self, version: Version, findings: Iterable[Finding]) -> None:
        """Add what was odd about a version."""
        for finding in findings:
            row = {**_of(version), "code": finding.code, "detail": finding.detail}
            _append(self._findings, row)

    def notes(self) -> pa.Table:
        """Return the notes so far."""
        properties = _properties(self._notes["properties"])
        return _table(NOTES.schema, self._notes, properties=properties)

    def links(self) -> pa.Table:
        """Return the links so far, as written."""
        return _table(NOTE_LINKS_RAW.schema, self._links)

    def tags(self) -> pa.Table:
        """Return the tags so far."""
        return _table(NOTE_TAGS.schema, self._tags)

    def findings(self) -> pa.Table:
        """Return the findings so far."""
        return _table(FINDINGS.schema, self._findings)

    def _add_links(self, version: Version, parsed: Parsed) -> None:
        for ordinal, link in enumerate(parsed.links):
            row = {
                **_of(version),
                "ordinal": ordinal,
                "syntax": link.syntax,
                "target": link.target,
                "heading": link.heading,
                "block": link.block,
                "display": link.display,
                "property": link.property,
                "byte_start": link.start,
                "byte_end": link.end,
            }
            _append(self._links, row)


def _of(version: Version) -> dict[str, str]:
    return {"version_id": version.version_id, "note_id": version.note_id}


def _append(columns: dict[str, list[Any]], row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        columns[name].append(value)


def _table(schema: pa.Schema, columns: Mapping[str, list[Any]], **made: pa.Array) -> pa.Table:
    arrays = [
        made[field.name] if field.name in made else pa.array(columns[field.name], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _properties(rows: Iterable[list[tuple[str, str]]]) -> pa.Array:
    """Build the list-of-pairs column from flat names and values: many times faster than dicts."""
    offsets, names, values = [0], [], []
    for row in rows:
        names += [name for name, _ in row]
        values += [value for _, value in row]
        offsets.append(len(names))
    pair = PROPERTIES.value_type
    pairs = pa.StructArray.from_arrays(
        [pa.array(names, pa.string()), pa.array(values, pa.string())], fields=list(pair)
    )
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pairs, type=PROPERTIES)
