"""What a report is: a kind that knows how to find its rows and how they read, and what it found.

Rows are plain values for programs; `cells` words one of them for people. Names stand in both as
they are: whoever shows them makes them safe.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kb_serve.reports.grouping import Row
from kb_serve.reports.link_names import stem
from kb_serve.reports.present import Present

_SHOWN_NAMES = 2


def _no_remark(_rows: Sequence[Row]) -> str:
    return ""


@dataclass(frozen=True)
class Kind:
    """One kind of report."""

    name: str  # a key; `command_name` is how it is asked for
    title: str
    advice: str  # what to do about it
    columns: tuple[str, ...]
    find: Callable[[Present], list[Row]]
    cells: Callable[[Row], Sequence[Any]]
    remark: Callable[[Sequence[Row]], str] = _no_remark
    reads_all_texts: bool = False

    @property
    def command_name(self) -> str:
        """Return the name as `kb check --only` takes it."""
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class Section:
    """What one kind of report found."""

    kind: Kind
    rows: Sequence[Row]

    @property
    def remark(self) -> str:
        """Say what the rows have in common, if it is worth a sentence."""
        return self.kind.remark(self.rows)

    def shown(self, most: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Return the columns and the first rows, or all of them, in words.

        A column that says nothing in any of these rows is left out.
        """
        cells = [self.kind.cells(row) for row in self.rows[:most]]
        said = [at for at in range(len(self.kind.columns)) if any(row[at] != "" for row in cells)]
        return [self.kind.columns[at] for at in said], [[row[at] for at in said] for row in cells]


def few(notes: Sequence[str], name: Callable[[str], str] = stem) -> str:
    """Word a list of notes: the first two, by name or as `name` words each, and how many more.

    >>> few(["Work/A.md", "B.md", "C.md"])
    'A, B and 1 more'
    """
    shown = ", ".join(name(note) for note in notes[:_SHOWN_NAMES])
    more = len(notes) - _SHOWN_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
