"""Front matter: strings only, and never a lost note."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.notes.front_matter import read_front_matter, split_front_matter
from kb_assets.notes.front_matter_lines import read_lines
from kb_assets.notes.yaml_strings import MAX_BYTES


def pairs(yaml: str) -> list[tuple[str, str]]:
    read = read_front_matter(f"---\n{yaml}\n---\nbody")
    return [(each.name, each.value) for each in read.properties]


def codes(yaml: str) -> list[str]:
    return [each.code for each in read_front_matter(f"---\n{yaml}\n---\nbody").findings]


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("title: 2024-12-19", [("title", "2024-12-19")]),
        ("no: no\nn: 012\nv: 1.10", [("no", "no"), ("n", "012"), ("v", "1.10")]),
        ("t: 12:30:00", [("t", "12:30:00")]),
        ("date: 2026-02-30", [("date", "2026-02-30")]),
        ("tags: [a, b]\nx: y", [("tags", "a"), ("tags", "b"), ("x", "y")]),
        ("tags:\n  - a\n  - [b, c]", [("tags", "a"), ("tags", "b"), ("tags", "c")]),
        ("a:\n  b:\n    c: d", [("a.b.c", "d")]),
        ("people:\n  - name: X", [("people.name", "X")]),
        ("empty:\nnone: null\ntilde: ~", []),
        ('quoted: "null"', [("quoted", "null")]),
        ("up: [[A]]", [("up", "[[A]]")]),
        ("up: [[A, B]]", [("up", "[[A, B]]")]),
        ("up:\n  - [[Añ]]\n  - [[B#h|c]]", [("up", "[[Añ]]"), ("up", "[[B#h|c]]")]),
        ('up: "[[A]], [[B]]"', [("up", "[[A]]"), ("up", "[[B]]")]),
        ("text: |\n  one\n  two", [("text", "one\ntwo")]),
        ("a: !!python/object:os.system x", [("a", "x")]),
    ],
)
def test_every_value_stays_the_text_that_was_written(yaml, expected):
    assert pairs(yaml) == expected
    assert codes(yaml) == []


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("title: Fwd: hi", [("title", "Fwd: hi")]),
        ("people: [[A]], [[B]]", [("people", "[[A]]"), ("people", "[[B]]")]),
        ("tags: [#a, b]\ntitle: x", [("tags", "#a"), ("tags", "b"), ("title", "x")]),
        ("who: @me", [("who", "@me")]),
        ("created: {{date}}", [("created", "{{date}}")]),
        ("x: %y", [("x", "%y")]),
        ("s: * x", [("s", "* x")]),
        ("\ttab: x\na: b", [("tab", "x"), ("a", "b")]),
        ('up: "[[A\\|b]]"', [("up", "[[A\\|b]]")]),
        ("bad: a: b\naliases:\n  - One\n  - 'Two, too'", None),
        ("bad: a: b\nouter:\n  inner: c", [("bad", "a: b"), ("outer.inner", "c")]),
        ("bad: a: b\ntext: >\n  one\n  two: three", [("bad", "a: b"), ("text", "one two: three")]),
        ("x: \x07bell", [("x", "\x07bell")]),
    ],
)
def test_broken_yaml_is_read_line_by_line_with_a_finding(yaml, expected):
    if expected is None:
        expected = [("bad", "a: b"), ("aliases", "One"), ("aliases", "Two, too")]

    assert pairs(yaml) == expected
    assert codes(yaml) == ["front-matter-broken"]


@pytest.mark.parametrize(
    "yaml",
    [
        "a: &x 1\nb: *x",
        "a: " + "[" * 21 + "]" * 21,
        "long: " + "x" * MAX_BYTES,
    ],
)
def test_anchors_depth_and_size_are_refused_with_a_finding(yaml):
    assert codes(f"title: kept\n{yaml}") == ["front-matter-refused"]
    assert pairs(f"title: kept\n{yaml}")[0] == ("title", "kept")


def test_the_last_of_two_equal_keys_counts_and_is_reported():
    assert pairs("a: 1\nb: 2\na: 3") == [("b", "2"), ("a", "3")]
    assert codes("a: 1\nb: 2\na: 3") == ["front-matter-duplicate-key"]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: b\n---\nbody", "body"),
        ("---\na: b\n...\nbody", "body"),
        ("---\r\na: b\r\n---\r\nbody", "body"),
        ("---\ra: b\r---\rbody", "body"),
        ("--- \na: b\n--- \nbody", "body"),
        ("---\n---\nbody", "body"),
        ("---\na: b\n---", ""),
        ("---\na: é\n---\n中", "中"),
    ],
)
def test_front_matter_ends_at_its_closer(text, body):
    assert text.encode()[read_front_matter(text).body_start :].decode() == body


@pytest.mark.parametrize(
    "text",
    ["\n---\na: b\n---\n", "----\na: b\n---\n", " ---\na: b\n---\n", "---\na: b\n", "x\n---\n", ""],
)
def test_what_is_no_front_matter_stays_in_the_body(text):
    assert split_front_matter(text) is None
    assert read_front_matter(text).body_start == 0


def test_text_between_two_rules_is_text():
    read = read_front_matter("---\nOnly a sentence between rules.\n---\nbody")

    assert (read.body_start, read.properties) == (0, ())
    assert [each.code for each in read.findings] == ["front-matter-without-properties"]


@pytest.mark.parametrize(
    "yaml",
    [
        "Ana said it is 120 now.\nTopic: budget\nIt was 100.\n",
        "Topic: budget\nAna said [[it]] is 120 now.\n",
        "private: true\n{{tp.date}}\n",
        "a: [\n" + "# x\n" * 20_000 + "Said after 64 KiB.\n",
    ],
)
def test_text_beside_properties_stays_in_the_body(yaml):
    read = read_front_matter(f"---\n{yaml}---\nbody")

    assert (read.body_start, read.links) == (0, ())
    assert [each.name for each in read.properties] != []
    assert read.findings != ()


def test_links_in_properties_have_their_property_and_their_bytes():
    text = '---\nümlaut: x\npeople: [[A]], [[B#h|b]]\nup:\n  - "[[C]]"\n# [[no]]\n---\n[[D]]'

    links = read_front_matter(text).links

    assert [(x.property, x.target, x.heading, x.display) for x in links] == [
        ("people", "A", None, None),
        ("people", "B", "h", "b"),
        ("up", "C", None, None),
    ]
    assert [text.encode()[x.start : x.end].decode() for x in links] == [
        "[[A]]",
        "[[B#h|b]]",
        "[[C]]",
    ]


@settings(deadline=None)
@given(st.text())
def test_any_front_matter_is_read_without_an_error(yaml):
    read = read_front_matter(f"---\n{yaml}\n---\nbody")

    assert all(each.name is not None and each.value for each in read.properties)


@settings(deadline=None)
@given(st.text("ab:[]{}\"'-#,& *!|>\n\t [[]]", max_size=80))
def test_yaml_shaped_nonsense_is_read_without_an_error(yaml):
    read_front_matter(f"---\n{yaml}\n---\nbody")
    read_lines(yaml)


@settings(deadline=None)
@given(
    st.dictionaries(st.from_regex("[a-z]{1,8}", fullmatch=True), st.text("abc déf:", min_size=1))
)
def test_plain_properties_survive_either_reader(values):
    values = {name: f"x{value}x" for name, value in values.items()}
    quoted = "\n".join(f'{name}: "{value}"' for name, value in values.items())
    bare = "\n".join(f"{name}: {value}" for name, value in values.items())

    assert pairs(quoted) == list(values.items())
    assert [(each.name, each.value) for each in read_lines(bare).properties] == list(values.items())


@pytest.mark.parametrize(
    "yaml",
    ["a: [\n" + " x\n" * 20_000, '@: 1\na: [a"' + " " * 60_000 + "x]", "a: 1\n" * 13_000],
)
def test_hostile_front_matter_takes_linear_time(yaml):
    started = time.process_time()
    read_front_matter(f"---\n{yaml}\n---\n")

    assert time.process_time() - started < 2
