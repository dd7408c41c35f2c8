"""Which note a link means, as observed on Obsidian 1.13.7."""

import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.note_links.resolver import build_vault, resolve, resolve_links
from kb_core.contracts import FILES, NOTE_LINKS, NOTE_LINKS_RAW, NOTES

_COLUMNS = ["note_id", "version_id", "is_current", "aliases"]
_NOTES_SCHEMA = pa.schema([NOTES.schema.field(name) for name in _COLUMNS])


def notes_table(*rows: tuple[str, bool, list[str]]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "note_id": note_id,
                "version_id": f"{note_id}@{at}",
                "is_current": is_current,
                "aliases": aliases,
            }
            for at, (note_id, is_current, aliases) in enumerate(rows)
        ],
        schema=_NOTES_SCHEMA,
    )


def raw_table(*rows: dict[str, object]) -> pa.Table:
    full = {
        "heading": None,
        "block": None,
        "display": None,
        "property": None,
        "syntax": "wikilink",
        "byte_start": 0,
        "byte_end": 5,
    }
    return NOTE_LINKS_RAW.table({**full, **row} for row in rows)


def listed(*files: str) -> pa.Table:
    schema = pa.schema([FILES.schema.field(name) for name in ("path", "is_note")])
    rows = [{"path": path, "is_note": path.endswith(".md")} for path in files]
    return pa.Table.from_pylist(rows, schema=schema)


def find(target, source="src.md", *, notes=(), files=(), syntax="wikilink", aliases=None):
    rows = [(note_id, True, (aliases or {}).get(note_id, [])) for note_id in notes]
    return resolve(source, target, syntax, build_vault(notes_table(*rows), listed(*files)))


THREE = ("a/b/Note.md", "zzzz/Note.md", "b/Note.md")


def resolved(notes, raw, files):
    return resolve_links(notes, raw, build_vault(notes, files))


@pytest.mark.parametrize(
    ("target", "source", "notes", "first"),
    [
        ("MyNote", "journal/2024-01-15.md", ["notes/MyNote.md"], "notes/MyNote.md"),
        ("Note", "zzzz/src.md", [*THREE, "Note.md"], "Note.md"),  # the exact path wins
        ("b/Note", "a/src.md", THREE, "b/Note.md"),
        ("Note", "zzzz/src.md", THREE, "zzzz/Note.md"),  # then the source's own folder
        ("Note", "zzzz/deep/src.md", THREE, "b/Note.md"),  # an ancestor counts for nothing
        ("Note", "src.md", THREE, "b/Note.md"),  # then the shortest path string
        ("Note", "src.md", ["a/b/Note.md", "zzzzzzzz/Note.md"], "a/b/Note.md"),
        ("b/Note", "src.md", ["a/b/Note.md"], "a/b/Note.md"),  # the end of a path
        ("mynote", "src.md", ["x/MyNote.md"], "x/MyNote.md"),
        ("MyNote.MD", "src.md", ["x/MyNote.md"], "x/MyNote.md"),
        ("case", "src.md", ["x/Case.md", "x/case.md"], "x/case.md"),
        ("Case", "src.md", ["x/Case.md", "x/case.md"], "x/Case.md"),
        ("v1.2", "src.md", ["v1.2.md"], "v1.2.md"),
        ("cafe\u0301", "src.md", ["caf\u00e9.md"], "caf\u00e9.md"),
        ("a\u00a0b", "src.md", ["a b.md"], "a b.md"),
        ("./Note", "a/src.md", ["a/Note.md", "Note.md"], "a/Note.md"),
        ("../Note", "a/b/src.md", ["a/Note.md", "Note.md"], "a/Note.md"),
        ("../../Note", "a/b/src.md", ["a/Note.md", "Note.md"], "Note.md"),
        ("/a/Note", "b/src.md", ["a/Note.md", "b/a/Note.md"], "a/Note.md"),
        ("Sq]uare", "src.md", ["Sq]uare.md"], "Sq]uare.md"),
    ],
)
def test_a_link_resolves_to_the_note_obsidian_opens(target, source, notes, first):
    found = find(target, source, notes=notes)

    assert found.status == "resolved"
    assert found.candidates[0] == first


@pytest.mark.parametrize(
    ("target", "source", "notes"),
    [
        ("./Note", "a/src.md", ["Note.md", "b/Note.md"]),  # relative is exact
        ("../Note", "a/b/src.md", ["Note.md", "a/b/Note.md"]),
        ("../../../Note", "a/src.md", ["Note.md"]),  # leaves the vault
        ("/Note", "a/src.md", ["a/Note.md"]),
        ("ote", "src.md", ["Note.md"]),  # an ending is whole names
        ("b/Note", "src.md", ["ab/Note.md"]),
        ("Note/", "src.md", ["Note.md"]),
        ("pic", "src.md", []),
        ("https://x.y", "src.md", ["x.md"]),  # an address in a wikilink is a missing note
    ],
)
def test_what_names_no_note_is_dangling(target, source, notes):
    assert find(target, source, notes=notes, files=["pic.png"]) == ("dangling", ())


@pytest.mark.parametrize(
    ("target", "source", "first"),
    [
        ("My Note.md", "md1.md", "Sub/My Note.md"),
        ("Sub/My Note.md", "md1.md", "Sub/My Note.md"),
        ("My Note.md", "Sub/md2.md", "Sub/My Note.md"),
        ("Sub/My Note.md", "Sub/md2.md", "Sub/My Note.md"),
        ("../Sub/My Note.md", "Sub/md2.md", "Sub/My Note.md"),
        ("/Sub/My Note.md", "Other/md3.md", "Sub/My Note.md"),
    ],
)
def test_a_markdown_destination_is_looked_up_vault_wide(target, source, first):
    found = find(target, source, notes=["Sub/My Note.md", "md1.md"], syntax="markdown")

    assert found == ("resolved", (first,))


def test_a_relative_markdown_path_below_the_source_wins_over_a_shorter_one():
    notes = ["a/sub/y.md", "b/sub/y.md", "c/sub/y.md"]

    assert find("sub/y.md", "c/n.md", notes=notes, syntax="markdown").candidates[0] == "c/sub/y.md"


def test_all_candidates_are_listed_in_order_of_preference():
    found = find("Note", "zzzz/src.md", notes=[*THREE, "Note.md"])

    assert found.candidates == ("Note.md", "zzzz/Note.md", "b/Note.md", "a/b/Note.md")


@pytest.mark.parametrize(
    "target", ["https://x.y/z", "mailto:a@b.c", "obsidian://open", "//cdn.x/y"]
)
@pytest.mark.parametrize("syntax", ["markdown", "image"])
def test_an_address_is_external(target, syntax):
    assert find(target, syntax=syntax, notes=["a.md"]) == ("external", ())


def test_an_attachment_needs_its_ending():
    files = ["img/Pic.png", "board.canvas"]

    assert find("pic.png", files=files, syntax="embed").status == "attachment"
    assert find("board.canvas", files=files).status == "attachment"
    assert find("board", files=files).status == "dangling"


def test_a_link_to_a_note_that_was_not_read_is_not_dangling():
    files = ["online/Plan.md", "a/Read.md"]
    aliases = {"a/Read.md": ["Plan"]}

    assert find("plan", notes=aliases, files=files) == ("unread", ("online/Plan.md",))
    assert find("Plan", notes=aliases, files=files, aliases=aliases).status == "unread"
    assert find("Read", notes=aliases, files=files) == ("resolved", ("a/Read.md",))


def test_a_note_that_was_not_read_has_no_note_id():
    raw = raw_table({"version_id": "s.md@0", "note_id": "s.md", "ordinal": 0, "target": "Plan"})
    rows = resolved(notes_table(("s.md", True, [])), raw, listed("s.md", "Plan.md"))

    assert (rows["status"][0].as_py(), rows["target_note_id"][0].as_py()) == ("unread", None)


def test_an_alias_is_reported_and_never_resolved():
    aliases = {"a.md": ["The One"], "b.md": ["the one", "Acme"], "Acme.md": []}

    assert find("The One", notes=list(aliases), aliases=aliases) == ("alias", ("a.md", "b.md"))
    assert find("Acme", notes=list(aliases), aliases=aliases) == ("resolved", ("Acme.md",))


def test_links_become_rows_with_target_and_ambiguity():
    notes = notes_table(("x/N.md", True, []), ("y/N.md", True, ["Al"]), ("s.md", True, ["Al"]))
    source = {"version_id": "s.md@2", "note_id": "s.md"}
    raw = raw_table(
        {**source, "ordinal": 1, "target": "", "heading": "H"},
        {**source, "ordinal": 0, "target": "N", "display": "n", "byte_start": 3, "byte_end": 9},
        {**source, "ordinal": 2, "target": "Al"},
        {**source, "ordinal": 3, "target": "Gone", "block": "b"},
    )

    rows = resolved(notes, raw, listed()).to_pylist()

    assert [(x["status"], x["target_note_id"], x["is_ambiguous"]) for x in rows] == [
        ("resolved", "x/N.md", True),
        ("self", "s.md", False),
        ("alias", None, False),
        ("dangling", None, False),
    ]
    assert rows[0]["candidates"] == ["x/N.md", "y/N.md"]
    assert (rows[0]["display"], rows[0]["byte_start"], rows[0]["byte_end"]) == ("n", 3, 9)
    assert (rows[1]["heading"], rows[3]["block"]) == ("H", "b")


def test_targets_are_present_notes_and_old_versions_keep_their_links():
    notes = notes_table(("gone.md", False, ["Old"]), ("s.md", False, []), ("s.md", True, []))
    raw = raw_table(
        {"version_id": "s.md@1", "note_id": "s.md", "ordinal": 0, "target": "gone"},
        {"version_id": "s.md@2", "note_id": "s.md", "ordinal": 0, "target": "Old"},
    )

    rows = resolved(notes, raw, listed()).to_pylist()

    assert [(x["is_current"], x["status"]) for x in rows] == [
        (False, "dangling"),
        (True, "dangling"),
    ]


def test_no_links_and_no_notes_give_an_empty_table():
    empty = resolved(notes_table(), raw_table(), listed())

    assert NOTE_LINKS.check(empty).num_rows == 0


def test_a_vault_of_equal_names_takes_linear_time():
    notes = notes_table(*((f"d{n}/index.md", True, []) for n in range(5_000)))
    raw = raw_table(
        *(
            {
                "version_id": f"d{n}/index.md@{n}",
                "note_id": f"d{n}/index.md",
                "ordinal": at,
                "target": to,
            }
            for n in range(5_000)
            for at, to in enumerate(["../index", f"d{n - 1}/index"])
        )
    )
    started = time.process_time()
    rows = resolved(notes, raw, listed())

    assert time.process_time() - started < 2
    assert max(len(x) for x in rows["candidates"].to_pylist()) == 1


_PATH = st.lists(st.sampled_from(["a", "B", "b", "Note", "é"]), min_size=1, max_size=3).map(
    "/".join
)


@settings(deadline=None)
@given(st.lists(_PATH, unique=True, max_size=8), _PATH, _PATH)
def test_the_rules_hold_on_any_small_vault(paths, target, source):
    notes = [f"{path}.md" for path in paths]

    found = find(target, f"{source}.md", notes=notes)

    lower = target.lower()
    matching = [p for p in paths if p.lower() == lower or p.lower().endswith(f"/{lower}")]
    assert sorted(found.candidates) == sorted(f"{path}.md" for path in matching)
    if matching:
        folder = source.lower().rpartition("/")[0]
        beside = f"{folder}/{lower}" if folder else lower
        best = min(matching, key=lambda p: (p.lower() != lower, p.lower() != beside, len(p)))
        assert found.candidates[0].lower() == f"{best.lower()}.md" or len(
            found.candidates[0]
        ) == len(best) + len(".md")


@settings(deadline=None)
@given(
    st.text(), st.text(), st.sampled_from(["wikilink", "markdown", "embed", "image", "property"])
)
def test_any_target_resolves_to_something(target, source, syntax):
    find(target, source, notes=["a.md", "b/a.md"], files=["x.png"], syntax=syntax)
