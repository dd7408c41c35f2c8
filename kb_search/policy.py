"""Who asks, as of when, and where the passages go: what decides before anything is ranked. Pure.

A principal comes from whoever lets the question in, never from the question. What a policy leaves
out is as good as absent: it changes no score, rank, count, neighbour or message.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kb_core.errors import SettingsError

if TYPE_CHECKING:  # it loads pydantic, which a question may not need
    from kb_core.settings import Settings

OWNER_NAME = "owner"


@dataclass(frozen=True)
class Principal:
    """Who asks: the tenants whose notes they may read, and the reader lists they stand on."""

    name: str
    tenants: frozenset[str] | None = None  # None: every tenant
    groups: frozenset[str] | None = None  # None: every list

    @property
    def reads_everything(self) -> bool:
        """Tell whether no note is closed to them."""
        return self.tenants is None and self.groups is None

    def may_read(self, tenant: str, readers: Collection[str]) -> bool:
        """Tell whether a note of this tenant and these readers is open; no readers: everybody."""
        if self.tenants is not None and tenant not in self.tenants:
            return False
        return not readers or self.groups is None or not self.groups.isdisjoint(readers)


OWNER = Principal(OWNER_NAME)


@dataclass(frozen=True)
class Policy:
    """What may take part in answering one question."""

    principal: Principal = OWNER
    as_of: dt.datetime | None = None  # None: now
    is_sent: bool = False  # the passages go to a hosted model
    excluded_notes: tuple[str, ...] = ()  # patterns over note ids

    def excludes(self, note_id: str) -> bool:
        """Tell whether a note is left out by name."""
        return any(fnmatchcase(note_id, pattern) for pattern in self.excluded_notes)


def principal_named(name: str, settings: "Settings") -> Principal:
    """Return the owner or a principal of kb.toml. Raises SettingsError for an unknown name."""
    if name == OWNER_NAME:
        return OWNER
    found = settings.principals.get(name)
    if found is None:
        known = ", ".join(sorted({OWNER_NAME, *settings.principals}))
        raise SettingsError(
            f"No principal {name!r} in kb.toml. There are: {known}. Add [principals.NAME] with "
            "its tenants and groups."
        )
    return Principal(name, frozenset(found.tenants), frozenset((*found.groups, name)))
