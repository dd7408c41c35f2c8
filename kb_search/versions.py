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
    chosen = set()
    for versions in notes:
        known = [each for each in versions if each.available_at <= at]
        if not known:
            continue
        newest = max(known, key=lambda each: each.number)
        follows = {each.observed_at for each in versions if each.number > newest.number}
        is_gone = (
            newest.observed_until is not None
            and newest.observed_until <= at
            and newest.observed_until not in follows
        )
        if not is_gone:
            chosen.add(newest.version_id)
    return chosen


def by_note(rows: Iterable[tuple[str, Version]]) -> list[list[Version]]:
    """Group versions by note."""
    found: dict[str, list[Version]] = defaultdict(list)
    for note_id, version in rows:
        found[note_id].append(version)
    return list(found.values())
