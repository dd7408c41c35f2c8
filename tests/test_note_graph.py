"""The index of names and links: what some notes alone would give, held against a slow reading."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_knowledge.note_mentions import Names
from kb_knowledge.note_names import find_names
from kb_search.note_graph import NoteGraph, graph_arrays

PATHS = ["A.md", "B.md", "x/A.md", "x/Long name.md", "y/C.md", "y/Kiln.md"]
TITLES = ["A note", "Kiln", "Long name (old)", "kiln", "Tom V.", "窑炉", "The Board"]
ALIASES = ["Kiln", "A note", "LN", "炉", "Old name"]


def notes_table(*notes):
    """Rows of (note id, title, aliases)."""
    return pa.table(
        {
            "note_id": pa.array([each[0] for each in notes], pa.string()),
            "title": pa.array([each[1] for each in notes], pa.string()),
            "aliases": pa.array([each[2] for each in notes], pa.list_(pa.string())),
            "is_current": pa.array([True] * len(notes), pa.bool_()),
        }
    )


def links_table(*links):
    """Rows of (source, status, candidates)."""
    return pa.table(
        {
            "source_note_id": pa.array([each[0] for each in links], pa.string()),
            "is_current": pa.array([True] * len(links), pa.bool_()),
            "status": pa.array([each[1] for each in links], pa.string()),
            "candidates": pa.array([each[2] for each in links], pa.list_(pa.string())),
        }
    )


def mentions_table(*mentions):
    return links_table(*((source, "", found) for source, found in mentions)).drop(["status"])


def graph(notes, links=(), mentions=()):
    arrays = graph_arrays(notes_table(*notes), [links_table(*links)], [mentions_table(*mentions)])
    return NoteGraph(arrays)


def ids(view, numbers):
    return sorted(view.id_of(number) for number in numbers)


THREE = (("A.md", "A", []), ("B.md", "B", []), ("C.md", "C", []))


def test_a_note_has_targets_and_sources_whatever_the_kind_of_link():
    made = graph(THREE, [("A.md", "resolved", ["B.md"])], [("C.md", ["B.md"])])
    view = made.within(["A.md", "B.md", "C.md"])
    number = {view.id_of(n): n for n, _ in view.in_view()}

    assert ids(view, view.targets(number["A.md"])) == ["B.md"]
    assert ids(view, view.sources(number["B.md"])) == ["A.md", "C.md"]
    assert ids(view, view.targets(number["B.md"])) == []


@pytest.mark.parametrize("status", ["dangling", "alias", "attachment", "unread", "self"])
def test_a_link_that_leads_to_no_note_is_none(status):
    view = graph(THREE, [("A.md", status, ["B.md"])]).within(["A.md", "B.md"])

    assert all(not len(view.targets(note)) for note, _ in view.in_view())


def test_a_link_means_the_first_of_its_notes_that_is_in_view():
    made = graph(THREE, [("A.md", "resolved", ["B.md", "C.md"])])

    for seen, target in ((["A.md", "B.md", "C.md"], "B.md"), (["A.md", "C.md"], "C.md")):
        view = made.within(seen)
        number = {each: n for n, each in view.in_view()}
        assert ids(view, view.targets(number["A.md"])) == [target]
        assert ids(view, view.sources(number[target])) == ["A.md"]
        others = set(number) - {target}
        assert not any(len(view.sources(number[each])) for each in others)


def test_a_name_of_two_notes_may_mean_both():
    made = graph(THREE, (), [("A.md", ["B.md", "C.md"])])
    view = made.within(["A.md", "B.md", "C.md"])
    number = {each: n for n, each in view.in_view()}

    assert ids(view, view.targets(number["A.md"])) == ["B.md", "C.md"]


def test_a_link_to_itself_joins_nothing():
    view = graph(THREE, [("A.md", "resolved", ["A.md"])]).within(["A.md"])

    assert not len(view.targets(0))
    assert not len(view.sources(0))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Mira Hale do?", ["Mira Hale.md"]),
        ("what does mira hale do?", ["Mira Hale.md"]),
        ("Is the Kiln hot?", ["Kiln.md"]),
        ("is the kiln hot?", []),
        ("Mira Halestorm", []),
        ("Kiln and M-1, then Kiln", ["Kiln.md", "Mira Hale.md"]),
        ("", []),
        ("白俊浩来了吗", ["白俊浩.md"]),
    ],
)
def test_a_question_names_notes_by_the_rules_of_the_build(question, named):
    notes = [
        ("Mira Hale.md", "Mira Hale", ["M-1"]),
        ("Kiln.md", "Kiln", []),
        ("白俊浩.md", "B", []),
    ]
    view = graph(notes).within([note_id for note_id, _, _ in notes])

    assert [view.id_of(note) for note in view.named_in(question)[0]] == named


def test_a_forbidden_note_s_title_does_not_take_an_alias_away():
    notes = [("A.md", "Something", ["Kiln"]), ("Kiln.md", "Kiln", [])]
    made = graph(notes)

    for seen, named in ((["A.md", "Kiln.md"], ["Kiln.md"]), (["A.md"], ["A.md"]), ([], [])):
        view = made.within(seen)
        assert [view.id_of(note) for note in view.named_in("The Kiln is hot")[0]] == named


NOTES = st.dictionaries(
    st.sampled_from(PATHS),
    st.tuples(st.sampled_from(TITLES), st.lists(st.sampled_from(ALIASES), max_size=2)),
)
WORDS = [
    "Kiln",
    "kiln",
    "A note",
    "Long name",
    "(old)",
    "the",
    "Tom V.",
    "窑炉",
    "x",
    ",",
    "LN",
    "Board",
]


@given(NOTES, st.sets(st.sampled_from(PATHS)), st.lists(st.sampled_from(WORDS), max_size=6))
def test_naming_within_a_view_is_that_of_a_vault_of_these_notes_alone(notes, seen, words):
    text = " ".join(words)
    rows = [(path, title, aliases) for path, (title, aliases) in notes.items()]
    view = graph(rows).within(seen)
    alone = Names.of_table(find_names(notes_table(*(row for row in rows if row[0] in seen))))

    expected = [
        note_id
        for found in alone.finder.find(text)
        for note_id in alone.rows[found.name].candidates
    ]
    # Which of two notes of one name comes first is no matter to a question.
    assert ids(view, view.named_in(text)[0]) == sorted(set(expected))


EDGES = st.lists(
    st.tuples(
        st.sampled_from(PATHS),
        st.lists(st.sampled_from(PATHS), min_size=1, max_size=3, unique=True),
    ),
    max_size=8,
)


@given(EDGES, EDGES, st.sets(st.sampled_from(PATHS)))
def test_neighbours_within_a_view_are_those_read_off_the_tables(links, mentions, seen):
    rows = [(path, "t", []) for path in PATHS]
    view = graph(rows, [(a, "resolved", b) for a, b in links], mentions).within(seen)
    number = {each: n for n, each in view.in_view()}
    edges = {(a, next((c for c in found if c in seen), None)) for a, found in links}
    edges |= {(a, each) for a, found in mentions for each in found}
    kept = {(a, b) for a, b in edges if a in seen and b in seen and a != b}

    for path in sorted(seen):
        assert ids(view, view.targets(number[path])) == sorted(b for a, b in kept if a == path)
        assert ids(view, view.sources(number[path])) == sorted(a for a, b in kept if b == path)
