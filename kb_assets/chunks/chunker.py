"""Cut a folder's notes into chunks. Pure: a table of notes in, a table of chunks out.

- A note of at most `whole_note_tokens` stays whole, except that text under different dated
  headings never shares a chunk: an entry of a running log keeps its own written date even in a
  short log, because what supersedes what depends on it.
- A longer note is divided at its headings, then as packing.py says. A chat is divided at turns
  instead, and a card is one chunk whatever its size.
- `text` is the note's own text; in a piece of a larger section it begins with up to `overlap_chars`
  repeated characters. `byte_start` and `byte_end` bound the piece without them. A card's text
  is cleaned, and its bytes are those of the whole body.
- `breadcrumb` holds the headings that all of a chunk stands under, `anchors` those its first line
  stands under: a link to them opens the note where the chunk begins.
- A note with properties and no body is one chunk that says them; a note without either has none.
- `tokens` adds up the counts of parts, so it may differ from a count of `text` by a token or two;
  in a note of very many different words it is estimated.
- What stands beyond the work that one note may make (kb_core/workload.py) is cut as plain text.

Rows are ordered for the reader of a folder: present versions first, then by note, version, place.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from kb_assets.chunks.cards import CARD_KINDS, card_search_text, property_values, read_face
from kb_assets.chunks.drafts import Draft, draft_note
from kb_assets.chunks.faces import breadcrumb, property_face, search_text
from kb_assets.chunks.limits import Limits
from kb_assets.chunks.plain import draft_plainly
from kb_assets.chunks.sections import Section, read_sections
from kb_assets.chunks.written_dates import available_at, own_date
from kb_core.contracts import CHUNKS
from kb_core.ids import content_id
from kb_core.tokens import TokenCounter, for_one_note
from kb_core.workload import markdown_end

VERSION = "3"  # raise it when the same note would give other chunks

Row = dict[str, Any]
Note = Mapping[str, Any]  # a row of the notes table

_COPIED = (
    *("version_id", "note_id", "is_current", "title", "aliases"),
    *("kind", "tenant", "readers", "is_private", "may_leave"),
)


def chunk_notes(notes: pa.Table, limits: Limits, counter: TokenCounter) -> pa.Table:
    """Return the chunks of a folder's notes, every kept version of each.

    Takes a table of the contract `notes`, gives one of the contract `chunks`, whose check it
    passes (ContractError). Sizes are tokens of this counter.
    """
    return CHUNKS.table(
        row for note in _in_order(notes) for row in _note_rows(note, limits, counter)
    )


def _in_order(notes: pa.Table) -> Iterator[Note]:
    """Yield present versions first: their texts come first in every index."""
    columns = (notes[name].to_pylist() for name in ("is_current", "note_id", "version"))
    keys = [(not current, note, version) for current, note, version in zip(*columns, strict=True)]
    for at in sorted(range(len(keys)), key=keys.__getitem__):
        yield notes.slice(at, 1).to_pylist()[0]


def _note_rows(note: Note, limits: Limits, counter: TokenCounter) -> list[Row]:
    body = _body(note)
    end = markdown_end(body)
    sections = read_sections(body[:end], note["title"], own_date(note))
    is_card = note["kind"] in CARD_KINDS and end == len(body)
    counter = for_one_note(counter, body)
    properties = property_face(note["aliases"], note["tags"], note["properties"], body[:end])
    if not body.strip():
        drafts = [Draft(0, 0, properties, counter.count(properties))] if properties else []
    elif is_card:
        drafts = [_card_draft(body, sections, counter)]
    else:
        drafts = draft_note(body, sections, note["kind"], limits, counter)
        drafts += draft_plainly(body, end, limits, counter)
    rows = list(_rows(note, body, drafts, properties))
    if is_card:
        _face_card(rows, note, body, sections)
    return rows


def _body(note: Note) -> str:
    text: str = note["text"]
    if text.isascii():
        return text[note["body_start"] :]
    return text.encode()[note["body_start"] :].decode()


def _card_draft(body: str, sections: Sequence[Section], counter: TokenCounter) -> Draft:
    text = read_face(body, sections)
    start = len(body) - len(body.lstrip())
    return Draft(start, len(body.rstrip()), text, counter.count(text))


def _rows(note: Note, body: str, drafts: Sequence[Draft], properties: str) -> Iterator[Row]:
    crumbs = [breadcrumb(note["title"], draft.trail) for draft in drafts]
    ids = _chunk_ids(note["note_id"], crumbs, drafts)
    ranges = _byte_ranges(body, note["body_start"], drafts)
    for ordinal, draft in enumerate(drafts):
        said = properties if ordinal == 0 and properties != draft.text else ""
        face = search_text(crumbs[ordinal], said, draft.text)
        yield {
            **{name: note[name] for name in _COPIED},
            "chunk_id": ids[ordinal],
            "text_id": content_id(face),
            "ordinal": ordinal,
            "next_chunk_id": ids[ordinal + 1] if ordinal + 1 < len(ids) else None,
            "breadcrumb": crumbs[ordinal],
            "anchors": list(draft.anchors),
            "text": draft.text,
            "search_text": face,
            "tokens": draft.tokens,
            "byte_start": ranges[ordinal][0],
            "byte_end": ranges[ordinal][1],
            **_when(note, draft),
            "source_type": "",
            "authority_role": "",
            "speakers": list(draft.speakers),
        }


def _chunk_ids(note_id: str, crumbs: Sequence[str], drafts: Sequence[Draft]) -> list[str]:
    ids: list[str] = []
    seen: Counter[tuple[str, str]] = Counter()
    for crumb, draft in zip(crumbs, drafts, strict=True):
        # The ordinal stays out of the id: a paragraph added at the top of a note must not
        # rename, and so extract again, every chunk below it.
        repeat = seen[crumb, draft.text]
        seen[crumb, draft.text] += 1
        ids.append(content_id(note_id, crumb, draft.text, str(repeat)))
    return ids


def _byte_ranges(body: str, body_start: int, drafts: Sequence[Draft]) -> list[tuple[int, int]]:
    """Return each draft's range in bytes of the whole note, each character looked at once."""
    if not body.strip():
        return [(0, body_start) for _ in drafts]
    edges = [0, *(edge for draft in drafts for edge in (draft.start, draft.end))]
    places = [body_start]
    for start, end in pairwise(edges):
        places.append(places[-1] + len(body[start:end].encode()))
    return list(zip(places[1::2], places[2::2], strict=True))


def _when(note: Note, draft: Draft) -> Row:
    is_dated = draft.date is not None
    return {
        "written_date": draft.date if is_dated else note["note_date"],
        "written_basis": "heading" if is_dated else note["date_basis"],
        "written_is_weak": not is_dated and note["date_is_weak"],
        "available_at": available_at(draft.date, note["available_at"], note["observed_at"]),
    }


def _face_card(rows: list[Row], note: Note, body: str, sections: Sequence[Section]) -> None:
    """Give a card's one row the search face and the columns that only cards have."""
    for row in rows:
        properties = note["properties"]
        face = card_search_text(note["title"], note["aliases"], properties, body, sections)
        row["search_text"], row["text_id"] = face, content_id(face)
        for column in ("source_type", "authority_role"):
            row[column] = next(iter(property_values(properties, frozenset({column}))), "")
