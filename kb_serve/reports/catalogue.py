"""Every report, in the order it is shown, and how to make some or all of them."""

from collections.abc import Sequence

from kb_serve.reports.of_files import FINDINGS, FOLDERS, NOT_READ, UNREAD_NOTES
from kb_serve.reports.of_notes import (
    ALIASES,
    AMBIGUOUS,
    CARDS,
    DANGLING,
    DUPLICATES,
    HEADINGS,
    MENTIONS,
    ORPHANS,
)
from kb_serve.reports.of_reading import PROPOSALS, READINGS
from kb_serve.reports.present import Present
from kb_serve.reports.section import Kind, Section

OF_NOTES = (DANGLING, ALIASES, AMBIGUOUS, HEADINGS, ORPHANS, MENTIONS, DUPLICATES, CARDS)
ALL = (FOLDERS, NOT_READ, UNREAD_NOTES, *OF_NOTES, FINDINGS, READINGS, PROPOSALS)


def make_sections(present: Present, kinds: Sequence[Kind]) -> list[Section]:
    """Make some reports, in this order."""
    return [Section(kind, kind.find(present)) for kind in kinds]
