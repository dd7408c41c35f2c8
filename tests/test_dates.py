"""Partial dates: what is read, what is refused, and how they are ordered."""

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.dates import (
    compile_daily_format,
    find_date,
    instant_of,
    is_later,
    last_instant,
    parse_date,
)
from kb_core.errors import ContractError


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024", "2024"),
        ("2024-03", "2024-03"),
        ("2024-03-14", "2024-03-14"),
        ("2024-03-14T10:00:00Z", "2024-03-14"),
        ("2024-03-14 10:00", "2024-03-14"),
        ("2024-03-14T23:30:00-05:00", "2024-03-14"),
        ("2024-3-4", "2024-03-04"),
        ("2024/03/14", "2024-03-14"),
        ("20240314", "2024-03-14"),
        ("202403141530", "2024-03-14"),
        ("20260105_11:00", "2026-01-05"),
        ("1595952505024", "2020-07-28"),
        ("14.03.2024", "2024-03-14"),
        ("25/12/2024", "2024-12-25"),
        ("04/04/2024", "2024-04-04"),
        ("2 May 2024", "2024-05-02"),
        ("2nd May 2024", "2024-05-02"),
        ("May 2, 2024", "2024-05-02"),
        ("Thursday, 14 March 2024", "2024-03-14"),
        ("March 14th, 2024 at 10:30", "2024-03-14"),
        ("14-Mar-2019", "2019-03-14"),
        ("March 2024", "2024-03"),
        ("Sept. 2024", "2024-09"),
        ("14 de marzo de 2024", "2024-03-14"),
        ("marzo de 2024", "2024-03"),
        ("14. März 2024", "2024-03-14"),
        ("Dezember 2024", "2024-12"),
        ("2024年3月14日", "2024-03-14"),
        ("2024年3月", "2024-03"),
        ("2024年", "2024"),
        ("２０２４-０３-１４", "2024-03-14"),
        ("  2024-03-14\n", "2024-03-14"),
    ],
)
def test_a_date_is_read_with_the_precision_it_was_written_in(text, date):
    assert parse_date(text) == date


@pytest.mark.parametrize(
    "text",
    [
        "03/04/2024",  # March or April, depending on who reads it
        "2026-02-30",
        "31 June 2024",
        "2024-13",
        "2024-00-10",
        "0 May 2024",
        "2024-03-14T25:99",
        "Q3 2024",
        "2024-Q3",
        "2024-03-14 Board minutes",
        "03-14",
        "soon",
        "",
        "{{date}}",
        "9" * 500,
    ],
)
def test_what_is_no_single_date_is_none(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-03-14 Board minutes", "2024-03-14"),
        ("Board minutes 2024-03-14-2", "2024-03-14"),
        ("minutes_2024_03_14", "2024-03-14"),
        ("会议2024-03-14", "2024-03-14"),
        ("IMG_20240314_101010", "2024-03-14"),
        ("Week of 2 May 2024", "2024-05-02"),
        ("Log 2024-05", "2024-05"),
        ("Notes, March 2024 (draft)", "2024-03"),
        ("2024-03-14 to 2024-03-20", "2024-03-14"),
        ("2024", "2024"),
        ("Budget 2024", None),
        ("CVE-2024-12345", None),
        ("Version 1.2024-03", None),
        ("31 June 2024 party", None),
        ("Dismay 2024", None),
        ("PEP 3107", None),
        ("Q3 2024 review", None),
        ("Part 1234-05-06", None),  # years far away are numbers
    ],
)
def test_a_date_is_found_among_other_words(text, date):
    assert find_date(text) == date


@pytest.mark.parametrize(
    ("fmt", "path", "date"),
    [
        ("YYYY-MM-DD", "Daily/2024-03-14", "2024-03-14"),
        ("YYYY/MM/YYYY-MM-DD", "Log/2024/03/2024-03-14", "2024-03-14"),
        ("YYYY/MM/YYYY-MM-DD", "Log/2024/03/2023-03-14", None),
        ("dddd, MMMM Do YYYY", "Thursday, March 14th 2024", "2024-03-14"),
        ("[Log] DD.MM.YY", "Log 14.03.24", "2024-03-14"),
        ("D MMM YYYY", "4 Mär 2024", "2024-03-04"),
        ("M-D-YYYY", "3-4-2024", "2024-03-04"),
        ("YYYY-MM", "2024-03", "2024-03"),
        ("gggg-[W]ww", "2024-W11", None),
        ("YYYY-MM-DD", "2024-02-30", None),
        ("YYYY-MM-DD", "2024-03-14 minutes", None),
        ("", "x", None),
    ],
)
def test_a_daily_note_is_dated_by_the_vaults_own_format(fmt, path, date):
    assert compile_daily_format(fmt).date_of(path) == date


def test_a_period_ends_with_its_last_microsecond():
    end = dt.datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=dt.UTC)

    assert last_instant("2024-02") == last_instant("2024-02-29") == end
    assert last_instant("2024") == dt.datetime(2024, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC)


@pytest.mark.parametrize("text", ["", "2024-3", "2024-13", "2023-02-29", "2024-03-14T10:00"])
def test_the_end_of_no_date_is_an_error_without_the_text(text):
    with pytest.raises(ContractError) as error:
        last_instant(text)

    assert not text or text not in str(error.value)


def test_an_instant_keeps_its_time_and_a_date_becomes_its_end():
    assert instant_of("2024-03-14T10:00+02:00") == dt.datetime(2024, 3, 14, 8, tzinfo=dt.UTC)
    assert instant_of("2024-03") == last_instant("2024-03")
    assert instant_of("March 14, 2024 at 10:30") == last_instant("2024-03-14")
    assert instant_of("soon") is None


def test_dates_are_compared_at_the_coarser_precision():
    assert is_later("2024-03-15", "2024-03-14")
    assert is_later("2025", "2024-12-31")
    assert not is_later("2024-03-14", "2024-03")
    assert not is_later("2024-03", "2024-03-14")


@settings(deadline=None)
@given(st.text(max_size=60) | st.text("0123456789-./ TMayrch年月日", max_size=30))
def test_whatever_is_read_is_a_real_period(text):
    for date in (parse_date(text), find_date(text)):
        assert date is None or last_instant(date).tzinfo is dt.UTC


@settings(deadline=None)
@given(st.dates(dt.date(1900, 1, 1), dt.date(2199, 12, 31)))
def test_every_day_is_read_back_from_every_way_to_write_it(day):
    ways = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%Y%m%d", "%Y年%m月%d日")

    assert {parse_date(day.strftime(way)) for way in ways} == {day.isoformat()}
    assert {find_date(f"Log {day.strftime(way)} x") for way in ways} == {day.isoformat()}


@settings(deadline=None)
@given(st.text("YMDdoQgWw[]-/. LogHm", max_size=20), st.text("0123456789-/ Lo", max_size=20))
def test_any_daily_format_compiles_and_reads_without_an_error(fmt, path):
    compile_daily_format(fmt).date_of(path)
