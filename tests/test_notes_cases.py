"""Notes as people write them, each with what it says: one table a kind of trouble.

The rows are what public bug reports and Obsidian's own behaviour (1.13.7) ask for and the other
tests of notes do not hold already.
"""

import codecs
import datetime as dt
import time

import pytest

from kb_assets.notes.markdown import read_body
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash

NOW = dt.datetime(2026, 1, 10, 12, tzinfo=dt.UTC)


def read(content: str | bytes, note_id: str = "a.md"):
    """Read a note the way a build does; return its row, links, tags and findings."""
    data = content.encode() if isinstance(content, str) else content
    row = {
        "note_id": note_id,
        "observed_at": NOW,
        "content_hash": bytes_hash(data),
        "file_time": NOW,
        "is_first_listing": True,
        "content": data,
    }
    tables = parse_notes(VERSIONS.table([row]), NoteRules())
    (note,) = tables.notes.to_pylist()
    return {
        "title": note["title"],
        "aliases": note["aliases"],
        "tags": note["tags"],
        "properties": [(each["name"], each["value"]) for each in note["properties"]],
        "links": [
            (x["syntax"], x["target"], x["heading"], x["block"], x["display"])
            for x in tables.note_links_raw.to_pylist()
        ],
        "slices": [
            note["text"].encode()[x["byte_start"] : x["byte_end"]].decode()
            for x in tables.note_links_raw.to_pylist()
        ],
        "findings": tables.findings["code"].to_pylist(),
        "encoding": note["encoding"],
        "body": note["text"].encode()[note["body_start"] :].decode(),
    }


def check(content, expected, note_id="a.md"):
    found = read(content, note_id)
    assert {name: found[name] for name in expected} == expected


def wiki(target, heading=None, block=None, display=None):
    return ("wikilink", target, heading, block, display)


def md(target, display, heading=None, block=None):
    return ("markdown", target, heading, block, display)


def embed(target, display=None, heading=None, block=None):
    return ("embed", target, heading, block, display)


LINKS = [
    (
        "in a table, with heading and size",
        "| a | b |\n|---|---|\n| [[n/foo#H\\|Foo]] | ![[p.png\\|100]] |",
        [wiki("n/foo", "H", None, "Foo"), embed("p.png", "100")],
    ),
    ("pdf page", "![[Doc.pdf#page=3]]", [embed("Doc.pdf", None, "page=3")]),
    ("canvas and base", "![[M.canvas]] [[B.base]]", [embed("M.canvas"), wiki("B.base")]),
    (
        "block of a note",
        "![[Note#^b-1]] [[#^b2]]",
        [embed("Note", None, None, "b-1"), wiki("", None, "b2")],
    ),
    ("block id behind a link", "[[a]] ^id", [wiki("a")]),
    ("heading with a link", "[[N#See [[O]]]]", [wiki("O")]),
    (
        "image of a link",
        "[![alt](i.png)](p.md)",
        [md("p.md", "alt"), ("image", "i.png", None, None, "alt")],
    ),
    ("embed of a link", "[![[i.png]]](p.md)", [md("p.md", "i.png"), embed("i.png")]),
    (
        "embed and words of a link",
        "[see ![[i.png|I]] now][k]\n\n[k]: p.md",
        [md("p.md", "see I now"), embed("i.png", "I")],
    ),
    ("embed and a stray closer", "![[p]] x](y)", [embed("p")]),
    ("embed around a link", "![[a [[b|c]] d]]", [wiki("b", None, None, "c")]),
    ("embed shown as a link", "![[a|x [[b]] d]] [[c]]", [wiki("b"), wiki("c")]),
    ("link around a wikilink", "[x [[a]] y](b.md)", [wiki("a")]),
    ("collapsed reference", "[k.md][]\n\n[k.md]: k.md", [md("k.md", "k.md")]),
    ("percent that is none", "[a](100%.md) [b](50%25.md)", [md("100%.md", "a"), md("50%.md", "b")]),
    (
        "bytes that are no UTF-8",
        "[a](caf%E9.md) [b](caf%C3%A9.md)",
        [md("caf%E9.md", "a"), md("café.md", "b")],
    ),
    ("encoded slash and hash", "[a](x%2Fy%23z.md)", [md("x/y#z.md", "a")]),
    ("marks of a name encoded", "[a](We!rd%20%28n%29%20%5Bx%5D.md)", [md("We!rd (n) [x].md", "a")]),
    ("slash at the end", "[x](foo.md/)", [md("foo.md/", "x")]),
    ("drive", "[x](C:notes/a.md)", [md("C:notes/a.md", "x")]),
    ("entity in an address", "[a](b&amp;c.md)", [md("b&c.md", "a")]),
    ("entity in a name", "[[a&amp;b]]", [wiki("a&amp;b")]),
    ("no target but a heading", "[t](#H%201) [[#H 1]]", [md("", "t", "H 1"), wiki("", "H 1")]),
    ("two bars", "[[x||y]]", [wiki("x", None, None, "|y")]),
    ("bar and nothing", "[[x|]] [[x\\|]]", [wiki("x"), wiki("x")]),
    ("three brackets", "[[[a]]] [[b]]]", [wiki("a"), wiki("b")]),
    ("left open", "[[a and [[b]] and [[c", [wiki("b")]),
    ("code between two", "[[a`b]] [[a`b]]", []),
    ("touching", "[[a]][[b]][c](d)", [wiki("a"), wiki("b"), md("d", "c")]),
    (
        "address and name",
        "https://x.y/[[z]] <https://x.y/[[z]]>",
        [wiki("z"), md("https://x.y/[[z]]", "https://x.y/[[z]]")],
    ),
    ("templater and templates", "<% tp.file.title %> {{date}} [[t]]", [wiki("t")]),
    ("dataview inline", "`= this.[[a]]` `$= dv.x` [[b]]", [wiki("b")]),
    (
        "CJK and emoji",
        "- 见 [[中文 笔记#标题|显示]]🙂![[图.png]]",
        [wiki("中文 笔记", "标题", None, "显示"), embed("图.png")],
    ),
    ("decomposed", "[[cafe\u0301]]", [wiki("cafe\u0301")]),
    (
        "callouts in callouts",
        "> [!note]- A [[a]]\n> > [!tip]\n> > [[b]]\n> - [ ] [[c]]",
        [wiki("a"), wiki("b"), wiki("c")],
    ),
    (
        "table in a callout",
        "> [!info] T\n> | a | b |\n> |---|---|\n> | [[x\\|y]] | z |",
        [wiki("x", None, None, "y")],
    ),
    ("cells beyond the header's", "|a|\n|-|\n|[[b]]|[[c]] #t|", [wiki("b")]),
    (
        "footnotes",
        "x[^1] ^[in [[f]]]\n\n[^1]: a [[b]]\n\n    more [[c]]",
        [wiki("f"), wiki("b"), wiki("c")],
    ),
    ("tabs before items", "-\ta [[b]]\n\t-\t[[c]]\n\n\t\t[[d]]", [wiki("b"), wiki("c"), wiki("d")]),
    ("hard break", "[[a]]  \n[[b]]\\\n[[c]]", [wiki("a"), wiki("b"), wiki("c")]),
    ("html inside a line", "<b>[[a]]</b> <span title='[[h]]'>[[b]]</span>", [wiki("a"), wiki("b")]),
    ("html block", "<details>\n[[h]]\n\n[[a]]\n\n</details>", [wiki("a")]),
    ("shell test in code", "```sh\n[[ -f $x ]] && echo\n```\n\n`[[ -d y ]]`", []),
]


@pytest.mark.parametrize(("text", "links"), [row[1:] for row in LINKS], ids=[x[0] for x in LINKS])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_links_are_what_a_reader_could_follow(text, links, line_break):
    found = read(text.replace("\n", line_break))

    assert found["links"] == links
    for link, written in zip(links, found["slices"], strict=True):
        assert written.startswith(("![", "[", "<"))
        assert link[0] != "embed" or written.startswith("![[")


def test_the_range_of_a_link_is_all_of_it():
    text = "é [k][] [t][k] [k] [x ![[e]]](y)\n\n[k]: z"

    assert read(text)["slices"] == ["[k][]", "[t][k]", "[k]", "[x ![[e]]](y)", "![[e]]"]


DOLLARS = [
    ("US$1 [[a]] US$2", ["a"]),
    ("($5–[[a]]–$6) and $7-[[b]]-$8", ["a", "b"]),
    ("x$1 [[a]] y$2 [[b]] z$3 [[c]] v$4 [[d]] w$5", ["a", "b", "c", "d"]),
    ("$x [[m]]$ [[a]] US$5", ["a"]),
    ("$x [[m]]$5 b$ [[n]]$", ["m", "n"]),
    ("cost $ 5 [[a]] $", ["a"]),
    ("\\$5 [[a]] x\\$", ["a"]),
    ("$5 [[m]]$", []),
    ("$$x [[m]]$$5", []),
    (" ".join(f"US${n} [[n{n}]]" for n in range(60)) + " US$1", [f"n{n}" for n in range(60)]),
]


@pytest.mark.parametrize(("text", "found"), DOLLARS, ids=[row[0][:20] for row in DOLLARS])
def test_prices_are_no_formulas(text, found):
    assert [link[1] for link in read(text)["links"]] == found


def test_prices_stay_in_what_a_heading_and_a_link_show():
    read_note = read("# From US$1M to US$2M\n\n[US$1 to US$2](a$1b$2.md) \x02")
    masked = read("# From US$1M to US$2M\n\n[US$1 to US$2](a$1b$2.md)")

    assert masked["title"] == "From US$1M to US$2M"
    assert masked["links"] == [md("a$1b$2.md", "US$1 to US$2")]
    assert "$" not in read("\x02 [x\x02](y)")["links"][0][4]
    assert read_note["findings"] == []


COMMENTS = [
    ("hides links, tags and fields", "%%[[a]] #b c:: d%% x", [], [], []),
    ("in a name", "[[a%%b%%c]] [t](d.md#%%e%%)", ["ac"], [], []),
    ("in a field", "key:: v %%why%%\n\n[k2:: %%x%%w]", [], [], [("key", "v"), ("k2", "w")]),
    ("beside a tag", "#a%%b%% %%c%% #d", [], ["a", "d"], []),
    ("with code in it", "%%\n```\n%%\n[[a]]\n\n%%\n[[b]]\n%%\n\n[[c]]", ["a", "c"], [], []),
    ("many with code in them", "%%`%%\n\n[[a]]\n\n" * 12 + "%%[[z]]%%", ["a"] * 12, [], []),
    ("with a price in it", "%%$5%% [[a]] x$ %%[[b]]%%", ["a"], [], []),
    ("in code", "`%%` [[a]] `%%`\n\n```\n%%\n```\n[[b]]", ["a", "b"], [], []),
    ("in a quote", "> %%\n> [[a]]\n> %%\n> [[b]]", ["b"], [], []),
    ("in a list", "- a\n  %%[[h]]%%\n  [[b]]\n- %%[[h]]%%", ["b"], [], []),
    ("of HTML", "a <!-- [[h]] #h --> [[b]]\n\n<!--\n[[h]]\n\n#h\n-->\n\n#c", ["b"], ["c"], []),
]


@pytest.mark.parametrize(
    ("text", "targets", "tags", "fields"),
    [row[1:] for row in COMMENTS],
    ids=[x[0] for x in COMMENTS],
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_a_comment_hides_is_not_there(text, targets, tags, fields, line_break):
    found = read(text.replace("\n", line_break))

    assert [link[1] for link in found["links"]] == targets
    assert (found["tags"], found["properties"]) == (tags, fields)


TAGS = [
    (
        "nested, in any case",
        "#Project/Alpha #project/alpha #a//b/ #a_b-c",
        ["project/alpha", "a//b", "a_b-c"],
    ),
    ("numbers with a mark", "#2024-01 #1/2 #1e3 #2024年", ["1e3", "2024年"]),
    ("behind full-width marks", "#标签，#后面 。#x （#y）", ["标签"]),
    ("of a definition", "[a]: #here\n[b]: <c#d> 'see #that'\n\n[a] [b] #e", ["e"]),
    ("of a footnote", "x[^1]\n\n[^1]: #f", ["f"]),
    ("of colours", "```css\na { color: #00B7DA }\n```\n\n`#alert-telco-prod` #FF0", ["ff0"]),
    ("in text of links", "[a #tg][r] [b #th](u#v) [[n#h|#no]]\n\n[r]: x", ["tg", "th"]),
    ("in markup", "==#a== ~~#b~~ _#c_ snake_#d", ["a", "b", "c", "d"]),
    ("in HTML", "<p>x #no</p>\n\na <b>#no</b> <i> #yes</i>", ["yes"]),
    ("escaped", "\\#no &#35;no", []),
    ("in a callout", "> [!todo] #a\n> - #b", ["a", "b"]),
    ("beyond the cells of a table", "|a|\n|-|\n|#x|#y|", ["x"]),
    ("in front matter, as a text", "---\ntags: Work, x/y 2024 #z\n---\n#work", ["work", "x/y"]),
    (
        "in front matter, as a list",
        "---\nTags:\n  - Work\n  - '#x/y'\n  - 2024\n---\n",
        ["work", "x/y"],
    ),
]


@pytest.mark.parametrize(("text", "tags"), [row[1:] for row in TAGS], ids=[x[0] for x in TAGS])
def test_tags_are_obsidians(text, tags):
    assert read(text)["tags"] == tags


FRONT = [
    (
        "every kind of value",
        "---\ntext: a b\nnumber: 1.10\nyes: true\nday: 2020-08-21\nat: 2020-08-21T10:30:00\n"
        "list:\n  - x\n  - 'y, z'\nempty:\nlink: '[[A#h|b]]'\nmap:\n  k: v\n---\n",
        {
            "properties": [
                ("text", "a b"),
                ("number", "1.10"),
                ("yes", "true"),
                ("day", "2020-08-21"),
                ("at", "2020-08-21T10:30:00"),
                ("list", "x"),
                ("list", "y, z"),
                ("link", "[[A#h|b]]"),
                ("map.k", "v"),
            ],
            "links": [("property", "A", "h", None, "b")],
            "findings": [],
        },
    ),
    (
        "links without quotes",
        "---\npeople: [[A]], [[B]]\nmood: fine\n---\n[[C]]",
        {
            "links": [
                ("property", "A", None, None, None),
                ("property", "B", None, None, None),
                wiki("C"),
            ],
            "properties": [("people", "[[A]]"), ("people", "[[B]]"), ("mood", "fine")],
            "findings": ["front-matter-broken"],
        },
    ),
    (
        "a date as a title",
        "---\ntitle: 2024-12-19\n---\n",
        {"title": "2024-12-19", "properties": [("title", "2024-12-19")]},
    ),
    (
        "a byte order mark",
        codecs.BOM_UTF8 + b"---\ntags: [x]\naliases: [Y]\n---\nb",
        {"tags": ["x"], "aliases": ["Y"], "body": "b", "findings": []},
    ),
    (
        "in UTF-16",
        codecs.BOM_UTF16_LE + "---\r\ntags: [x]\r\n...\r\n[[é|中]]".encode("utf-16-le"),
        {"tags": ["x"], "links": [wiki("é", None, None, "中")], "encoding": "utf-16-le"},
    ),
    (
        "of one carriage return a line",
        "---\ralias: One, Two\r---\r#t [[a]]",
        {"aliases": ["One", "Two"], "tags": ["t"], "links": [wiki("a")]},
    ),
    (
        "broken by a colon",
        "---\ntitle: Fwd: hi\ntags:\n  - a\n  - '#b'\nalias: C\n---\n",
        {
            "title": "Fwd: hi",
            "tags": ["a", "b"],
            "aliases": ["C"],
            "findings": ["front-matter-broken"],
        },
    ),
    (
        "of a template",
        "---\ncreated: {{date}}\ntags: [daily]\n---\n<% tp.date %> #x",
        {"tags": ["daily", "x"], "findings": ["front-matter-broken", "date-unreadable"]},
    ),
    (
        "that is none",
        "\n---\ntags: [x]\n---\n[[a]]",
        {"tags": [], "properties": [], "links": [wiki("a")], "findings": []},
    ),
]


@pytest.mark.parametrize(
    ("content", "expected"), [row[1:] for row in FRONT], ids=[x[0] for x in FRONT]
)
def test_front_matter_says_what_was_written(content, expected):
    check(content, expected)


FIELDS = [
    (
        "in both brackets",
        "a [due:: 2024-03-14] (who:: [[Ann]]) b",
        [("due", "2024-03-14"), ("who", "[[Ann]]")],
    ),
    ("of a line, in bold", "**Next Step**:: call", [("Next Step", "call")]),
    ("of a link alone", "[up::[[A]]]", [("up", "[[A]]")]),
    ("in items and quotes", "- a:: b\n- > c:: d\n> - e:: f", [("a", "b"), ("c", "d"), ("e", "f")]),
    ("of a task", "- [x] done:: 2024", [("done", "2024")]),
    ("with a bracket in it", "[a:: b (c) d]", [("a", "b (c) d")]),
    ("in code or without a key", "`a:: b` :: c\n\n    d:: e\n\nstd::vector", []),
    ("in code between names", "[[a`b]] [c:: d] [[a`b]]", []),
    (
        "a header block",
        "# PEP 8\n\nPEP: 8\nTitle: Style\nAuthor: A,\n  B\nStatus: Active\n\nText: x",
        [("PEP", "8"), ("Title", "Style"), ("Author", "A, B"), ("Status", "Active")],
    ),
    (
        "a header block in bold",
        "# T\n**甲**：a\n**乙：** b\n**C:** d\n",
        [("甲", "a"), ("乙", "b"), ("C", "d")],
    ),
    (
        "a header block in full-width colons",
        "# 项目\n名称：窑\n地点：北京\n状态：进行中\n",
        [("名称", "窑"), ("地点", "北京"), ("状态", "进行中")],
    ),
]


@pytest.mark.parametrize(("text", "fields"), [x[1:] for x in FIELDS], ids=[x[0] for x in FIELDS])
def test_fields_are_properties(text, fields):
    assert read(text)["properties"] == fields


def test_a_field_in_an_item_or_a_quote_in_one_is_not_the_notes():
    text = "> of:: note\n\n- > of:: item\n\n1. [ ] of:: item\n\n> - of:: item"

    assert [field.is_of_note for field in read_body(text).fields] == [True, False, False, False]


FILES = [
    (
        "Windows text",
        b"\xd6sterreich [[Caf\xe9]] #\xfcber",
        "a.md",
        {
            "encoding": "windows-1252",
            "links": [wiki("Café")],
            "tags": ["über"],
            "findings": ["encoding-windows-1252"],
        },
    ),
    (
        "Chinese text",
        "中文合約轉換體驗課問題 [[中文]]".encode(),
        "a.md",
        {
            "encoding": "utf-8",
            "links": [wiki("中文")],
            "findings": [],
        },
    ),
    ("an empty file", b"", "Empty.md", {"title": "Empty", "links": [], "findings": []}),
    ("a mark alone", codecs.BOM_UTF8, "a.md", {"title": "a", "body": "", "findings": []}),
    ("marks in a name", b"x", "a#b^c[d]|e.md", {"title": "a#b^c[d]|e"}),
    ("a name in small letters and dots", b"x", "dir/v1.2 notes.MD", {"title": "v1.2 notes"}),
    ("a long line", b"[[a]] " + b"word " * 400_000, "a.md", {"findings": ["read-plainly"]}),
]


@pytest.mark.parametrize(
    ("content", "note_id", "expected"), [row[1:] for row in FILES], ids=[x[0] for x in FILES]
)
def test_any_file_is_a_note(content, note_id, expected):
    check(content, expected, note_id)


def test_code_that_looks_like_headings_is_none():
    text = "# Example\n\n```python\n# A code comment\n```\n~~~\n# More\n~~~\n\n# Next\n"

    assert [heading.text for heading in read_body(text).headings] == ["Example", "Next"]


def test_the_text_of_a_heading_is_what_a_reader_sees():
    text = "# [![[e.png|E]]](p.md) *a* `b` [c](d) [[e|f]] %%g%% <b>h</b> &amp; i ^id\n"

    assert [heading.text for heading in read_body(text).headings] == ["E a b c f h & i"]


@pytest.mark.parametrize(
    "text",
    [
        "![[p]] x](y)" * 20_000,
        "# " + "[![[e]]](p)" * 20_000,
        "![[a [[b]] c]] " * 15_000,
        "$1 a" * 60_000,
        "%%`%% [[a]]\n\n" * 4_000,
        "[a]: #b\n" * 30_000,
        "|a|\n|-|\n" + "|x|#y|\n" * 30_000,
        "> - 1. " * 30_000 + "a:: b",
    ],
    ids=lambda text: text[:10],
)
def test_hostile_notes_take_linear_time(text):
    started = time.process_time()
    read_body(text)

    assert time.process_time() - started < 2
