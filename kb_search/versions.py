"""Which version of each note stood at an instant. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Version(NamedTuple):
    """A row of the notes' table, as far as time goes. Instants in microseconds since 1970."""

    version_id: str
    number: int
    observed_at: int
    observed_until: int | None
    available_at: int


def versions_at(notes: Iterable[Sequence[Version]], at: int) -> set[str]:
    """Return the versions that stood at an instant: of each note the newest that was available.

    A note that was gone then has none: a version ends without a successor of that moment.
    """
    standing = (standing_at(versions, at) for versions in notes)
    return {version.version_id for version in standing if version}


def standing_at(versions: Sequence[Version], at: int) -> Version | None:
    """Return which of a note's versions stood at an instant; None if none did, or none any more."""
    known = [each for each in versions if each.available_at <= at]
    if not known:
        return None
    newest = max(known, key=lambda each: each.number)
    # The note may have gone with a later version, which nobody could read yet.
    seen = [each for each in versions if each.number >= newest.number and each.observed_at <= at]
    ends = [each.observed_until for each in sorted(seen, key=lambda each: each.number)]
    is_gone = bool(ends) and ends[-1] is not None and ends[-1] <= at
    return None if is_gone else newest


def present(versions: Sequence[Version]) -> Version | None:
    """Return the version of a note that has no end; None for a note that is gone."""
    return next((each for each in versions if each.observed_until is None), None)


def by_note(rows: Iterable[tuple[str, Version]]) -> list[list[Version]]:
    """Group versions by note."""
    found: dict[str, list[Version]] = defaultdict(list)
    for note_id, version in rows:
        found[note_id].append(version)
    return list(found.values())
