"""Find the notes that a text names without linking to them. Pure.

Every kept version is read, and so are the values of its front matter: an `author` names somebody
too. What lies inside a link or names its own note is no mention.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kb_core.contracts import NOTE_MENTIONS
from kb_core.name_places import Found
from kb_knowledge.name_finder import NameFinder

VERSION = "2"  # raise it when equal text would mention something else

Span = tuple[int, int]  # bytes of a note's text


class Name(NamedTuple):
    """A row of the names' table."""

    name: str
    kind: str
    candidates: tuple[str, ...]


class Text(NamedTuple):
    """What one version says, where its front matter ends, and its links in order."""

    text: str
    body_start: int
    linked: Sequence[Span]


class Names:
    """The names of a vault, ready to be looked for."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take the rows of NOTE_NAMES."""
        held = list(rows)
        self.rows = [Name(row["name"], row["kind"], tuple(row["candidates"])) for row in held]
        self.finder = NameFinder({row["name"]: row["forms"] for row in held})

    @classmethod
    def of_table(cls, table: pa.Table) -> "Names":
        """Take the names' table (contract NOTE_NAMES)."""
        return cls(table.to_pylist())


def find_mentions(
    notes: pa.Table, raw: pa.Table, names: Names, before: pa.Table | None = None
) -> pa.Table:
    """Return the mentions in some notes (contract NOTE_MENTIONS), sorted by note and name.

    `notes` holds note_id, version_id, is_current, body_start and text; `raw` the links of the same
    versions as written (contract NOTE_LINKS_RAW). `before` are mentions that were found for the
    same names: a version that stands there is not read again.
    """
    held = before if before is not None else NOTE_MENTIONS.empty()
    kept = _kept(held, notes)
    is_new = pc.invert(pc.is_in(notes["version_id"], value_set=_versions(kept)))
    made = NOTE_MENTIONS.table(_rows(notes.filter(is_new), raw, names))
    order = [(name, "ascending") for name in ("source_note_id", "source_version_id", "name")]
    return NOTE_MENTIONS.check(pa.concat_tables([kept, made]).sort_by(order).combine_chunks())


def _kept(before: pa.Table, notes: pa.Table) -> pa.Table:
    """Return the rows of versions that are still kept, and say anew which are present."""
    kept = before.filter(
        pc.is_in(before["source_version_id"], value_set=notes["version_id"].combine_chunks())
    )
    present = notes.filter(notes["is_current"])["version_id"].combine_chunks()
    is_current = pc.is_in(kept["source_version_id"], value_set=present)
    at = NOTE_MENTIONS.schema.get_field_index("is_current")
    return kept.set_column(at, NOTE_MENTIONS.schema.field(at), is_current)


def _versions(mentions: pa.Table) -> pa.Array:
    return pc.unique(mentions["source_version_id"])


def _rows(notes: pa.Table, raw: pa.Table, names: Names) -> Iterator[dict[str, Any]]:
    linked = _linked_spans(raw)
    small = notes.select(["note_id", "version_id", "is_current", "body_start"])
    columns = [small[name].to_pylist() for name in small.column_names]
    texts = notes["text"]
    for at, (note_id, version_id, is_current, body) in enumerate(zip(*columns, strict=True)):
        source = {
            "source_version_id": version_id,
            "source_note_id": note_id,
            "is_current": is_current,
        }
        text = Text(texts[at].as_py(), body, linked.get(version_id, ()))
        for row in mentions_in(note_id, text, names):
            yield {**source, **row}


def _linked_spans(raw: pa.Table) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = defaultdict(list)
    columns = (raw[name].to_pylist() for name in ("version_id", "byte_start", "byte_end"))
    for version_id, start, end in zip(*columns, strict=True):
        spans[version_id].append((start, end))
    return {version_id: sorted(each) for version_id, each in spans.items()}


def mentions_in(note_id: str, text: Text, names: Names) -> Iterator[dict[str, Any]]:
    """Yield the names that a note's text mentions, each with its places: columns of the table."""
    found = [
        each
        for each in _with_bytes(text.text, names.finder)
        if note_id not in names.rows[each.name].candidates
    ]
    outside = _outside(found, text.linked)
    kept = sorted(_without_keys(outside, text), key=lambda each: each.name)
    for place, group in groupby(kept, key=lambda each: each.name):
        name, places = names.rows[place], list(group)
        yield {
            "name": name.name,
            "kind": name.kind,
            "target_note_id": name.candidates[0],
            "candidates": name.candidates,
            "count": len(places),
            "byte_starts": [each.start for each in places],
            "byte_ends": [each.end for each in places],
        }


def _outside(found: Sequence[Found], linked: Sequence[Span]) -> Iterator[Found]:
    """Yield what touches no link; both are in order."""
    at = 0
    for each in found:
        while at < len(linked) and linked[at][1] <= each.start:
            at += 1
        if at == len(linked) or linked[at][0] >= each.end:
            yield each


def _without_keys(found: Iterable[Found], text: Text) -> Iterator[Found]:
    """Leave out the names of properties: they stand in a hundred notes and speak of none."""
    front = text.text[: text.body_start].encode()
    for each in found:
        is_key = each.end < text.body_start and front[each.end : each.end + 1] == b":"
        if not is_key:
            yield each


def _with_bytes(text: str, finder: NameFinder) -> list[Found]:
    """Find names in a text and give their places in bytes."""
    if text.isascii():
        return finder.find(text)
    if unicodedata.is_normalized("NFC", text):
        found = finder.find(text)
        at = _byte_places(text, [place for each in found for place in each[:2]])
        return [Found(at[each.start], at[each.end], each.name) for each in found]
    composed, starts = _composed(text)
    return [
        Found(starts[each.start], starts[each.end], each.name) for each in finder.find(composed)
    ]


def _byte_places(text: str, places: Sequence[int]) -> Mapping[int, int]:
    """Return the byte that each of these characters begins at; places are ascending."""
    result: dict[int, int] = {}
    before, total = 0, 0
    for place in places:
        total += len(text[before:place].encode())
        result[place] = total
        before = place
    return result


def _composed(text: str) -> tuple[str, list[int]]:
    """Compose a text; return it with the byte of the original that each character comes from."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for cluster in _clusters(text):
        part = unicodedata.normalize("NFC", cluster)
        parts.append(part)
        starts += [at] * len(part)
        at += len(cluster.encode())
    return "".join(parts), [*starts, at]


def _clusters(text: str) -> Iterator[str]:
    """Cut a text where composing never reaches across."""
    start = 0
    for at in range(1, len(text)):
        if not _is_composed_on(text[at]):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def _is_composed_on(character: str) -> bool:
    is_jamo = "\u1160" <= character <= "\u11ff"
    return is_jamo or unicodedata.combining(character) > 0
