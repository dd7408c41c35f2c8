"""What the board says of links and names. Made anew only when the tables it is made of changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kb_serve.reports.catalogue import OF_NOTES, make_sections
from kb_serve.reports.present import Present
from kb_serve.reports.section import Kind, Section
from resources.home import Home

SHOWN_ROWS = 10
# Reading all texts takes about 1 s of CPU per 10 MB: a page must not wait for more than two.
_MOST_BYTES = 20_000_000


@dataclass(frozen=True)
class Upkeep:
    """The reports that a page can show at once, and those that take too long for one."""

    sections: Sequence[Section] = ()
    left_out: Sequence[Kind] = ()

    @property
    def found(self) -> list[Section]:
        """Return the sections that found something."""
        return [section for section in self.sections if section.rows]

    @property
    def clean(self) -> list[Section]:
        """Return the sections that found nothing."""
        return [section for section in self.sections if not section.rows]


def upkeep_of(home: Home) -> Upkeep:
    """Return what the home's links and names want; nothing before links were resolved.

    Raises StoreError when a table is damaged.
    """
    present = Present(home)
    if not home.store.partitions("note_links"):
        return Upkeep()
    is_large = present.note_bytes > _MOST_BYTES
    kinds = [kind for kind in OF_NOTES if not (is_large and kind.reads_all_texts)]
    sections = _sections(home.root, present.state, tuple(kind.name for kind in kinds))
    return Upkeep(sections, [kind for kind in OF_NOTES if kind not in kinds])


@lru_cache(maxsize=1)
def _sections(root: Path, _state: str, names: tuple[str, ...]) -> tuple[Section, ...]:
    """Make the sections; equal states are made once. The tables themselves are not kept."""
    kinds = [kind for kind in OF_NOTES if kind.name in names]
    return tuple(make_sections(Present(Home.open(root)), kinds))
