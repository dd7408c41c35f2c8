"""Notes in, chunks out: examples first, then rules that must always hold."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_core.contracts import NOTES
from kb_core.ids import content_id, fingerprint
from kb_core.tokens import RegexTokenCounter

FIRST = dt.datetime(2024, 6, 1, 12, tzinfo=dt.UTC)
TINY = Limits(whole_note_tokens=12, largest_tokens=10, smallest_tokens=4, overlap_chars=0)
COUNTER = RegexTokenCounter()


def note(body: str, *, front: str = "", title: str = "Log", **changes: object) -> dict[str, object]:
    row = {
        "version_id": f"{title}-1",
        "note_id": f"{title}.md",
        "version": 1,
        "content_hash": "h",
        "observed_at": FIRST,
        "observed_until": None,
        "is_current": True,
        "title": title,
        "aliases": [],
        "tags": [],
        "kind": "note",
        "tenant": "main",
        "readers": [],
        "is_private": False,
        "may_leave": False,
        "note_date": "2024-01-10",
        "date_basis": "property date",
        "date_is_weak": False,
        "available_at": dt.datetime(2024, 1, 10, 23, 59, 59, 999_999, tzinfo=dt.UTC),
        "properties": [],
        "text": front + body,
        "body_start": len(front.encode()),
        "encoding": "utf-8",
    }
    return {**row, **changes}


def cut(*notes: dict[str, object], limits: Limits = TINY) -> list[dict]:
    return chunk_notes(NOTES.table(notes), limits, COUNTER).to_pylist()


def own_text(row: dict, source: dict) -> str:
    return source["text"].encode()[row["byte_start"] : row["byte_end"]].decode()


def properties(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def test_a_short_note_stays_whole():
    (row,) = cut(note("\n# Plan\nTen seats.\n\n## Price\nTwelve.\n"))

    assert row["text"] == "# Plan\nTen seats.\n\n## Price\nTwelve."
    assert (row["breadcrumb"], row["anchors"], row["ordinal"]) == ("Log", [], 0)
    assert row["next_chunk_id"] is None
    assert row["tokens"] == COUNTER.count(row["text"])


def test_a_long_note_is_cut_at_headings_and_each_chunk_knows_what_it_stands_under():
    rows = cut(note("a b c d e\n# Plan\nf g h i\n## Price\nj k l m\n\nEnd\n===\nn o p q"))

    assert [row["breadcrumb"] for row in rows] == [
        *("Log", "Log > Plan", "Log > Plan > Price", "Log > End"),
    ]
    assert [row["anchors"] for row in rows] == [[], ["Plan"], ["Plan", "Price"], ["End"]]
    assert [row["next_chunk_id"] for row in rows] == [
        *(row["chunk_id"] for row in rows[1:]),
        None,
    ]


def test_a_first_heading_that_repeats_the_title_is_not_said_twice():
    rows = cut(note("# LOG\na b c d e f\n## One\ng h i j k l"))

    assert [row["breadcrumb"] for row in rows] == ["Log", "Log > One"]


def test_links_in_headings_are_shown_and_kept_as_written_for_anchors():
    rows = cut(note("# [[people/ana|Ana]]\na b c d e f\n# B\ng h i j k l"))

    assert rows[0]["breadcrumb"] == "Log > Ana"
    assert rows[0]["anchors"] == ["[[people/ana|Ana]]"]


def test_small_sections_join_what_follows_below_the_same_heading():
    limits = Limits(whole_note_tokens=12, largest_tokens=12, smallest_tokens=8, overlap_chars=0)

    rows = cut(note("# A\n\n## B\na\n\n## C\nb\n\n# D\nc d e f g h i"), limits=limits)

    assert [row["text"] for row in rows] == [
        *("# A\n\n## B\na\n\n## C\nb", "# D\nc d e f g h i"),
    ]
    assert [row["breadcrumb"] for row in rows] == ["Log > A", "Log > D"]
    assert rows[0]["anchors"] == ["A"]


def test_a_small_last_section_joins_the_one_before():
    rows = cut(note("# A\na b c d e\n# B\nf g h i j\n# C\nk"))

    assert [row["text"].splitlines()[0] for row in rows] == ["# A", "# B"]
    assert rows[1]["text"].endswith("# C\nk")
    assert rows[1]["breadcrumb"] == "Log"  # true of both
    assert rows[1]["anchors"] == ["B"]  # where it begins


def test_a_small_subsection_joins_its_own_heading_before_the_next():
    rows = cut(note("# A\na b c d\n## B\n# C\nc d e"))

    assert [row["text"] for row in rows] == ["# A\na b c d\n## B", "# C\nc d e"]


def test_a_bare_heading_stays_with_its_subsection_even_if_that_is_too_large():
    rows = cut(note("# A\n## B\na b c d\n\ne f g h i j k\n# C\nl m n o p"))

    assert rows[0]["text"] == "# A\n## B\na b c d"
    assert rows[1]["breadcrumb"] == "Log > A > B"


def test_no_piece_ends_with_a_heading():
    rows = cut(note("# A\na\n## B\nb c d e f g h\n\ni j k l m n"))

    assert [row["text"] for row in rows][:2] == ["# A\na", "## B\nb c d e f g h"]


def test_a_heading_with_subsections_stays_with_them():
    rows = cut(note("# A\na b c d e\n# B\nf\n# C\n## C1\ng h i j\n## C2\nk l m n o"))

    assert "Log > C" in [row["breadcrumb"] for row in rows]
    assert not any("# B" in row["text"] and "# C\n" in row["text"] for row in rows)


def test_a_section_that_is_too_large_is_cut_at_paragraphs_and_no_piece_ends_with_a_heading():
    body = "# A\na b c d e f\n\ng h i j k\n\nl m n o p q r\n\n# B\ns t u v w x"

    rows = cut(note(body))

    assert [row["text"] for row in rows] == [
        *("# A\na b c d e f", "g h i j k", "l m n o p q r", "# B\ns t u v w x"),
    ]


@pytest.mark.parametrize(
    ("paragraph", "pieces"),
    [
        ("- a b. C d\n  e f\n- g h i j", ["- a b. C d\n  e f", "- g h i j"]),
        ("a b c d e. F g h i j. K l m n", ["a b c d e.", "F g h i j. K l m n"]),
        ("窑炉的价格涨了。我们不涨价。", ["窑炉的价格涨了。", "我们不涨价。"]),
        ("a b c d e f g\nh i j k l m", ["a b c d e f g", "h i j k l m"]),
        ("| a | b. C |\n| - | - |\n| d. E | f |", ["| a | b. C |", "| - | - |", "| d. E | f |"]),
        ("a | b. C d e\n- | -\nf | g. H i j", ["a | b. C d e\n- | -", "f | g. H i j"]),
        ("```\na b. C d\ne f. G h\n```", ["```\na b. C d", "e f. G h\n```"]),
    ],
)
def test_a_paragraph_that_is_too_large_is_cut_where_it_hurts_least(paragraph, pieces):
    rows = cut(note(f"{paragraph}\n"))

    assert [row["text"] for row in rows] == pieces


def test_a_fence_that_fits_is_never_cut():
    fence = "```\na\n\n# b\n\nc\n```"

    rows = cut(note(f"One two three four.\n\n{fence}\n\nFive six seven eight."))

    assert sum(fence in row["text"] for row in rows) == 1


def test_something_endless_is_cut_anywhere():
    rows = cut(note("x" * 500 + " end"))

    assert max(row["tokens"] for row in rows) <= TINY.largest_tokens
    assert "".join(row["text"] for row in rows).replace(" ", "") == "x" * 500 + "end"


def test_a_last_piece_that_is_too_small_takes_from_the_one_before():
    rows = cut(note("a b c d e f\n\ng h\n\ni j\n\nk l m"))

    assert [row["text"] for row in rows] == ["a b c d e f\n\ng h", "i j\n\nk l m"]


def test_pieces_of_a_section_repeat_the_last_whole_words_before_them():
    limits = Limits(whole_note_tokens=12, largest_tokens=10, smallest_tokens=2, overlap_chars=9)
    source = note("aaaa bbbb cccc dddd eeee ffff\n\ngggg hhhh iiii jjjj kkkk llll llll")

    rows = cut(source, limits=limits)

    assert [row["text"] for row in rows] == [
        "aaaa bbbb cccc dddd eeee ffff",
        "eeee ffff\n\ngggg hhhh iiii jjjj kkkk llll llll",
    ]
    assert own_text(rows[1], source) == "gggg hhhh iiii jjjj kkkk llll llll"
    assert rows[1]["tokens"] == 9


def test_what_is_repeated_begins_with_a_whole_word():
    limits = Limits(whole_note_tokens=12, largest_tokens=10, smallest_tokens=2, overlap_chars=7)

    rows = cut(
        note("aaaa bbbb cccc dddd eeee ffff\n\ngggg hhhh iiii jjjj kkkk ll ll"), limits=limits
    )

    assert rows[1]["text"].startswith("ffff\n\ngggg")


def test_sections_repeat_nothing_of_each_other():
    limits = Limits(whole_note_tokens=12, largest_tokens=10, smallest_tokens=2, overlap_chars=9)

    rows = cut(note("# A\na b c d e f\n# B\ng h i j k l"), limits=limits)

    assert rows[1]["text"] == "# B\ng h i j k l"


def test_code_is_not_repeated():
    limits = Limits(whole_note_tokens=12, largest_tokens=12, smallest_tokens=2, overlap_chars=9)

    rows = cut(note("```\na b c d\n```\n\ne f g h i j"), limits=limits)

    assert [row["text"] for row in rows] == ["```\na b c d\n```", "e f g h i j"]


def test_two_equal_passages_in_a_note_get_two_ids_and_one_text_id():
    first, second = cut(note("# A\na b c d e f g\n" * 2))

    assert first["chunk_id"] != second["chunk_id"]
    assert first["text_id"] == second["text_id"]


def test_the_search_face_is_breadcrumb_properties_and_text():
    front = "---\nstatus: superseded\n---\n"
    source = note(
        "# A\na b c d e f\n# B\ng h i j k l",
        front=front,
        aliases=["L1"],
        properties=properties(
            id="x7", created="2024-01-10", status="superseded", owner="[[people/ana|Ana]]"
        ),
    )

    first, second = cut(source)

    assert first["search_text"] == (
        "Log > A\naliases: L1\nstatus: superseded\nowner: Ana\n\n# A\na b c d e f"
    )
    assert second["search_text"] == "Log > B\n\n# B\ng h i j k l"
    assert first["text"] == "# A\na b c d e f"
    assert own_text(first, source) == first["text"]
    assert first["text_id"] == content_id(first["search_text"])


def test_properties_the_text_says_itself_are_not_repeated():
    body = "owner:: [[Ana]]\nStatus: Draft\nKind of kiln: gas"
    values = properties(owner="Ana", status="Draft", fuel="gas")

    (row,) = cut(note(body, properties=values), limits=Limits())

    assert row["search_text"] == f"Log\nfuel: gas\n\n{body}"


def test_long_properties_are_cut_at_a_word():
    (row,) = cut(note("Text.", properties=properties(abstract="word " * 400)))

    assert len(row["search_text"]) < 450
    assert row["search_text"].endswith("word\n\nText.")


def test_a_title_without_end_is_cut():
    (row,) = cut(note("Text.", title="word " * 1_000, note_id="n.md"))

    assert len(row["breadcrumb"]) <= 200


def test_an_indented_start_is_not_part_of_the_range():
    source = note("  indented\n")

    assert own_text(cut(source)[0], source) == "indented"


def test_an_empty_note_gives_no_chunk():
    assert cut(note(""), note(" \n\n", title="Blank", front="---\ndate: 2024-01-10\n---\n")) == []


def test_a_note_of_properties_alone_says_them():
    front = "---\nauthor: Ursula K. Le Guin\n---\n"
    source = note("\n", front=front, properties=properties(author="Ursula K. Le Guin"))

    (row,) = cut(source)

    assert row["text"] == "author: Ursula K. Le Guin"
    assert row["search_text"] == "Log\n\nauthor: Ursula K. Le Guin"
    assert own_text(row, source) == front


def test_byte_ranges_count_bytes_of_the_whole_note():
    source = note("# 价\n窑炉的价格涨了\n# é\na b c d e f", front="---\nname: 佛山\n---\n")

    rows = cut(source)

    assert len(rows) == 2
    assert [own_text(row, source) for row in rows] == [row["text"] for row in rows]


def test_present_versions_come_first_then_notes_by_name_and_versions_by_number():
    rows = cut(
        note("b", title="B"),
        note("old", title="A", version_id="A-1", is_current=False),
        note("older", title="A", version_id="A-0", version=0, is_current=False),
        note("new", title="A", version_id="A-2", version=2),
    )

    assert [row["text"] for row in rows] == ["new", "b", "older", "old"]


def test_access_is_copied_from_the_note():
    source = note("a", tenant="t", readers=["ana"], is_private=True, may_leave=True, kind="wiki")

    (row,) = cut(source)

    for column in ("tenant", "readers", "is_private", "may_leave", "kind"):
        assert row[column] == source[column]


def test_equal_notes_give_an_equal_table():
    table = NOTES.table([note("# A\na b c d e f\n# B\ng h i j k l")])

    tables = [chunk_notes(table, TINY, COUNTER) for _ in range(2)]

    assert fingerprint(tables[0]) == fingerprint(tables[1])


MARKED = ["# H", "## K", "### L ###", "T\n===", "## 2024-05-02", "```", "~~~~", "%%"]
PLAIN = ["", "alpha beta", "gamma.", "Delta. Epsilon!", "价格涨了。", "é"]
NESTED = ["- item", "  more", "> quote", "| t | u |"]
LINES = st.lists(st.sampled_from([*MARKED, *PLAIN, *NESTED]), max_size=30)
SIZES = st.builds(
    Limits,
    whole_note_tokens=st.integers(0, 15),
    largest_tokens=st.integers(3, 12),
    smallest_tokens=st.integers(0, 8),
    overlap_chars=st.sampled_from([0, 0, 6]),
)


@given(LINES.map("\n".join), SIZES)
def test_no_word_of_a_note_is_ever_lost_or_moved(body, limits):
    source = note(body, front="---\nname: é\n---\n")

    rows = cut(source, limits=limits)

    assert "".join("".join(own_text(row, source) for row in rows).split()) == "".join(body.split())
    assert all(row["text"].endswith(own_text(row, source)) for row in rows)
    assert [row["byte_start"] for row in rows] == sorted(row["byte_start"] for row in rows)


@given(LINES.map("\n".join), SIZES)
def test_no_chunk_is_too_large(body, limits):
    rows = cut(note(body), limits=limits)

    assert all(COUNTER.count(row["text"]) <= row["tokens"] for row in rows)
    if sum(row["tokens"] for row in rows) > limits.whole_note_tokens:
        largest = max(limits.largest_tokens, limits.whole_note_tokens)
        assert max(row["tokens"] for row in rows) <= largest
    if COUNTER.count(body) > limits.whole_note_tokens:
        assert max((row["tokens"] for row in rows), default=0) <= limits.largest_tokens


@given(LINES.map("\n".join), LINES.map("\n".join))
def test_adding_text_above_keeps_the_ids_below(above, below):
    anchor = "# Anchor\none two three four five six seven\n\n"
    old = f"{anchor}{below}\n# Last\none two three four five six seven"
    # An open fence or comment above would reach into the text below.
    new = "".join(f"{line}\n" for line in above.split("\n") if line[:2] not in ("``", "~~", "%%"))

    before = cut(note(old), limits=TINY)
    after = cut(note(f"# New\none two three four five\n{new}\n{old}"), limits=TINY)

    kept = {row["chunk_id"] for row in after}
    assert [row["text"] for row in before if row["chunk_id"] not in kept] == []


@given(LINES.map("\n".join), SIZES)
def test_ids_are_unique_and_next_is_the_next(body, limits):
    rows = cut(note(body), limits=limits)

    ids = [row["chunk_id"] for row in rows]
    assert len(set(ids)) == len(ids)
    assert [row["next_chunk_id"] for row in rows] == [*ids[1:], None][: len(ids)]
    assert [row["ordinal"] for row in rows] == list(range(len(ids)))
