"""Versions that were read before are not read again, and the tables do not show it."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.notes import parser
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TEXTS = [
    b"# One\n\n[[Two]] #tag\n",
    b"---\ndate: 2024-01-01\ntags: [a, b]\n---\n[x](y.md) [[z]]\n",
    b"---\nbroken: [\n---\ntext\n",
    b"",
    b"\xff\xfe",
    None,
]


def versions(rows, source=""):
    """Rows of (note id, day, content)."""
    return VERSIONS.table(
        {
            "note_id": note_id,
            "observed_at": DAY + dt.timedelta(days=day),
            "content_hash": None if content is None else bytes_hash(content),
            "file_time": DAY,
            "is_first_listing": day == 0,
            "content": content,
            **({"source": source} if "source" in VERSIONS.schema.names else {}),
        }
        for note_id, day, content in rows
    )


def tables(made):
    return {name: table.to_pylist() for name, table in vars(made).items()}


def test_only_new_versions_are_parsed(monkeypatch):
    rows = [("a.md", 0, TEXTS[0]), ("b.md", 0, TEXTS[1])]
    before = parse_notes(versions(rows), NoteRules())
    parsed = []
    real = parser.parse_note
    monkeypatch.setattr(
        parser, "parse_note", lambda *given: parsed.append(given[0]) or real(*given)
    )

    after = parse_notes(versions([*rows, ("b.md", 1, TEXTS[0])]), NoteRules(), before)

    assert parsed == ["b.md"]
    assert [row["is_current"] for row in after.notes.to_pylist()] == [True, False, True]


def test_a_version_with_others_before_it_now_is_parsed_again():
    before = parse_notes(versions([("a.md", 3, TEXTS[0])]), NoteRules())
    rows = [("a.md", 1, TEXTS[1]), ("a.md", 3, TEXTS[0])]

    assert tables(parse_notes(versions(rows), NoteRules(), before)) == tables(
        parse_notes(versions(rows), NoteRules())
    )


ROWS = st.dictionaries(
    st.tuples(st.sampled_from(["a.md", "b/c.md", "d.md"]), st.integers(0, 4)),
    st.sampled_from(TEXTS),
    max_size=8,
).map(lambda found: [(note, day, text) for (note, day), text in found.items()])


@given(ROWS, ROWS)
def test_carrying_over_gives_the_tables_of_a_full_reading(first, second):
    before = parse_notes(versions(first), NoteRules())

    carried = parse_notes(versions(second), NoteRules(), before)
    alone = parse_notes(versions(second), NoteRules())

    assert tables(carried) == tables(alone)
    assert all(
        isinstance(table, pa.Table) and table.schema == getattr(alone, name).schema
        for name, table in vars(carried).items()
    )


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_a_note_that_is_gone_keeps_its_versions(text):
    before = parse_notes(versions([("a.md", 0, text)]), NoteRules())
    rows = [("a.md", 0, text), ("a.md", 2, None)]

    assert tables(parse_notes(versions(rows), NoteRules(), before)) == tables(
        parse_notes(versions(rows), NoteRules())
    )
