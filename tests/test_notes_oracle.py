"""The parser against a slow scanner that shares nothing with it, on made notes and real ones."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb_assets.notes.decoding import decode
from kb_assets.notes.markdown import read_body
from kb_assets.notes.note import Parsed, parse_note
from tests import oracle_notes

SHARED = Path(os.environ.get("KB_SHARED", Path(__file__).parents[2] / "shared"))
VAULTS = {"dendron-site": None, "kepano-obsidian": None, "peps": 60}

WORDS = st.sampled_from(
    ["alpha", "beta.", "中文", "é", "naïve", "👩‍👩‍👧", "100%", "$5", "US$20,", "x$", "$", "*em*",
     "**bold**", "_em_", "~~out~~", "==mark==", "a_b_c", "C++", "3<4", "&amp;", "&lt;", "{{date}}",
     "\\*", "\\`", "`code`", "``a`b``", "`", "。", "—", "std::vector"]
)  # fmt: skip
LINKS = st.sampled_from(
    [
        "[[Note]]",
        "[[Note|shown]]",
        "[[Note#Head#Sub]]",
        "[[Note#^b-1|x]]",
        "[[Note#Head#^b1]]",
        "[[#Here]]",
        "[[ Note ]]",
        "![[pic.png|100x50]]",
        "![[Note#Part]]",
        "![[board.canvas]]",
        "[[中文 笔记|显示]]",
        "[[cafe\u0301]]",
        "[[Sq]uare]]",
        "[[a`b]]",
        "[[a\\|b]]",
        "[[https://x.y]]",
        "[[]]",
        "[[|x]]",
        "[[ ]]",
        "[[a|b [[c]] d]]",
        "[[[n]]]",
        "![[a [[b]] c]]",
        "![[a [[b|c]] d]]",
        "![[a|x [[b]] d]]",
        "[t](a%20b.md)",
        "[t](<a b.md>)",
        "[t](a(b).md)",
        '[t](a.md "T [[u]]")',
        "[t](a.md#H%20x)",
        "[t](a.md#^b1)",
        "[t](50%25.md)",
        "[t](a%E9.md)",
        "[t]()",
        "[t #in](u.md#f)",
        "[a *b* `c`](d.md)",
        "[x [[y]] z](w.md)",
        "[a](b)[[c]]",
        "![alt](p%20q.png)",
        "[![alt](i.png)](p.md)",
        "[![[e.png]]](p.md)",
        "[see ![[e.png|E]] and](p.md)",
        "[ref][k]",
        "[k][]",
        "[k]",
        "[none][nothing]",
        "[^1]",
        "^[note [[f]]]",
        "<https://x.y/a%20b>",
        "<me@x.y>",
        "https://x.y/#frag",
        "\\[[q]]",
        "[x",
        "[[",
        "]]",
    ]
)
HIDDEN = st.sampled_from(
    [
        "`[[c]]`",
        "``c ` [[d]] #e``",
        "`k:: v`",
        "$x_{[[m]]}$",
        "$$y [[n]] #o$$",
        "($5 [[seen]] $6)",
        "US$1 [[s]]-$2",
        "<b>",
        "</b>",
        "<a title='[[h]] #i'>",
        "<!-- [[c]] #t -->",
        "%%[[h]] #ht%%",
        "%% [[h]] %%",
    ]
)
TAGS = st.sampled_from(
    ["#tag", "#a/b", "#a/", "#1984", "#2024/01", "#y1984", "(#p)", "#标签，", "#✅done", "#👨‍👩‍👧",
     "#a#b", "x#c", "*#d*", "_#u_", "#e:x", "#F", "#00B7DA"]
)  # fmt: skip
FIELDS = st.sampled_from(["[due:: 2024-03-14]", "(who:: [[Ann]])", "[links::[[A]]]"])
WHOLE = st.sampled_from(
    ["status:: open", "**Due Date**:: 2024", "up:: [[A]], [[B]]", "地点:: 北京"]
)
PIECE = st.one_of(WORDS, WORDS, LINKS, LINKS, HIDDEN, TAGS, FIELDS)
LINE = st.one_of(
    st.lists(PIECE, min_size=1, max_size=6).map(" ".join),
    st.lists(PIECE, min_size=1, max_size=4).map("".join),
    WHOLE,
).map(lambda line: f"w {line}" if line[:1] in "<$%=~" else line)
IDS = st.sampled_from(["", "", " ^b-1"])
PARAGRAPH = st.tuples(st.lists(LINE, min_size=1, max_size=3).map("\n".join), IDS).map("".join)


def _in_cells(line: str) -> str:
    """Put a backslash before every bar that has none."""
    return line.replace("\\|", "|").replace("|", "\\|")


CELL = LINE.map(_in_cells)
ROW = st.lists(CELL, min_size=2, max_size=2).map(lambda cells: f"| {' | '.join(cells)} |")
TABLE = st.lists(ROW, min_size=1, max_size=3).map(
    lambda rows: "\n".join([rows[0], "|---|:-:|", *rows[1:]])
)
HEADING = st.one_of(
    st.tuples(st.sampled_from(["# ", "### "]), LINE).map("".join),
    LINE.map(lambda line: f"Set {line}\n==="),
)
CODE = st.tuples(st.sampled_from(["```", "~~~", "````", "```dataview", "~~~ a`b"]), PARAGRAPH).map(
    lambda x: f"{x[0]}\n{x[1]}\n{x[0][: 4 if x[0].startswith('````') else 3]}"
)
INDENTED = LINE.map(lambda line: f"    {line}")
HTML = st.sampled_from(
    [
        "<div>\n[[h]] #h\n</div>",
        "<!--\n[[c]] #c\n\n[[d]]\n-->",
        "<!-- [[c]] --> [[d]]",
        "<details><summary>x</summary>\n\n[[in]]\n\n</details>",
    ]
)
COMMENT = st.sampled_from(
    ["%%\n[[h]] #h\n%%", "%%\n[[h]]\n\n# [[h]]\n%%", "%%\n```\n%%", "%% ` %%", "%%a:: b%%"]
)
MATH = st.just("$$\n[[m]] #m\n$$")
BLOCK = st.one_of(
    PARAGRAPH, PARAGRAPH, PARAGRAPH, TABLE, HEADING, CODE, INDENTED, HTML, COMMENT, MATH,
    st.just("***"),
)  # fmt: skip


def _quoted(block: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in block.split("\n"))


def _item(block: str, mark: str) -> str:
    lines = block.split("\n")
    indent = "\t" if mark.endswith("\t") else " " * len(mark.removesuffix("[ ] "))
    return "\n".join([mark + lines[0], *(indent + line if line else "" for line in lines[1:])])


NO_COMMENT = st.one_of(PARAGRAPH, PARAGRAPH, TABLE, HEADING, CODE, HTML)
MARKS = st.sampled_from(["- ", "* ", "1. ", "-\t", "- [ ] "])


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    blocks = st.lists(inner, min_size=1, max_size=2).map("\n\n".join)
    return st.one_of(
        blocks.map(_quoted),
        blocks.map(lambda block: _quoted(f"[!note]- Title [[co]]\n{block}")),
        st.tuples(blocks, MARKS).map(lambda x: _item(*x)),
        st.lists(st.tuples(inner, MARKS).map(lambda x: _item(*x)), min_size=2, max_size=3).map(
            "\n".join
        ),
    )


NESTED = st.recursive(NO_COMMENT, _nested, max_leaves=3)
TAIL = st.sampled_from(
    [
        "",
        "[k]: <k note.md> 'T #no'",
        "[K]: #here",
        "[^1]: see [[fn]] #ft\n\n    more [[fn2]]",
        "```\n[[unclosed]] #no",
        "<!-- [[unclosed]]",
        "%% [[open]]",
    ]
)
FRONT = st.sampled_from(
    [
        "",
        "---\ntitle: T\n---\n",
        "---\ntags: [x, '#y/z']\naliases:\n  - A\n---\n",
        '---\nup: "[[A]]"\npeople: [[B]], [[C]]\n...\n',
        "--- \nbad: Fwd: hi\n---\t\n",
        "---\n---\n",
        "\n---\na: b\n---\n",
        "----\na: b\n---\n",
        " ---\na: b\n---\n",
        "---\nnever: closed\n",
    ]
)
JOINTS = st.sampled_from(["\n\n", "\n\n", "\n"])
BLOCKS = st.lists(st.tuples(BLOCK | NESTED, JOINTS).map("".join), max_size=5).map("".join)
NOTE = st.tuples(
    FRONT,
    BLOCKS,
    TAIL,
    st.sampled_from(["\n", "\r\n", "\r"]),
).map(lambda x: (x[0] + x[1] + "\n\n" + x[2]).replace("\n", x[3]))


def links_of(parsed: Parsed) -> list[oracle_notes.LinkRow]:
    return [
        (x.syntax, x.target, x.heading, x.block, x.display, x.start, x.end)
        for x in parsed.links
        if x.syntax != "property"
    ]


def tags_of(parsed: Parsed, scanned: oracle_notes.Note) -> tuple[list[str], list[str]]:
    """Return the tags of the text as either has them, without those of the front matter."""
    stated = {tag for tag, source in parsed.tags.items() if source == "property"}
    mine = [tag for tag in parsed.tags if tag not in stated]
    return mine, [tag for tag in scanned.tags if tag not in stated]


def bare(headings: list[str]) -> list[str]:
    """Drop brackets, blanks and marks: how they pair is no business of a scanner for links."""
    return [re.sub(r"[*_!`\[\]\s]", "", heading) for heading in headings]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NOTE)
def test_parser_and_scanner_read_the_same_in_any_note(text):
    parsed, scanned = parse_note("a.md", text), oracle_notes.scan(text)

    assert parsed.body_start == scanned.body_start
    assert links_of(parsed) == scanned.links
    mine, theirs = tags_of(parsed, scanned)
    assert mine == theirs
    body = text.encode()[parsed.body_start :].decode()
    read = read_body(body)
    if "![[a" not in text:  # what an embed around a link shows is nobody's concern
        assert bare([x.text for x in read.headings]) == bare(scanned.headings)
    if "|---" not in text:  # a field is read by its line, and a table's rows have several cells
        assert [(x.name, x.value) for x in read.fields] == scanned.fields


def test_the_scanner_reads_a_note_as_a_person_would():
    note = """---
title: T
---
# Head ^id

See [[Plan#Costs|the plan]], `[[code]]` and %%[[hidden]]%% [x](a%20b.md) #tag.
owner:: Ann

- ![[pic.png|100]]
  > ```
  > [[fenced]]
"""
    scanned = oracle_notes.scan(note)

    assert scanned.body_start == len("---\ntitle: T\n---\n")
    assert [row[:5] for row in scanned.links] == [
        ("wikilink", "Plan", "Costs", None, "the plan"),
        ("markdown", "a b.md", None, None, "x"),
        ("embed", "pic.png", None, None, "100"),
    ]
    assert note.encode()[scanned.links[0][5] : scanned.links[0][6]] == b"[[Plan#Costs|the plan]]"
    assert (scanned.tags, scanned.fields) == (["tag"], [("owner", "Ann")])
    assert (scanned.block_ids, scanned.headings) == (["id"], ["Head"])
    assert scanned.comments == ["[[hidden]]"]


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(VAULTS))
def test_parser_and_scanner_read_the_same_in_every_note_of_a_real_vault(name):
    root = SHARED / "vaults" / name
    if not root.is_dir():
        pytest.skip(f"{root} is not here")
    differing = []
    for path in sorted(root.rglob("*.md"))[: VAULTS[name]]:
        text = decode(path.read_bytes()).text
        parsed, scanned = parse_note(path.name, text), oracle_notes.scan(text)
        mine, theirs = tags_of(parsed, scanned)
        same = links_of(parsed) == scanned.links and mine == theirs
        # The parser leaves text between two rules in the body; the scanner knows no properties.
        if not same or parsed.body_start not in (0, scanned.body_start):
            differing.append(path.relative_to(root).as_posix())

    assert differing == []
