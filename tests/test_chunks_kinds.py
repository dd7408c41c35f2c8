"""Written dates of logs, turns of chats and the two faces of cards."""

import datetime as dt

import pytest

from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.chunks.prose import display_text
from kb_assets.chunks.written_dates import Own, available_at, heading_date, own_date
from kb_core.contracts import NOTES
from kb_core.tokens import RegexTokenCounter

FIRST = dt.datetime(2024, 6, 1, 12, tzinfo=dt.UTC)
JANUARY = dt.datetime(2024, 1, 10, 23, 59, 59, 999_999, tzinfo=dt.UTC)
SMALL = Limits(whole_note_tokens=20, largest_tokens=15, smallest_tokens=4, overlap_chars=10)


def cut(body: str, limits: Limits = Limits(), **changes: object) -> list[dict]:  # noqa: B008
    row = {
        "version_id": "v",
        "note_id": "Logs/Log.md",
        "version": 1,
        "content_hash": "h",
        "observed_at": FIRST,
        "observed_until": None,
        "is_current": True,
        "title": "Log",
        "aliases": [],
        "tags": [],
        "kind": "note",
        "tenant": "main",
        "readers": [],
        "is_private": False,
        "may_leave": False,
        "note_date": "2024-01-10",
        "date_basis": "property date",
        "date_is_weak": True,
        "available_at": JANUARY,
        "properties": [],
        "text": body,
        "body_start": 0,
        "encoding": "utf-8",
    }
    table = NOTES.table([{**row, **changes}])
    return chunk_notes(table, limits, RegexTokenCounter()).to_pylist()


def dates(rows: list[dict]) -> list[tuple[str, str, bool]]:
    return [(row["written_date"], row["written_basis"], row["written_is_weak"]) for row in rows]


@pytest.mark.parametrize(
    ("heading", "date"),
    [
        ("2024-05-02", "2024-05-02"),
        ("2 May 2024", "2024-05-02"),
        ("2024年5月2日", "2024-05-02"),
        ("May 2024", "2024-05"),
        ("October, 2021 (this month!)", "2021-10"),
        ("2024", "2024"),
        ("[[2024-05-02]] call with Ana", "2024-05-02"),
        ("2024-05-02: Lints and editions", "2024-05-02"),
        ("**2024-05-02** – Review #board", "2024-05-02"),
        ("Thursday, 2 May 2024, call", "2024-05-02"),
        ("Week of 6 May 2024: planning", "2024-05-06"),
        ("[2020-09-17 Fri 16:00]", "2020-09-17"),
        ("2021-04-05 to 2021-04-16", "2021-04-05"),
        ("2024-05-02 the board talked for an hour about gas and then went home", "2024-05-02"),
        ("2024年5月2日会议", "2024-05-02"),
        ("Call with Gwen, 2 May 2024", "2024-05-02"),
        ("Standup 2024-05-02", "2024-05-02"),
        ("Review 2024-05-02 #board", "2024-05-02"),
        ("Cost list (Des, April 2024)", "2024-04"),
        ("条件（2024 年 10 月）", "2024-10"),
        ("会议记录2024年5月2日", "2024-05-02"),
        ("2023 review, 2 May 2024", "2024-05-02"),
        (f"[0.14.1](https://forge.example/{'long/' * 20}) (2020-11-05)", "2020-11-05"),
    ],
)
def test_a_date_that_opens_or_closes_a_heading_dates_what_stands_below(heading, date):
    assert heading_date(heading) == date
    assert heading_date(heading, Own.DATED) == (date if len(date) > 4 else None)


@pytest.mark.parametrize(
    "heading",
    [
        *(
            "Plans",
            "Budget 2024",
            "2024 budget",
            "1024",
            "Version 2",
            "31 June 2024",
            "2024 June 31",
        ),
        "Discuss 2025-11-11 Foundation updates",
        '"Add meeting minutes for 2024-11-08" leadership-council#115',
        '"Add meeting minutes for 2024-11-08"',
        "Substitute for 2 May 2024",
        "Mistaken Rejection In November 2017",
        "Planes para mayo de 2024",
        "Deadline: 2 May 2024",
        "https://mail.example/2018-January/151596.html",
        "What the board had said about gas on 2 May 2024",
        "May 2024 webinar on how to track what really matters to you",
        "关于窑炉价格的长篇讨论以及董事会成员对此事的不同意见和最后的决定都记录在会议 2024年5月2日",
        "Discuss 2 May 2024 budget 2025",
    ],
)
def test_a_heading_that_only_names_a_date_has_none(heading):
    assert heading_date(heading) is None


@pytest.mark.parametrize(
    ("heading", "date"),
    [
        ("2024-05-02", "2024-05-02"),
        ("Thursday, 2 May 2024", "2024-05-02"),
        ("2024-05-02 board meeting", None),
        ("Next meeting, 2 May 2024", None),
        ("May 2024", None),
        ("2024", None),
    ],
)
def test_in_a_note_named_after_a_day_only_a_bare_day_begins_another_entry(heading, date):
    assert heading_date(heading, Own.NAMED_AFTER_A_DAY) == date


@pytest.mark.parametrize(
    ("changes", "own"),
    [
        ({"note_date": None, "date_basis": "none", "date_is_weak": False}, Own.UNDATED),
        ({"date_basis": "file time", "date_is_weak": True}, Own.UNDATED),
        ({}, Own.DATED),
        ({"note_id": "2024-01-10/Log.md"}, Own.DATED),
        (
            {"note_id": "Log 2024-01.md", "date_basis": "file name", "note_date": "2024-01"},
            Own.DATED,
        ),
        ({"note_id": "2024-01-10 Board.md"}, Own.NAMED_AFTER_A_DAY),
        ({"note_id": "10-01-24.md", "date_basis": "file name"}, Own.NAMED_AFTER_A_DAY),
    ],
)
def test_a_note_is_named_after_a_day_when_its_file_is(changes, own):
    note = {
        "note_id": "Log.md",
        "note_date": "2024-01-10",
        "date_basis": "property created",
        "date_is_weak": False,
    }

    assert own_date({**note, **changes}) is own


def test_minutes_that_mention_other_days_stay_whole_and_keep_their_date():
    body = "# Council\nA.\n\n## Discuss 2024-05-12 updates\nB.\n\n## Next one, 2024-05-16\nC."
    row = {"date_basis": "file name", "date_is_weak": False, "note_id": "2024-01-10.md"}

    assert dates(cut(body, **row)) == [("2024-01-10", "file name", False)]


def test_a_log_with_a_creation_date_keeps_its_entries_apart():
    rows = cut("## 2024-05-02 Review\nA.\n\n## Call with Gwen, 9 May 2024\nB.", date_is_weak=False)

    assert [row["written_date"] for row in rows] == ["2024-05-02", "2024-05-09"]


def test_entries_of_a_short_log_are_chunks_of_their_own_date():
    rows = cut("About this log.\n\n## 2024-05-02\nTen boards.\n\n## 2024-05-09\nTwelve boards.")

    assert dates(rows) == [
        ("2024-01-10", "property date", True),
        ("2024-05-02", "heading", False),
        ("2024-05-09", "heading", False),
    ]
    assert [row["breadcrumb"] for row in rows] == ["Log", "Log > 2024-05-02", "Log > 2024-05-09"]
    assert rows[1]["text"] == "## 2024-05-02\nTen boards."


def test_sections_below_a_dated_heading_carry_its_date_until_it_ends():
    rows = cut("## 2024-05-02\nA.\n\n### Costs\nB.\n\n## Open questions\nC.")

    assert [row["written_date"] for row in rows] == ["2024-05-02", "2024-01-10"]
    assert rows[0]["text"] == "## 2024-05-02\nA.\n\n### Costs\nB."


def test_the_nearest_dated_heading_counts():
    rows = cut("# May 2024\nA.\n\n## 2024-05-02\nB.")

    assert [row["written_date"] for row in rows] == ["2024-05", "2024-05-02"]


def test_small_entries_of_a_long_log_never_join():
    rows = cut("## 2024-05-02\na b c\n" + "## 2024-05-09\nd e f\n## 2024-05-16\ng", limits=SMALL)

    assert [row["written_date"] for row in rows] == ["2024-05-02", "2024-05-09", "2024-05-16"]


def test_a_note_whose_headings_hold_no_second_date_stays_whole():
    (row,) = cut("# Board minutes 2024-05-02\nA.\n\n## Costs\nB.")

    assert dates([row]) == [("2024-05-02", "heading", False)]


def test_a_title_heading_gives_its_date_only_to_a_note_without_a_better_one():
    title = "Election of May 2024"
    body = f"# {title}\nA."

    (weak,) = cut(body, title=title)
    (strong,) = cut(body, title=title, date_is_weak=False)

    assert weak["written_date"] == "2024-05"
    assert dates([strong]) == [("2024-01-10", "property date", False)]


def test_an_undated_note_gives_undated_chunks():
    (row,) = cut("A.", note_date=None, date_basis="none", date_is_weak=False)

    assert dates([row]) == [(None, "none", False)]


@pytest.mark.parametrize(
    ("heading", "version", "expected"),
    [
        (None, JANUARY, JANUARY),
        ("2024-05-02", JANUARY, dt.datetime(2024, 5, 2, 23, 59, 59, 999_999, tzinfo=dt.UTC)),
        ("2023-05-02", JANUARY, JANUARY),
        ("2024-07-01", JANUARY, FIRST),  # observed before its day: readable since then
        ("2024-05-02", FIRST, FIRST),
        ("2024-05-02", FIRST.replace(year=2025), FIRST.replace(year=2025)),  # stated by a property
    ],
)
def test_an_entry_is_available_from_its_day_but_never_later_than_observed(
    heading, version, expected
):
    assert available_at(heading, version, FIRST) == expected


def test_chunks_below_a_dated_heading_become_available_with_it():
    rows = cut("A.\n\n## 2024-05-02\nB.")

    assert [row["available_at"].date().isoformat() for row in rows] == ["2024-01-10", "2024-05-02"]


STYLES = {
    "bold": "**User:** a b c d e f\n\n**Assistant:** g h i j\n\nk l\n\n**User:** m n o p",
    "bold, colon outside": "**User**: a b c d e f\n\n**Assistant**: g h i j\n\nk l\n\n**User**: m",
    "headings": "## User\na b c d e f\n\n## Assistant\ng h i j\n\nk l\n\n## User\nm n o p",
    "plain": "Topic: kilns\nUser: a b c d e f g\nAssistant: g h i j\nUser: m n o p",
    "timed": "[10:02] User: a b c d e\n[10:03] Assistant: g h i j\n[10:04] User: m n o",
    "Chinese": "User：窑炉多少钱一台呢\nAssistant：两百六十五元一套\nUser：好的谢谢你",
}


@pytest.mark.parametrize("body", STYLES.values(), ids=STYLES)
def test_a_chat_is_cut_at_turns_and_each_chunk_knows_who_speaks(body):
    rows = cut(body, kind="chat", limits=SMALL)

    assert rows[0]["speakers"] == ["User"]
    assert {name for row in rows for name in row["speakers"]} == {"User", "Assistant"}
    assert len(rows) > 1
    for row in rows:
        assert row["text"].lstrip("*#[ ").startswith(("User", "Assistant", "Topic", "10"))


def test_a_short_chat_stays_whole_and_names_its_speakers_in_order():
    (row,) = cut(STYLES["bold"], kind="chat")

    assert row["speakers"] == ["User", "Assistant"]


def test_a_long_turn_is_cut_as_text_and_keeps_its_speaker():
    turn = "\n\n".join(["a b c d e f g h"] * 4)

    rows = cut(f"**Ana:** hi\n\n**Bo:** {turn}\n\n**Ana:** bye", kind="chat", limits=SMALL)

    assert [row["speakers"] for row in rows][1:-1] == [["Bo"]] * (len(rows) - 2)
    assert len(rows) > 3
    assert max(row["tokens"] for row in rows) <= SMALL.largest_tokens


def test_a_turn_that_is_too_large_repeats_nothing_of_the_speaker_before_either():
    rows = cut(
        "**Ana:** a b c d e f g\n\n**Bo:** h\n\ni j k l m n o p q", kind="chat", limits=SMALL
    )

    assert [row["text"][:8] for row in rows][:2] == ["**Ana:**", "**Bo:** "]


def test_a_turn_repeats_nothing_of_the_speaker_before():
    rows = cut("**Ana:** a b c d e f\n\n**Bo:** g h i j k l m", kind="chat", limits=SMALL)

    assert [row["text"] for row in rows] == ["**Ana:** a b c d e f", "**Bo:** g h i j k l m"]


def test_names_in_code_are_no_speakers():
    (row,) = cut("```\n**Root:** a\n```\n\n**Ana:** hi\n\n**Bo:** hi", kind="chat")

    assert row["speakers"] == ["Ana", "Bo"]


def test_one_bold_word_does_not_hide_the_turns():
    (row,) = cut("**Important:** read this\n\nAna: hi\nBo: hi", kind="chat")

    assert row["speakers"] == ["Ana", "Bo"]


def test_headings_inside_an_answer_do_not_divide_it():
    answer = "**Bo:** a\n\n## One\nc\n\n## Two\nd"

    rows = cut(f"**Ana:** e f\n\n{answer}", kind="chat", limits=SMALL)

    assert [row["text"] for row in rows] == ["**Ana:** e f", answer]


def test_only_a_chat_has_speakers():
    (row,) = cut(STYLES["bold"])

    assert row["speakers"] == []


def test_a_chat_without_turns_is_cut_like_a_note():
    rows = cut("# A\na b c d e f g h\n\n# B\na b c d e f g h i j k", kind="chat", limits=SMALL)

    assert [row["breadcrumb"] for row in rows] == ["Log > A", "Log > B"]
    assert all(row["speakers"] == [] for row in rows)


CARD = """\
## Essence

Every [[Saturday|first Saturday]] we fire, see [the plan](https://plan.example) ![[kiln.png]].

owner:: [[Ana]]
%% check the %-sign %%
<!-- draft -->

In C++, std::map stays. ^b1

```
[[not a link]]
```
"""


def card(body: str = CARD, **properties: str) -> dict:
    values = [{"name": name, "value": value} for name, value in properties.items()]
    values = [*values, {"name": "handles", "value": "sales"}, {"name": "handles", "value": "hot"}]
    (row,) = cut(body, kind="card", limits=SMALL, aliases=["open day"], properties=values)
    return row


def test_a_card_is_one_chunk_found_by_its_names_and_summary_and_read_as_prose():
    row = card(summary="People buy a hot kiln.")

    assert row["search_text"] == "Log\nopen day, sales, hot\nPeople buy a hot kiln."
    assert row["text"] == (
        "## Essence\n\nEvery first Saturday we fire, see the plan .\n\n"
        "In C++, std::map stays.\n\n```\n[[not a link]]\n```"
    )
    assert CARD.encode()[row["byte_start"] : row["byte_end"]].decode() == CARD.strip()


def test_a_summary_may_be_a_section():
    row = card("## Summary\nA [[hot]] kiln.\n\n## Essence\nMore.")

    assert row["search_text"] == "Log\nopen day, sales, hot\nA hot kiln."


def test_a_card_without_a_summary_is_found_by_its_prose():
    assert card("Fire it.")["search_text"] == "Log\nopen day, sales, hot\nFire it."


def test_cards_say_their_source_type_and_authority_role():
    row = card(**{"source_type": "internal", "Authority-Role": "practice"})

    assert (row["source_type"], row["authority_role"]) == ("internal", "practice")


def test_a_plain_note_has_no_source_type():
    values = [{"name": "source_type", "value": "internal"}]

    assert cut("A.", properties=values)[0]["source_type"] == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[Ana]]", "Ana"),
        ("[[people/ana#Work|Ana B.]]", "Ana B."),
        ("[[ana#Work]]", "ana"),
        ("[[#Work]]", "Work"),
        ("| [[ana\\|Ana]] |", "| Ana |"),
        ("[a](b(c)d.md)", "a"),
        ("![alt](x.png)", ""),
        ("[x] task", "[x] task"),
    ],
)
def test_links_are_shown_as_a_reader_sees_them(text, shown):
    assert display_text(text) == shown
