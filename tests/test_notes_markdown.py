"""A note's body: links, tags, fields, headings, and what must not be taken for them."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.notes.markdown import read_body
from kb_assets.notes.wikilinks import split_target


def targets(text: str) -> list[str]:
    return [link.target for link in read_body(text).links]


def links(text: str) -> list[tuple[str, str, str | None, str | None, str | None]]:
    return [(x.syntax, x.target, x.heading, x.block, x.display) for x in read_body(text).links]


def tags(text: str) -> list[str]:
    return list(read_body(text).tags)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Note]]", ("wikilink", "Note", None, None, None)),
        ("[[Note|shown]]", ("wikilink", "Note", None, None, "shown")),
        ("[[Note#Plan#Costs]]", ("wikilink", "Note", "Plan#Costs", None, None)),
        ("[[Note#^b-1|x]]", ("wikilink", "Note", None, "b-1", "x")),
        ("[[#Here]]", ("wikilink", "", "Here", None, None)),
        ("[[ Note ]]", ("wikilink", "Note", None, None, None)),
        ("[[Sq]uare]]", ("wikilink", "Sq]uare", None, None, None)),
        ("[[a%20b]]", ("wikilink", "a%20b", None, None, None)),
        ("![[pic.png|100x50]]", ("embed", "pic.png", None, None, "100x50")),
        ("![[Note#Part]]", ("embed", "Note", "Part", None, None)),
        ("[t](My%20Note.md#A%20b)", ("markdown", "My Note.md", "A b", None, "t")),
        ("[t](<a b.md>)", ("markdown", "a b.md", None, None, "t")),
        ("[t](a(b).md)", ("markdown", "a(b).md", None, None, "t")),
        ("[t](a%23b.md)", ("markdown", "a#b.md", None, None, "t")),
        ("[t](a.md#^b1)", ("markdown", "a.md", None, "b1", "t")),
        ('[t](a.md "title")', ("markdown", "a.md", None, None, "t")),
        ("[t](#here)", ("markdown", "", "here", None, "t")),
        ("[r][k]\n\n[k]: foo.md", ("markdown", "foo.md", None, None, "r")),
        ("![alt](i%20j.png)", ("image", "i j.png", None, None, "alt")),
        ("<https://x.y/a%20b>", ("markdown", "https://x.y/a%20b", None, None, "https://x.y/a%20b")),
        ("<me@x.y>", ("markdown", "mailto:me@x.y", None, None, "me@x.y")),
        ("[t](https://x.y/#frag)", ("markdown", "https://x.y/#frag", None, None, "t")),
        ("[[https://x.y]]", ("wikilink", "https://x.y", None, None, None)),
    ],
)
def test_a_link_gives_its_target_and_the_text_it_shows(text, link):
    assert links(text) == [link]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("|a|b|\n|-|-|\n|[[notes/foo\\|Foo]]|x|\n", ["notes/foo"]),
        ("|a|b|\n|-|-|\n|[[x|y]]|\n", []),  # the bar ends the cell, as in Obsidian
        ("[^1]\n\n[^1]: see [[fn]]\n", ["fn"]),
        ("> [!note] Title [[co]]\n> [[body]]", ["co", "body"]),
        ("- [ ] [[task]]\n- item\n\n    [[continued]]", ["task", "continued"]),
        ("text\n\n    [[code]]", []),
        ("`[[c]]` ``[[d]] ` ``", []),
        ("```\n[[c]]\n```\n[[after]]", ["after"]),
        ("~~~\n```\n[[c]]\n~~~\n[[after]]", ["after"]),
        ("````\n```\n[[c]]\n```\n````", []),
        ("```\n[[unclosed]]\n", []),
        ("> ```\n> [[c]]\n> ```\n[[after]]", ["after"]),
        ("`unbalanced [[x]]", ["x"]),
        ("[[a`b]] `z`", []),  # the code span wins
        ("```bash\nif [[ -f x ]]; then\n```", []),
        ("\\[[q]] \\[[r]]", []),
        ("a <!-- [[c]] --> [[d]]", ["d"]),
        ("<!-- [[c]]\n--> [[d]]\n\n[[e]]", ["e"]),  # the block is all of its last line
        ("<div>\n[[e]]\n</div>\n\n[[f]]", ["f"]),
        ("$x_{[[a]]}$ and $$[[b]]$$", []),
        ("[[]] [[|x]] [[ ]] [t]()", []),
        ("[[a\nb]]", []),
        ("[[Outer [[Inner]] x]]", ["Inner"]),
        ("```dataview\nLIST FROM [[x]]\n```", []),
        ("[![alt](i.png)](page.md)", ["page.md", "i.png"]),
        ("# Head [[h]]\n\nSet [[s]]\n===", ["h", "s"]),
        ("%%\n[[hidden]]\n\n[[too]]\n%%\n[[seen]]", ["seen"]),
        ("a %%[[hidden]]%% [[seen]]", ["seen"]),
        ("%%it`s%% [[seen]] `code`", ["seen"]),
        ("%% [[hidden]] %% [[seen]]", ["seen"]),
        ("100%% [[a]]\n\nmore 50%% [[b]]", ["a", "b"]),
        ("%% unclosed [[a]]", ["a"]),
        ("`%%` [[a]] `%%`", ["a"]),
        ("%%\n```\n%%\n[[seen]]", ["seen"]),
    ],
)
def test_only_links_that_a_reader_sees_are_links(text, found):
    assert targets(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#a/b/c and #a/ end", ["a/b/c", "a"]),
        ("#1984 #2024/01 #y1984 #2024-goals", ["y1984", "2024-goals"]),
        ("#标签 #café #✅done #👨‍👩‍👧", ["标签", "café", "✅done", "👨‍👩‍👧"]),
        ("#标签，后面", ["标签"]),
        ("#a#b #c/#d", ["a", "b", "c", "d"]),
        ('(#pa) "#pc" .#pd x—#pe a#b', []),
        ("x\t#pf [x #ph] \u00a0#qi \u3000#qj", ["pf", "ph", "qi", "qj"]),
        ("**#bold** x _#uc_ y", ["bold", "uc"]),
        ("#foo:x #foo!", ["foo"]),
        ("https://x.y#frag and https://x.y/#/settings#p", []),
        ("[Discord #tf](https://x.y#z) [[Note #1|shown #no]]", ["tf"]),
        ("`#c`\n\n```\n#d #00B7DA\n```\n\n    #e", []),
        ("<div>\nhello #tp\n</div>\n\n<!-- #x -->", []),
        ("m $a #ra b$ n", []),
        ("|a|b|\n|-|-|\n|#uo|x|", ["uo"]),
        ("a|#b", []),
        ("%% #hidden %% #seen", ["seen"]),
        ("#Tag #tag #TAG", ["tag"]),
        ("# Heading #in-heading\n##no", ["in-heading"]),
        ("> #quoted\n- #item", ["quoted", "item"]),
        ("#alert-telco-prod", ["alert-telco-prod"]),
    ],
)
def test_tags_are_those_of_obsidian(text, found):
    assert tags(text) == found


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("status:: open", [("status", "open", True)]),
        ("> **Due Date**:: 2024-03-14", [("Due Date", "2024-03-14", True)]),
        ("- [ ] call [due:: 2024-03-14] (who:: [[Ann]])", None),
        ("- owner:: Ann", [("owner", "Ann", False)]),
        ("up:: [[A]], [[B]]", [("up", "[[A]], [[B]]", True)]),
        ("x [links::[[A]]] y", [("links", "[[A]]", False)]),
        ("地点:: 北京", [("地点", "北京", True)]),
        ("a:: b\r\nc:: d\re:: f", [("a", "b", True), ("c", "d", True), ("e", "f", True)]),
        ("std::vector x\n[Arc::drop](u) (std::size)", []),
        ("`a:: b`\n```\nc:: d\n```", []),
        ("Example::\n\n    code", []),
        (".. note:: text", []),
        ("[open:: never closed", []),
        ("%%a:: b%%", []),
    ],
)
def test_inline_fields_are_read_outside_code(text, fields):
    if fields is None:
        fields = [("due", "2024-03-14", False), ("who", "[[Ann]]", False)]

    found = [(x.name, x.value, x.is_of_note) for x in read_body(text).fields]

    assert found == fields


def test_a_header_block_below_the_title_is_properties():
    header = "PEP: 590\nAuthor: Mark,\n        Jeroen\nPost-History:\n**Date:** 2019\n"
    text = f"\n# PEP 590\n\n{header}\nText: x"

    fields = [(x.name, x.value) for x in read_body(text).fields]

    assert fields == [("PEP", "590"), ("Author", "Mark, Jeroen"), ("Date", "2019")]


@pytest.mark.parametrize(
    "text",
    [
        "# T\n\na: 1\nb: 2\n",  # two lines are no block
        "a: 1\nb: 2\nc: 3\n",  # no title above
        "Intro\n# T\na: 1\nb: 2\nc: 3",  # not at the top
        "# T\nAnn: hi\nBob: hello\nAnn: so?\n",  # a chat's names come again
        "# T\nhttp://a\nhttp://b\nhttp://c\n",
    ],
)
def test_other_lines_with_colons_are_no_header_block(text):
    assert read_body(text).fields == ()


def test_headings_have_level_text_and_range():
    text = "# A [[b|c]] `d` ^id\n\nSet *ext*\n---\n\n```\n# code\n```\n~~~\n# code\n~~~\n### Last\n"

    body = read_body(text, 5)

    assert [(x.level, x.text) for x in body.headings] == [
        (1, "A c d"),
        (2, "Set ext"),
        (3, "Last"),
    ]
    assert text[body.headings[1].start - 5 : body.headings[1].end - 5] == "Set *ext*\n---\n"


def test_ranges_count_bytes_of_the_whole_note():
    body = "é [[中|x]] ![[图.png]] [a](b.md)"

    found = read_body(body, 100).links

    sliced = [body.encode()[x.start - 100 : x.end - 100].decode() for x in found]
    assert sliced == ["[[中|x]]", "![[图.png]]", "[a](b.md)"]


@pytest.mark.parametrize(
    "target", ["a", "a#b", "a#b#c", "#b", "#^c", "a#b#^c", "a#", "#", "", "a ^ b"]
)
def test_a_target_is_split_at_its_first_hash(target):
    expected = {
        "a": ("a", None, None),
        "a#b": ("a", "b", None),
        "a#b#c": ("a", "b#c", None),
        "#b": ("", "b", None),
        "#^c": ("", None, "c"),
        "a#b#^c": ("a", "b", "c"),
        "a#": ("a", None, None),
        "#": ("", None, None),
        "": ("", None, None),
        "a ^ b": ("a ^ b", None, None),
    }

    assert tuple(split_target(target)) == expected[target]


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_and_every_range_is_a_link(text):
    data = text.encode()

    for link in read_body(text).links:
        raw = data[link.start : link.end].decode()
        assert raw.startswith(("[", "![", "<"))
        assert raw.endswith(("]", ")", ">"))


@settings(deadline=None)
@given(st.text("[]()|#^!%`$:<>-*_\\ \n\tab1é", max_size=80))
def test_markdown_shaped_nonsense_is_read_without_an_error(text):
    read_body(text)


# An independent reading of simple notes: one expression, no parser.
_WORD = st.from_regex(r"[a-zé中]{1,6}", fullmatch=True)
_NAME = st.from_regex(r"[A-Za-zé中][A-Za-zé中 ]{0,6}[a-z]", fullmatch=True)
_PIECE = st.one_of(
    _WORD,
    _NAME.map(lambda name: f"[[{name}]]"),
    st.tuples(_NAME, _WORD).map(lambda x: f"[[{x[0]}|{x[1]}]]"),
    st.tuples(_NAME, _WORD).map(lambda x: f"![[{x[0]}#{x[1]}]]"),
    _WORD.map(lambda tag: f"#{tag}"),
)
_ORACLE = re.compile(r"\[\[([^\[\]|#]+)")
_TAG_ORACLE = re.compile(r"(?<!\S)#(\S+)")


@settings(deadline=None)
@given(st.lists(st.lists(_PIECE, min_size=1, max_size=6).map(" ".join), max_size=8))
def test_every_link_and_tag_of_a_simple_note_is_found(paragraphs):
    text = "\n\n".join(f"x {line}" for line in paragraphs)

    assert targets(text) == _ORACLE.findall(text)
    assert tags(text) == list(dict.fromkeys(x.lower() for x in _TAG_ORACLE.findall(text)))


@settings(deadline=None)
@given(
    st.lists(_PIECE, min_size=1, max_size=8).map(" ".join), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_line_breaks_do_not_change_what_is_found(line, line_break):
    assert targets(f"x {line}{line_break}y {line}") == targets(f"x {line}") * 2


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[[a|" * 50_000,
        "word and more " * 700_000,
        "%% x " * 40_000,
        "#a" * 100_000,
        "[a:: " * 40_000,
        "a:: " * 40_000,
        "![x" * 10_000 + "](u)" * 10_000,
        "# T\nAa: b\n" + " x\n" * 40_000,
    ],
    ids=lambda text: text[:8],
)
def test_hostile_bodies_take_linear_time(text):
    started = time.process_time()
    read_body(text)

    assert time.process_time() - started < 1
