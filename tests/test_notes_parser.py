"""From journaled versions to tables: history, dates, kinds, access, findings."""

import datetime as dt
import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.notes import parser
from kb_assets.notes.kinds import is_chat
from kb_assets.notes.note import without_ending
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash, fingerprint
from kb_core.settings import EgressSettings, FolderRule, NoteSettings, Settings

FIRST = dt.datetime(2026, 1, 10, 12, tzinfo=dt.UTC)
LATER = FIRST + dt.timedelta(days=1)
LATEST = FIRST + dt.timedelta(days=2)
WROTE = dt.datetime(2025, 6, 1, 8, tzinfo=dt.UTC)


def row(note_id="a.md", content="", at=FIRST, file_time=WROTE, first=True):
    data = content.encode() if isinstance(content, str) else content
    return {
        "note_id": note_id,
        "observed_at": at,
        "content_hash": None if data is None else bytes_hash(data),
        "file_time": file_time,
        "is_first_listing": first,
        "content": data,
    }


def parse(*rows, **rules):
    return parse_notes(VERSIONS.table(rows), NoteRules(**rules))


def note(content, note_id="a.md", file_time=WROTE, **rules):
    return parse(row(note_id, content, file_time=file_time), **rules).notes.to_pylist()[0]


def codes(tables):
    return tables.findings["code"].to_pylist()


def test_a_notes_versions_are_numbered_and_end_where_the_next_begins():
    tables = parse(
        row("b.md", "one"),
        row("a.md", "two", LATER, first=False),
        row("a.md", "one"),
        row("b.md", None, LATER, first=False),
        row("b.md", "back", LATEST, first=False),
    )

    rows = tables.notes.to_pylist()
    assert [(x["note_id"], x["version"], x["is_current"], x["observed_until"]) for x in rows] == [
        ("a.md", 1, False, LATER),
        ("a.md", 2, True, None),
        ("b.md", 1, False, LATER),
        ("b.md", 2, True, None),
    ]
    assert len({x["version_id"] for x in rows}) == 4


def test_a_deleted_note_has_no_current_version():
    tables = parse(row("a.md", "x"), row("a.md", None, LATER, first=False))

    assert tables.notes["is_current"].to_pylist() == [False]


def test_the_order_of_the_journal_changes_no_byte():
    rows = [row(f"{n}.md", f"# T{n}\n#tag [[{n}]]", FIRST) for n in range(9)]
    shuffled = random.Random(1).sample(rows, len(rows))

    for one, other in zip(
        vars(parse(*rows)).values(), vars(parse(*shuffled)).values(), strict=True
    ):
        assert fingerprint(one) == fingerprint(other)


def test_an_empty_folder_gives_empty_tables():
    tables = parse()

    assert [table.num_rows for table in vars(tables).values()] == [0, 0, 0, 0]


def test_an_empty_note_is_a_note():
    found = note("", "Folder/Empty note.md")

    assert (found["title"], found["kind"], found["text"], found["body_start"]) == (
        "Empty note",
        "note",
        "",
        0,
    )


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("---\ntitle: 2024-12-19\n---\n# Heading", "2024-12-19"),
        ("---\nTitle:  Two   words\n---\n", "Two words"),
        ("# First *one*\n", "First one"),
        ("---\ntags: x\n---\n\n<!-- a - é -->\n%% c %%\n#t #u/v\n![[k.png]]\n# One", "One"),
        ("[![alt](i.svg)](https://ci.example)\n![i](i.png)\n\n# One", "One"),
        ("é ü\n\n# One\n", "a"),
        ("#tag and words\n# One\n", "a"),
        ("## Books\n\n![[Books.base]]\n\n# Clippings\n", "a"),
        ("> quoted\n\n# One\n", "a"),
        ("> # One\n", "a"),
        ("#\n# One\n", "a"),
        ("<!-- open\n# One\n", "a"),
        ("Setext\n===\n", "Setext"),
        ("```\n# code\n```\n", "a"),
        ("text only", "a"),
    ],
)
def test_a_title_is_a_property_else_the_h1_that_opens_the_note_else_the_file_name(content, title):
    assert note(content)["title"] == title


@pytest.mark.parametrize(
    ("content", "aliases", "tags"),
    [
        ("---\naliases: A, B\ntags: x y, z\n---\n#text #X", ["A", "B"], ["x", "y", "z", "text"]),
        ("---\naliases: ['Acme, Inc.']\ntags: ['#a/b', C]\n---\n", ["Acme, Inc."], ["a/b", "c"]),
        ("---\nalias: One\ntag: solo\n---\n", ["One"], ["solo"]),
        ("---\ntags: [1984, 2024/01, y1984]\n---\n", [], ["y1984"]),
        ("---\nbad: a: b\naliases:\n  - One\ntags: [#a, b]\n---\n", ["One"], ["a", "b"]),
    ],
)
def test_aliases_and_tags_are_read_as_text_or_list(content, aliases, tags):
    found = note(content)

    assert (found["aliases"], found["tags"]) == (aliases, tags)


def test_a_tag_in_property_and_text_is_one_row():
    tables = parse(row("a.md", "---\ntags: [x]\n---\n#X #y"))

    found = tables.note_tags.select(["tag", "source"]).to_pylist()
    assert found == [{"tag": "x", "source": "property"}, {"tag": "y", "source": "text"}]


def test_a_byte_order_mark_hides_no_front_matter():
    found = note(b"\xef\xbb\xbf---\ntitle: T\n---\nbody")

    assert found["title"] == "T"
    assert found["text"].encode()[found["body_start"] :] == b"body"


def test_properties_come_in_order_from_front_matter_header_and_fields():
    header = "PEP: 5\nAuthor: X\nStatus: Final\n"
    text = f"---\na: [1, 2]\n---\n# T\n{header}\nowner:: Ann\n\nx [due:: soon]\n"

    assert [(x["name"], x["value"]) for x in note(text)["properties"]] == [
        ("a", "1"),
        ("a", "2"),
        ("PEP", "5"),
        ("Author", "X"),
        ("Status", "Final"),
        ("owner", "Ann"),
        ("due", "soon"),
    ]


@pytest.mark.parametrize(
    ("note_id", "content", "date", "basis", "is_weak"),
    [
        ("2024-01-01.md", "---\ndate: 2 May 2024\n---\n", "2024-05-02", "property date", False),
        ("a.md", "---\ncreated: 2024-03\n---\n", "2024-03", "property created", False),
        ("a.md", '---\ndate: "[[2024-03-14]]"\n---\n', "2024-03-14", "property date", False),
        (
            "a.md",
            "# T\nAuthor: X\nType: Y\nCreated: 29-Mar-2019\n",
            "2019-03-29",
            "property created",
            False,
        ),
        ("a.md", "date:: 2024-03-14", "2024-03-14", "property date", False),
        ("a.md", "- task [created:: 2024-03-14]", "2025-06-01", "file time", True),
        ("Log/2024-03-14 Board.md", "", "2024-03-14", "file name", False),
        ("Log/14-03-24.md", "", "2024-03-14", "file name", False),
        ("a.md", "---\ndate: soon\n---\n", "2025-06-01", "file time", True),
        ("2024-03-14/a.md", "", "2025-06-01", "file time", True),
    ],
)
def test_a_note_is_dated_by_the_strongest_rule(note_id, content, date, basis, is_weak):
    found = note(content, note_id, daily_formats=("DD-MM-YY",))

    assert (found["note_date"], found["date_basis"], found["date_is_weak"]) == (
        date,
        basis,
        is_weak,
    )


@pytest.mark.parametrize(
    ("note_id", "content", "file_time", "expected"),
    [
        ("a.md", "text", None, ["file-time-dropped"]),
        ("a.md", "text", WROTE, []),
        ("a.md", "---\ndate: 2024-05-02\n---\n", None, []),
        ("2024-05-02.md", "text", None, []),
    ],
)
def test_a_note_left_undated_because_file_times_were_dropped_is_a_finding(
    note_id, content, file_time, expected
):
    assert codes(parse(row(note_id, content, file_time=file_time))) == expected


def test_a_note_without_any_date_is_undated():
    found = note("text", file_time=None)

    assert (found["note_date"], found["date_basis"], found["date_is_weak"]) == (None, "none", False)
    assert found["available_at"] == FIRST


def test_an_unreadable_date_property_is_a_finding_without_its_text():
    tables = parse(row("a.md", "---\ndate: 03/04/2024\n---\n"))

    found = tables.findings.select(["code", "detail"]).to_pylist()
    assert found == [{"code": "date-unreadable", "detail": "property date"}]


END_OF_MAY_2 = dt.datetime(2024, 5, 2, 23, 59, 59, 999_999, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("content", "first", "file_time", "expected"),
    [
        ("---\ndate: 2024-05-02\n---\n", True, WROTE, END_OF_MAY_2),
        ("---\ndate: 2024-05-02\n---\n", False, WROTE, FIRST),  # a later version
        ("---\ndate: 2030-01-01\n---\n", True, WROTE, FIRST),  # announces; can be read today
        ("text", True, WROTE, FIRST),  # a file's time is weak
        ("text", True, None, FIRST),
        ("---\navailable_at: 2024-05-02\n---\n", False, WROTE, END_OF_MAY_2),
        ("---\navailable_at: nonsense\n---\n", False, WROTE, FIRST),
    ],
)
def test_a_version_is_available_from_its_strong_date_or_its_observation(
    content, first, file_time, expected
):
    tables = parse(row("a.md", content, FIRST, file_time, first))

    assert tables.notes["available_at"].to_pylist() == [expected]


CHAT = "**User:** hi\n\n**Assistant:** yes\n\n**User:** more\n\n**Assistant:** so\n"


@pytest.mark.parametrize(
    ("note_id", "content", "kind"),
    [
        ("a.md", "---\nkind: Wiki\n---\n", "wiki"),
        ("a.md", "---\ntype: card\n---\n", "card"),
        ("a.md", "---\ntype: Standards Track\n---\n", "note"),
        ("Wiki/a.md", "", "wiki"),
        ("Wiki/Deep/a.md", "", "section"),
        ("Wikis/a.md", "", "note"),
        ("Wiki/a.md", "---\nkind: note\n---\n", "note"),
        ("a.md", CHAT, "chat"),
        ("Wiki/a.md", CHAT, "wiki"),
    ],
)
def test_a_kind_is_stated_or_ruled_or_seen(note_id, content, kind):
    rules = (FolderRule(path="Wiki", kind="wiki"), FolderRule(path="Wiki/Deep", kind="section"))

    assert note(content, note_id, folders=rules)["kind"] == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHAT, True),
        ("## User\na\n## Assistant\nb\n## User\nc\n## ChatGPT\nd\n", True),
        ("**用户：** a\n**助手：** b\n**用户**：c\n**助手**: d\n", True),
        ("**You said:**\n**ChatGPT said:**\n" * 2, True),
        ("**User:** a\n**Assistant:** b\n**User:** c\n", False),
        ("## User\n## User\n## User\n## User\n", False),
        ("The user: said. Assistant: helped. " * 9, False),
    ],
)
def test_a_saved_conversation_has_four_turns_of_two_sides(text, expected):
    assert is_chat(text) is expected
    assert is_chat(text.replace("\n", "\r\n")) is expected


RULES = (
    FolderRule(path="", tenant="home"),
    FolderRule(path="Client", tenant="client", readers=("bo", "ann"), private=True),
    FolderRule(path="Client/Open", private=False),
)


@pytest.mark.parametrize(
    ("note_id", "content", "tenant", "readers", "is_private", "may_leave"),
    [
        ("a.md", "", "home", [], False, False),
        ("Work/a.md", "", "home", [], False, True),
        ("Workshop/a.md", "", "home", [], False, False),
        ("Work/a.md", "---\nprivate: true\n---\n", "home", [], True, False),
        ("Work/a.md", "---\nprivate: ture\n---\n", "home", [], True, False),
        ("Work/a.md", "---\nprivate: no\n---\n", "home", [], False, True),
        ("Work/a.md", "--- \nbad: a: b\nprivate: true\n---\n", "home", [], True, False),
        ("Work/a.md", "private:: true", "home", [], True, False),
        ("Client/a.md", "", "client", ["ann", "bo"], True, False),
        ("Client/a.md", "---\nprivate: false\n---\n", "client", ["ann", "bo"], True, False),
        ("Client/Open/a.md", "", "client", ["ann", "bo"], False, True),
        ("Work/a.md", "---\ntenant: t\nreaders: b, a\n---\n", "t", ["a", "b"], False, True),
        ("Work/a.md", "tenant:: t\nreaders:: x", "home", [], False, True),
    ],
)
def test_access_comes_from_front_matter_and_the_nearest_rule(
    note_id, content, tenant, readers, is_private, may_leave
):
    found = note(content, note_id, folders=RULES, egress=("Work", "Client/Open/"))

    assert (found["tenant"], found["readers"]) == (tenant, readers)
    assert (found["is_private"], found["may_leave"]) == (is_private, may_leave)


def test_an_empty_egress_entry_sends_the_root_notes_and_nothing_below():
    assert note("", "a.md", egress=("",))["may_leave"]
    assert not note("", "Work/a.md", egress=("",))["may_leave"]


def test_links_are_numbered_from_the_front_matter_down_and_slice_back():
    text = '---\nüp: "[[A]]"\n---\né [[B|b]]\n![[c.png]]\n'
    tables = parse(row("a.md", text))

    found = tables.note_links_raw.to_pylist()
    assert [(x["ordinal"], x["syntax"], x["target"], x["property"]) for x in found] == [
        (0, "property", "A", "üp"),
        (1, "wikilink", "B", None),
        (2, "embed", "c.png", None),
    ]
    data = tables.notes["text"].to_pylist()[0].encode()
    assert [data[x["byte_start"] : x["byte_end"]].decode() for x in found] == [
        "[[A]]",
        "[[B|b]]",
        "![[c.png]]",
    ]


class _PanicError(BaseException):
    """Stands for what a Rust library raises: no Exception."""


_PanicError.__name__ = "PanicException"


@pytest.mark.parametrize("problem", [ValueError("secret text"), RecursionError(), _PanicError()])
def test_one_bad_note_is_kept_and_listed_and_the_others_are_parsed(monkeypatch, problem):
    whole = parser.parse_note

    def fails_on_bad(note_id, text):
        if note_id == "bad.md":
            raise problem
        return whole(note_id, text)

    monkeypatch.setattr(parser, "parse_note", fails_on_bad)
    tables = parse(row("bad.md", "# Not read\nsecret text"), row("good.md", "# Good"))

    assert tables.notes["title"].to_pylist() == ["bad", "Good"]
    assert tables.notes["text"].to_pylist()[0] == "# Not read\nsecret text"
    assert tables.findings.select(["code", "detail"]).to_pylist() == [
        {"code": "parse-failed", "detail": type(problem).__name__}
    ]


def test_an_interrupt_is_not_taken_for_a_bad_note(monkeypatch):
    def interrupted(note_id, text):
        raise KeyboardInterrupt

    monkeypatch.setattr(parser, "parse_note", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parse(row("a.md", "x"))


def test_a_version_whose_bytes_are_gone_is_listed():
    gone = {**row("a.md", "x"), "content": None}

    tables = parse(gone, row("b.md", "y"))

    assert tables.notes["note_id"].to_pylist() == ["b.md"]
    assert codes(tables) == ["content-missing"]


def test_findings_never_hold_note_text():
    text = b"---\ndate: SECRET\nbad: SECRET: x\nbad: SECRET\n---\n\xff\x00SECRET"

    tables = parse(row("a.md", text))

    assert codes(tables)
    assert "SECRET" not in str(tables.findings.to_pylist())


def test_the_digest_moves_with_every_rule_and_with_nothing_else():
    base = NoteRules.from_settings(Settings(), ["YYYY"])
    others = [
        NoteRules.from_settings(Settings()),
        NoteRules.from_settings(Settings(notes=NoteSettings(tenant="t")), ["YYYY"]),
        NoteRules.from_settings(Settings(folders=(FolderRule(path="x", private=True),)), ["YYYY"]),
        NoteRules.from_settings(Settings(egress=EgressSettings(allow=("x",))), ["YYYY"]),
    ]

    assert base.digest() == NoteRules.from_settings(Settings(), ["YYYY"]).digest()
    assert len({base.digest(), *(each.digest() for each in others)}) == 5


@pytest.mark.parametrize(
    ("note_id", "path"),
    [("a/B.md", "a/B"), ("a.MD", "a"), ("v1.2.markdown", "v1.2"), ("a.txt", "a.txt")],
)
def test_a_note_path_loses_its_own_ending_only(note_id, path):
    assert without_ending(note_id) == path


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=120) | st.text(max_size=120).map(str.encode), max_size=4))
def test_any_bytes_make_tables_that_keep_their_contracts(contents):
    tables = parse(*(row(f"{n}.md", content) for n, content in enumerate(contents)))

    assert tables.notes.num_rows == len(contents)
    assert "parse-failed" not in codes(tables)
    texts = dict(
        zip(tables.notes["version_id"].to_pylist(), tables.notes["text"].to_pylist(), strict=True)
    )
    for link in tables.note_links_raw.to_pylist():
        raw = texts[link["version_id"]].encode()[link["byte_start"] : link["byte_end"]]
        assert raw.decode().startswith(("[", "![", "<"))


def test_chunked_and_sliced_input_gives_the_same_tables():
    whole = VERSIONS.table([row(f"{n}.md", f"[[{n}]]") for n in range(4)])
    pieces = pa.concat_tables([whole.slice(2, 2), whole.slice(0, 2)])

    assert fingerprint(parse_notes(pieces, NoteRules()).notes) == fingerprint(
        parse_notes(whole, NoteRules()).notes
    )
