"""Names of notes that occur in other notes without a link."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.contracts import NOTE_LINKS_RAW
from kb_core.names import is_nameable, is_one_word, name_key
from kb_knowledge.name_finder import NameFinder
from kb_knowledge.note_mentions import Names, find_mentions
from kb_knowledge.note_names import find_names


def notes_table(*notes):
    """Rows of (note id, title, aliases, text), all of them present."""
    return pa.table(
        {
            "note_id": pa.array([note[0] for note in notes], pa.string()),
            "version_id": pa.array([f"v-{note[0]}" for note in notes], pa.string()),
            "is_current": pa.array([True for _ in notes], pa.bool_()),
            "title": pa.array([note[1] for note in notes], pa.string()),
            "aliases": pa.array([note[2] for note in notes], pa.list_(pa.string())),
            "body_start": pa.array([body_start(note[3]) for note in notes], pa.int64()),
            "text": pa.array([note[3] for note in notes], pa.string()),
        }
    )


def body_start(text):
    end = text.find("---\n", 4) if text.startswith("---\n") else -1
    return len(text[: end + 4].encode()) if end >= 0 else 0


def mentions(text, *named, links=()):
    """Return what a note with this text mentions: (target, words as written), in order."""
    notes = notes_table(("Source.md", "Source", [], text), *((*each, "") for each in named))
    raw = NOTE_LINKS_RAW.table(
        {
            "version_id": "v-Source.md", "note_id": "Source.md", "ordinal": n, "syntax": "wikilink",
            "target": "x", "byte_start": start, "byte_end": end,
        }
        for n, (start, end) in enumerate(links)
    )  # fmt: skip
    rows = find_mentions(notes, raw, Names.of_table(find_names(notes))).to_pylist()
    spans = [
        (start, end, row["target_note_id"])
        for row in rows
        for start, end in zip(row["byte_starts"], row["byte_ends"], strict=True)
    ]
    return [(target, text.encode()[start:end].decode()) for start, end, target in sorted(spans)]


MIRA = ("Mira Hale.md", "Mira Hale", ["MH"])
KILN = ("Kiln.md", "Kiln", [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Asked Mira Hale today.", ["Mira Hale"]),
        ("asked mira\nhale, MIRA HALE and Mira  Hale", ["mira\nhale", "MIRA HALE"]),
        ("Mira Hales and Almira Hale", []),
        ("Mira Hale's kiln", ["Mira Hale"]),
        ("**Mira Hale**, (Mira Hale)", ["Mira Hale", "Mira Hale"]),
        ("日Mira Hale本", ["Mira Hale"]),
        ("https://example.org/Mira Hale", []),
        ("@Mira Hale and #Mira Hale", []),
    ],
)
def test_a_title_of_several_words_is_found_whatever_its_capitals(text, words):
    assert mentions(text, MIRA) == [("Mira Hale.md", each) for each in words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Kiln is hot; a kiln, a KILN.", ["Kiln"]),
        ("Kiln-fired, Kiln.js, x.Kiln, Kiln/notes, Kilns", []),
        ("(Kiln)", ["Kiln"]),
        ("Kiln.", ["Kiln"]),
    ],
)
def test_a_name_of_one_word_needs_its_own_capitals_and_its_own_edges(text, words):
    assert mentions(text, KILN) == [("Kiln.md", each) for each in words]


def test_names_in_scripts_without_blanks_are_found_inside_a_sentence():
    assert mentions("昨天白俊浩来了", ("B.md", "白俊浩", [])) == [("B.md", "白俊浩")]


def test_the_longer_of_two_names_wins_and_the_shorter_one_where_the_longer_is_none():
    named = [("Foo.md", "Foo", []), ("Foo Bar.md", "Foo Bar", [])]

    assert mentions("Foo Bar, Foo Barn", *named) == [("Foo Bar.md", "Foo Bar"), ("Foo.md", "Foo")]


def test_what_is_linked_already_is_no_mention():
    text = "[[Kiln]] and Kiln"

    assert mentions(text, KILN, links=[(0, 8)]) == [("Kiln.md", "Kiln")]


def test_a_note_does_not_mention_itself():
    assert mentions("Source and The Source", KILN) == []


def test_values_of_front_matter_are_read_and_names_of_properties_are_not():
    text = "---\nKiln: x\nmaker: Mira Hale\n---\nKiln: hot"

    assert mentions(text, MIRA, KILN) == [("Mira Hale.md", "Mira Hale"), ("Kiln.md", "Kiln")]


def test_an_alias_that_is_somebody_s_name_or_two_notes_alias_names_nobody():
    one = ("One.md", "One thing", ["Kiln", "Shared"])
    two = ("Two.md", "Two things", ["Shared"])

    assert mentions("Kiln Shared", KILN, one, two) == [("Kiln.md", "Kiln")]


def test_a_title_of_too_many_notes_names_none_and_one_of_two_keeps_both():
    plans = [(f"{n}/Plan.md", "Plan", []) for n in range(4)]

    assert mentions("The Plan", *plans) == []
    notes = notes_table(*((*each, "") for each in plans[:2]))
    assert find_names(notes).to_pylist()[0]["candidates"] == ["0/Plan.md", "1/Plan.md"]


def test_a_file_that_is_called_so_comes_before_one_that_only_has_the_title():
    notes = notes_table(("x.md", "Kiln", [], ""), ("long/path/Kiln.md", "Kiln", [], ""))

    assert find_names(notes).to_pylist()[0]["candidates"] == ["long/path/Kiln.md", "x.md"]


def test_a_file_name_made_for_an_address_names_nothing_unless_it_is_the_title():
    assert mentions("I am on-call", ("on-call.md", "Support rotation", [])) == []
    assert mentions("see git-log", ("git-log.md", "git-log", [])) == [("git-log.md", "git-log")]


def test_a_short_form_counts_unless_another_note_is_called_so():
    ship = ("Ship.md", "Ada (ship)", [])

    assert mentions("Ada sailed", ship) == [("Ship.md", "Ada")]
    assert mentions("Ada sailed", ship, ("Ada.md", "Ada", [])) == [("Ada.md", "Ada")]


def test_a_decomposed_text_is_told_in_its_own_bytes():
    text = unicodedata.normalize("NFD", "Größe: Émile Bär kam, é")

    found = mentions(text, ("E.md", "Émile Bär", []))

    assert found == [("E.md", unicodedata.normalize("NFD", "Émile Bär"))]


WORDS = st.sampled_from(
    [
        "Kiln",
        "kiln",
        "Mira",
        "Hale",
        "mira",
        "窑炉",
        "é",
        "-",
        ".",
        " ",
        "\n",
        "/",
        "İ",
        "x",
        "[",
        "e\u0301",
    ]
)


def slow_find(text, names):
    """Try every name at every place, by the rules in words."""
    flat = "".join(" " if c in "\t\n\r" else c for c in text)
    hits = []
    for place, (name, forms) in enumerate(names.items()):
        for start in range(len(flat)):
            piece = flat[start : start + len(name)]
            same = piece in forms if is_one_word(name) else name_key_of(piece) == name
            if same and alone(flat, start, start + len(name)):
                hits.append((start, start + len(name), place))
    kept, end = [], 0
    for hit in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
        if hit[0] >= end:
            kept.append(hit)
            end = hit[1]
    return kept


def name_key_of(piece):
    return piece.replace("İ", "I").lower()


def alone(text, start, end):
    before, after = text[start - 1 : start], text[end : end + 1]
    is_cjk = lambda c: "\u3000" < c < "\ua000"  # noqa: E731
    for outside, edge in ((before, text[start]), (after, text[end - 1])):
        if outside.isalnum() and edge.isalnum() and not is_cjk(outside) and not is_cjk(edge):
            return False
    if before in ("/", "@") or after in ("/", "@"):
        return False
    if before in ("-", ".") and text[start - 2 : start - 1].isalnum():
        return False
    return not (after in ("-", ".") and text[end + 1 : end + 2].isalnum())


@given(st.lists(WORDS, max_size=12).map("".join))
def test_the_finder_agrees_with_trying_every_name_at_every_place(text):
    text = unicodedata.normalize("NFC", text)
    names = {
        "kiln": ["Kiln"],
        "mira hale": ["Mira Hale"],
        "mira": ["Mira"],
        "窑炉": ["窑炉"],
        "é x": ["É x"],
    }

    assert [tuple(each) for each in NameFinder(names).find(text)] == slow_find(text, names)


@given(st.lists(WORDS, max_size=12).map("".join))
def test_every_mention_is_the_bytes_of_its_name(text):
    for _, words in mentions(text, KILN, MIRA, ("窑.md", "窑炉", [])):
        assert is_nameable(words)
        assert name_key(words) in {"kiln", "mira hale", "mh", "窑炉"}


def test_a_name_of_many_words_needs_no_more_time_for_many_names():
    names = {f"name {n}": [f"Name {n}"] for n in range(5000)}

    assert len(NameFinder(names).find("name 17 " * 100)) == 100


@given(
    st.lists(st.lists(WORDS, max_size=6).map("".join), max_size=4),
    st.lists(st.lists(WORDS, max_size=6).map("".join), max_size=4),
)
def test_keeping_the_mentions_of_known_versions_gives_those_of_a_full_search(first, second):
    def vault(texts):
        named = [(*each, "") for each in (KILN, MIRA)]
        return notes_table(*named, *((f"{text}.md", "Plain", [], text) for text in texts))

    names = Names.of_table(find_names(vault([])))
    raw = NOTE_LINKS_RAW.empty()
    before = find_mentions(vault(dict.fromkeys(first)), raw, names)
    now = vault(dict.fromkeys(second))

    assert find_mentions(now, raw, names, before).equals(find_mentions(now, raw, names))
