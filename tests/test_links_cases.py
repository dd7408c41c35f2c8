"""What links mean, case by case and against a search through all paths."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb_assets.note_links.resolver import resolve
from tests.oracle_links import meaning
from tests.test_note_links_resolver import build_vault, find, listed, notes_table

NAMES = st.sampled_from(
    ["Note", "note", "NOTE", "v1.2", "a b", "é", "ΟΔΟΣ", "İzmir", "日本", "x.md", "Sq]uare", ".dot"]
)
FOLDERS = st.sampled_from(["", "A", "a", "B/C", "zzzz", "A/A", "v1.2", "é"])


def _joined(parts: tuple[str, str]) -> str:
    return "/".join(part for part in parts if part)


PATHS = st.tuples(FOLDERS, NAMES).map(_joined)
NOTES = st.lists(PATHS.map(lambda path: f"{path}.md"), unique=True, max_size=9)
LOOSE = st.sampled_from(["", "", "", "", "./", "../", "../../", "/", " ", "../A/", "./A/", "A/../"])
ENDS = st.sampled_from(["", "", "", ".md", ".MD", "/", ".png", " ", "\xa0"])
SPELLINGS = st.sampled_from(
    [
        str,
        str,
        str.lower,
        str.upper,
        str.title,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace(" ", "\xa0"),
    ]
)


@st.composite
def vaults(draw):
    """Draw a vault, a source note in it and a target that resembles one of its paths."""
    notes = draw(NOTES)
    unread = [path for path in draw(NOTES) if path not in notes][:3]
    files = draw(st.lists(PATHS.map(lambda path: f"{path}.png"), unique=True, max_size=3))
    known = [*notes, *unread, *files]
    source = draw(st.sampled_from(known) if known else PATHS)
    folder = source.rpartition("/")[0]
    meant = draw(st.sampled_from(known) if known else PATHS).removesuffix(".md")
    if folder and meant.startswith(f"{folder}/") and draw(st.booleans()):
        meant = meant[len(folder) + 1 :]
    else:
        parts = meant.split("/")
        meant = "/".join(parts[draw(st.integers(0, len(parts) - 1)) :])
    target = draw(SPELLINGS)(draw(LOOSE) + meant + draw(ENDS))
    carried = draw(st.lists(NAMES, max_size=len(notes)))
    aliases = {note: [alias] for note, alias in zip(notes, carried, strict=False)}
    return notes, unread, files, aliases, source, target


SYNTAX = st.sampled_from(["wikilink", "embed", "markdown", "image", "property"])


def both(vault, syntax):
    """Resolve a link by the resolver and by the search through all paths."""
    notes, unread, files, aliases, source, target = vault
    table = notes_table(*((note, True, aliases.get(note, [])) for note in notes))
    found = resolve(source, target, syntax, build_vault(table, listed(*notes, *unread, *files)))
    first = found.candidates[0] if found.candidates else None
    return (found.status, first), meaning(source, target, syntax, notes, unread, files, aliases)


@settings(max_examples=300, deadline=None)
@given(vaults(), SYNTAX)
@example((["A/ΟΔΟΣ.md"], [], [], {}, "n.md", "ΟΔΟΣ"), "wikilink")
@example((["A/Note.md"], [], [], {}, "A/n.md", "./Note/"), "markdown")
@example((["n.md"], [], [], {"n.md": ["Al"]}, "n.md", "https://x.y/n"), "markdown")
@example((["n.md"], [], [], {"n.md": ["Al"]}, "n.md", "https://x.y/n"), "wikilink")
@example((["n.md"], [], [], {}, "n.md", ""), "embed")
@example((["a/b/Note.md", "zzzzzz/Note.md"], [], [], {}, "n.md", "Note"), "wikilink")
@example((["A/Note.md", "A/note.md"], [], [], {}, "n.md", "note"), "wikilink")
@example((["A/NOTE.md", "a/NOTE.md"], [], [], {}, "n.md", "a/NOTE.MD"), "wikilink")
def test_a_link_means_what_a_search_through_all_paths_says(vault, syntax):
    found, expected = both(vault, syntax)

    assert found == expected


@pytest.mark.parametrize(
    ("target", "source", "vault", "syntax", "expected"),
    [
        # A name is looked up in the whole vault, not beside the note that names it.
        ("MyNote", "journal/2024-01-15.md", ["notes/MyNote.md"], "wikilink", "notes/MyNote.md"),
        ("notes/foo", "a.md", ["notes/foo.md"], "wikilink", "notes/foo.md"),
        ("mynote", "a.md", ["MyNote.md"], "wikilink", "MyNote.md"),
        ("guides/playbook.md", "x/a.md", ["guides/playbook.md"], "markdown", "guides/playbook.md"),
        ("/guides/playbook.md", "x/a.md", ["guides/playbook.md"], "markdown", "guides/playbook.md"),
        # One name in two folders: beside the source, else the shortest path.
        ("N", "b/src.md", ["a/N.md", "b/N.md"], "wikilink", "b/N.md"),
        ("N", "src.md", ["long/N.md", "b/N.md"], "wikilink", "b/N.md"),
        ("index.md", "b/src.md", ["index.md", "b/index.md"], "markdown", "index.md"),
        ("./index.md", "b/src.md", ["index.md", "b/index.md"], "markdown", "b/index.md"),
        # Names that differ in case alone, on a disk that can hold both.
        ("LOG", "src.md", ["Log.md", "log.md"], "wikilink", "Log.md"),
        ("log", "src.md", ["Log.md", "log.md"], "wikilink", "log.md"),
        # Composed and decomposed are one name (a Ukrainian note, synced from a Mac).
        ("Й", "src.md", ["Й.md"], "wikilink", "Й.md"),
        ("Caf\u00e9", "src.md", ["Caf\u00e9.md"], "markdown", "Caf\u00e9.md"),
        # Marks that links can hardly hold, and dots.
        ("C++ notes", "src.md", ["x/C++ notes.md"], "wikilink", "x/C++ notes.md"),
        ("v1.2.3", "src.md", ["v1.2.3.md", "v1.2.md"], "wikilink", "v1.2.3.md"),
        ("a^b", "src.md", ["a^b.md"], "markdown", "a^b.md"),
        ("a#b", "src.md", ["a#b.md"], "markdown", "a#b.md"),
        ("Οδός", "src.md", ["ΟΔΌΣ.md"], "wikilink", "ΟΔΌΣ.md"),
        # The name of a folder is no note, and a slash at the end makes one of a note's.
        ("foo.md/", "src.md", ["foo.md"], "markdown", None),
        ("foo/", "src.md", ["foo/index.md", "foo.md"], "markdown", None),
        ("./foo/", "src.md", ["foo.md"], "markdown", None),
        ("foo", "src.md", ["foo/index.md"], "markdown", None),
        ("https://x.y", "src.md", ["https/x.y.md"], "wikilink", None),
    ],
)
def test_a_case_resolves_as_in_obsidian(target, source, vault, syntax, expected):
    found = find(target, source, notes=vault, syntax=syntax)

    assert (found.candidates or (None,))[0] == expected
    assert found.status == ("resolved" if expected else "dangling")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("Board.canvas", "attachment"),
        ("board.CANVAS", "attachment"),
        ("Books.base", "attachment"),
        ("Figure 1.png", "attachment"),
        ("Board", "dangling"),
        ("Figure 1.png.md", "dangling"),
        ("report.pdf", "attachment"),
        ("./report.pdf", "dangling"),
        ("./files/report.pdf", "attachment"),
    ],
)
def test_canvases_bases_and_pictures_are_attachments_with_their_ending(target, status):
    files = ["maps/Board.canvas", "Books.base", "img/Figure 1.png", "files/report.pdf"]

    assert find(target, notes=["a.md"], files=files, syntax="embed").status == status


def test_an_alias_is_no_name_whatever_its_case():
    aliases = {"Artificial Intelligence.md": ["AI", "K.I."], "Bees.md": ["ai"]}

    found = find("Ai", notes=list(aliases), aliases=aliases)

    assert found == ("alias", ("Artificial Intelligence.md", "Bees.md"))
    assert find("k.i.", notes=list(aliases), aliases=aliases).status == "alias"
