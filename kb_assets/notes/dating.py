"""When a note was written, and from when on it could be read. Pure.

A date somebody wrote down is strong; a file's own time is weak, because a copy or a sync sets
it. The rule that was used is recorded with the date.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from kb_assets.notes.findings import DATE_UNREADABLE, FILE_TIME_DROPPED, Finding
from kb_assets.notes.kinds import values_of
from kb_assets.notes.yaml_strings import Property
from kb_core.dates import DailyFormat, find_date, instant_of, last_instant, parse_date

FIRST_COMMIT = "first commit"  # what the journal calls it too


class NoteDate(NamedTuple):
    """A partial date, the rule that gave it, and whether it is only the file's time."""

    value: str | None
    basis: str  # property NAME, file name, first commit, file time, none
    is_weak: bool
    findings: tuple[Finding, ...] = ()


def note_date(
    path: str,
    properties: Sequence[Property],
    names: Sequence[str],
    daily: Sequence[DailyFormat],
    first_commit: dt.datetime | None,
    file_time: dt.datetime | None,
) -> NoteDate:
    """Date a note by its properties, its file name (without ending), the commit that brought it,
    its file's time, in turn.

    Without a file time, because that of its listing said nothing, a note that has no other date
    stays undated, and a finding says why.
    """
    stated, findings = _stated_date(properties, names)
    if stated:
        return stated._replace(findings=findings)
    named = _date_in_name(path, daily)
    if named:
        return NoteDate(named, "file name", False, findings)
    if first_commit is not None:
        return NoteDate(_day(first_commit), FIRST_COMMIT, False, findings)
    if file_time is not None:
        return NoteDate(_day(file_time), "file time", True, findings)
    return NoteDate(None, "none", False, (*findings, Finding(FILE_TIME_DROPPED)))


def available_at(
    date: NoteDate,
    properties: Sequence[Property],
    name: str,
    observed_at: dt.datetime,
    is_first_listing: bool,
) -> dt.datetime:
    """Return from which instant on an as-of question sees this version.

    What was there when a vault was first listed is as old as its strong date says, but never
    newer than that listing: a note that announces next month can be read today. Every later
    version was first seen when it was observed. A property may state the instant.
    """
    stated = (instant_of(_unlinked(each.value)) for each in values_of(properties, name.lower()))
    known = next((instant for instant in stated if instant is not None), None)
    if known is not None:
        return known
    if is_first_listing and date.value is not None and not date.is_weak:
        return min(last_instant(date.value), observed_at)
    return observed_at


def _day(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).date().isoformat()


def _stated_date(
    properties: Sequence[Property], names: Sequence[str]
) -> tuple[NoteDate | None, tuple[Finding, ...]]:
    findings: list[Finding] = []
    for name in names:
        values = [_unlinked(each.value) for each in values_of(properties, name.lower())]
        dates = [parse_date(value) or find_date(value) for value in values]
        found = next((date for date in dates if date), None)
        if found:
            return NoteDate(found, f"property {name}", False), tuple(findings)
        if values:
            findings.append(Finding(DATE_UNREADABLE, f"property {name}"))
    return None, tuple(findings)


def _date_in_name(path: str, daily: Sequence[DailyFormat]) -> str | None:
    dates = (form.date_of(path) for form in daily)
    return next((date for date in dates if date), None) or find_date(path.rpartition("/")[2])


def _unlinked(value: str) -> str:
    """Take `[[2024-03-14]]`, a link to a daily note, for its date."""
    return value.strip().removeprefix("[[").removesuffix("]]")
