"""Notes written to break a reader: kept, closed where they were closed, their losses listed."""

import datetime as dt
import os

import pytest

from benchmarks.hostile_notes import Mixer
from benchmarks.hostile_sets import SETS, load_sets
from benchmarks.hostile_stages import losses
from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.note_links.resolver import build_vault, resolve, resolve_links
from kb_assets.notes import note as note_module
from kb_assets.notes.findings import (
    ALIASES_CUT,
    NOT_TEXT,
    PARSE_FAILED,
    READ_PLAINLY,
    TITLE_CUT,
    YAML_BROKEN,
    YAML_REFUSED,
)
from kb_assets.notes.front_matter import read_front_matter
from kb_assets.notes.note import MOST_ALIASES, MOST_TITLE, parse_note
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import FILES, VERSIONS
from kb_core.tokens import RegexTokenCounter

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def versions(*contents):
    rows = [
        {
            "note_id": f"{number:04}.md",
            "observed_at": NOW,
            "content_hash": "x",
            "file_time": NOW,
            "is_first_listing": True,
            "content": content if isinstance(content, bytes) else content.encode(),
        }
        for number, content in enumerate(contents)
    ]
    return VERSIONS.table(rows)


def stages(*contents):
    tables = parse_notes(versions(*contents), NoteRules())
    resolve_links(tables.notes, tables.note_links_raw, build_vault(tables.notes, FILES.empty()))
    return tables, chunk_notes(tables.notes, Limits(), RegexTokenCounter())


def only(content):
    tables, _ = stages(content)
    return tables.notes.to_pylist()[0]


def codes(content):
    return stages(content)[0].findings["code"].to_pylist()


def silent_losses(contents):
    """Return the contents that crashed a pass, or lost something and no finding says so."""
    found = []
    for content in contents:
        tables, chunks = stages(content)
        said = tables.findings["code"].to_pylist()
        lost = list(losses(versions(content)["content"][0].as_py(), tables, chunks))
        if PARSE_FAILED in said or (lost and not said):
            found.append((content[:80], lost, said))
    return found


SETS_OF = ("strings", "paths", "markdown", "orders", "look_alikes")


@pytest.mark.parametrize("kind", SETS_OF)
def test_hostile_texts_are_notes_like_others(kind):
    texts = (text.encode("utf-8", "surrogatepass") for text in getattr(load_sets(), kind))

    assert silent_losses(texts) == []


def test_hostile_front_matter_never_loses_a_note():
    wrapped = (f"---\n{yaml}\n---\nbody\n" for yaml in load_sets().yaml)

    assert silent_losses(text.encode("utf-8", "surrogatepass") for text in wrapped) == []


def test_recipes_are_kept_whole():
    texts = (recipe.text(8_000) for recipe in load_sets().recipes)

    assert silent_losses(text.encode("utf-8", "surrogatepass") for text in texts) == []


def test_mixed_notes_are_kept_whole():
    mixer = Mixer(load_sets(), seed=7)
    notes = [mixer._mixture()[1] for _ in range(250)]

    assert silent_losses(mixer._bytes(text[:20_000]) for text in notes) == []


@pytest.mark.skipif(not SETS.is_dir(), reason="the shared sets are not here")
def test_the_shared_sets_are_read():
    sets = load_sets()

    assert len(sets.strings) > 200
    assert len(sets.yaml) > 190
    assert len(sets.markdown) > 300
    assert len(sets.paths) > 700


def test_no_link_opens_a_file_or_means_one_outside_the_vault(monkeypatch):
    targets = load_sets().paths
    text = "\n".join(f"[x]({path}) ![x]({path}) [[{path}]] ![[{path}]]" for path in targets)
    notes = parse_notes(versions(text, "a", "b"), NoteRules()).notes
    vault = build_vault(notes, FILES.empty())
    monkeypatch.setattr(os, "open", _no_door)
    monkeypatch.setattr("builtins.open", _no_door)

    parsed = parse_note("0000.md", text)
    meant = [
        resolve("0000.md", target, syntax, vault)
        for target in (*targets, *(link.target for link in parsed.links))
        for syntax in ("wikilink", "embed", "markdown", "image")
    ]

    named = {candidate for each in meant for candidate in each.candidates}
    assert named <= {"0000.md", "0001.md", "0002.md"}


def _no_door(*_arguments, **_options):
    raise AssertionError("a link was opened")


# Access: no limit and no defect of ours may open what somebody closed.


@pytest.mark.parametrize(
    "text",
    [
        "---\nprivate: true\n---\nbody",
        "---\nx: y\nprivate: true\n\nbody without an end of its front matter",
        "---\n" + "k: v\n" * 20_000 + "private: true\n---\nbody",
        "---\r" + "k: v\r" * 20_000 + "private: true\r---\rbody",
        "---\nprivate: &a true\nb: *a\n---\nbody",
        "---\n\tprivate: true\n---\nbody",
        "# A\n\n" + "- a\n" * 200_000 + "\nprivate:: yes\n",
        "\ufeff---\nprivate: true\n---\n",
    ],
)
def test_a_private_note_stays_private_however_it_is_written(text):
    assert only(text)["is_private"]


def test_readers_beyond_the_limit_of_front_matter_are_kept():
    text = "---\n" + "k: v\n" * 20_000 + "readers:\n  - marit\n  - ines\ntenant: glass\n---\nbody"

    note = only(text)

    assert (note["readers"], note["tenant"]) == (["ines", "marit"], "glass")


@pytest.mark.parametrize(
    "text", ["---\nprivate: true\nreaders: [marit]\n---\nbody", "text\n\nprivate:: yes\n"]
)
def test_a_note_that_breaks_the_parser_stays_private(text, monkeypatch):
    def break_down(*_):
        raise ValueError("a defect")

    monkeypatch.setattr(note_module, "read_body", break_down)

    tables, _ = stages(text)

    assert tables.notes["is_private"].to_pylist() == [True]
    assert tables.findings["code"].to_pylist()[0] == PARSE_FAILED
    if "readers" in text:
        assert tables.notes["readers"].to_pylist() == [["marit"]]


def test_a_rule_at_the_top_is_no_front_matter_without_an_end():
    front = read_front_matter("---\n\nA note: it begins with a rule.\n")

    assert (front.properties, front.findings) == ((), ())


# Front matter.


@pytest.mark.parametrize(
    ("yaml", "code"),
    [
        ("a: " + "[" * 20_000, YAML_BROKEN),
        ("a: " + "[1," * 10_000, YAML_REFUSED),
        ("a: " + "{a: " * 7_000, YAML_REFUSED),
        ("a: &a [x]\nb: [*a, *a]", YAML_REFUSED),
        ("a: &a {k: v}\nc: {<<: [*a]}", YAML_REFUSED),
        ("k: v\n" * 20_000, YAML_REFUSED),
        ("--- >\nline1\n# no comment\n", "front-matter-without-properties"),
    ],
)
def test_front_matter_that_goes_too_far_is_found_and_listed(yaml, code):
    assert code in codes(f"---\n{yaml}\n---\nbody\n")


def test_text_between_two_rules_is_not_lost_behind_an_empty_document():
    _, chunks = stages("---\n--- >\nthe harbour is closed\n\n---\nbody")

    assert "the harbour is closed" in chunks["text"][0].as_py()


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system ['id']", "!!binary YQ==", "!x y"])
def test_a_tag_makes_nothing_but_text(tag):
    values = [each.value for each in read_front_matter(f"---\na: {tag}\n---\n").properties]

    assert all(isinstance(value, str) for value in values)


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ("[a'b, 'c, d', \"e,f\"]", ["a'b", "c, d", "e,f"]),
        ("[x'x'x', 'y']", ["x'x'x'", "y"]),
        ("[ 'a,b' , [[C, D]] ]", ["a,b", "[[C, D]]"]),
    ],
)
def test_a_list_in_broken_front_matter_is_divided_at_its_own_commas(raw, values):
    front = read_front_matter(f"---\n\tbroken\nlist: {raw}\n---\n")

    assert [each.value for each in front.properties if each.name == "list"] == values


# What stands beside every chunk must be small.


def test_a_title_of_a_megabyte_is_cut_and_said_so():
    tables, chunks = stages("# " + "lorem ipsum " * 80_000)

    assert len(tables.notes["title"][0].as_py()) <= MOST_TITLE
    assert TITLE_CUT in tables.findings["code"].to_pylist()
    assert chunks.nbytes < 6_000_000


def test_a_title_in_front_matter_is_cut_too():
    note = only(f"---\ntitle: {'t' * 5_000}\n---\nbody")

    assert note["title"] == "t" * MOST_TITLE


def test_thousands_of_aliases_are_cut_and_said_so():
    text = "---\naliases: [" + ", ".join(f"n{i}" for i in range(5_000)) + "]\n---\nbody"

    assert len(only(text)["aliases"]) == MOST_ALIASES
    assert codes(text) == [ALIASES_CUT]


def test_ordinary_titles_and_aliases_are_left_alone():
    aliases = ", ".join(map(str, range(MOST_ALIASES)))
    text = f"---\ntitle: {'t' * MOST_TITLE}\naliases: [{aliases}]\n---\nbody"

    assert codes(text) == []
    assert len(only(text)["aliases"]) == MOST_ALIASES


def test_a_header_line_that_goes_on_without_end_is_cut_off():
    parsed = parse_note("a.md", "# T\n\nA: b\nC: d\nE: f\n" + " x\n" * 50_000)

    assert max(len(value) for _, value in parsed.properties) < 1_000


# Bytes.


@pytest.mark.parametrize(
    "content", [os.urandom(5_000), b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, b"\0" * 4_000]
)
def test_a_picture_under_a_notes_name_is_listed_and_not_read(content):
    tables, chunks = stages(content)

    assert tables.findings["code"].to_pylist() == [NOT_TEXT]
    assert chunks.num_rows == 0


@pytest.mark.parametrize(
    "content",
    [
        b"\x1b[31mred\x1b[0m words of a terminal\r\n" * 200,
        b"page one\x0cpage two\x0bmore words on the page\n" * 100,
        b"\x01\x02\x03\x04\x05\x06\x07",
        "Grüße aus Tokoname: 常滑".encode("utf-16") * 200,
    ],
)
def test_text_with_some_control_characters_is_still_text(content):
    assert NOT_TEXT not in codes(content)


def test_what_makes_too_much_work_is_read_plainly_and_found():
    text = "# Log\n\n" + "- a\n" * 200_000 + "\nthe last word is zanzibar"

    tables, chunks = stages(text)

    assert tables.findings["code"].to_pylist() == [READ_PLAINLY]
    assert "zanzibar" in chunks["text"][-1].as_py()
