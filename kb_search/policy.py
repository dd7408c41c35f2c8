"""Who asks, as of when, and where the passages go: what decides before anything is ranked. Pure.

A principal comes from whoever lets the question in, never from the question. What a policy leaves
out is as good as absent: it changes no score, rank, count, neighbour or message.
"""

import datetime as dt
import re
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kb_core.errors import SettingsError
from kb_core.names import name_key

if TYPE_CHECKING:  # it loads pydantic, which a question may not need
    from kb_core.settings import Settings

OWNER_NAME = "owner"
_JOINS = re.compile(r"[\s_-]+")


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
    excluded_links: tuple[str, ...] = ()  # patterns over link types and their properties
    excluded_properties: tuple[str, ...] = ()  # patterns over the properties of notes
    closed_versions: frozenset[str] = frozenset()  # of notes that kb.toml closed since the build

    def excludes(self, note_id: str) -> bool:
        """Tell whether a note is left out by name."""
        return any(fnmatchcase(note_id, pattern) for pattern in self.excluded_notes)

    def excludes_link(self, link_type: str, label: str) -> bool:
        """Tell whether links of a type, or from a property, are as good as not there."""
        names = (fold_name(link_type), fold_name(label))
        return any(_fits(name, self.excluded_links) for name in names) or self.excludes_property(
            label
        )

    def excludes_property(self, name: str) -> bool:
        """Tell whether what a property says is as good as not there."""
        return _fits(fold_name(name), self.excluded_properties)


def policy_for(
    settings: "Settings", name: str = OWNER_NAME, as_of: dt.datetime | None = None
) -> Policy:
    """Return what kb.toml lets somebody ask. Raises SettingsError for an unknown principal."""
    return Policy(
        principal=principal_named(name, settings),
        as_of=as_of,
        excluded_notes=settings.policy.exclude_notes,
        excluded_links=settings.policy.exclude_links,
        excluded_properties=settings.policy.exclude_properties,
    )


def fold_name(name: str) -> str:
    """Fold the name of a link type, a property or a kind: `Depends on` is `DEPENDS_ON`."""
    return _JOINS.sub("_", name_key(name)).strip("_")


def _fits(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, fold_name(pattern)) for pattern in patterns)


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
