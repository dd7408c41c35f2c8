"""Whether a passage of a build is still open by the folder rules as kb.toml has them now.

What a note says of itself was read by the build and goes before its folder's rule, then as now; so
only where a rule has moved since does it matter which of the two a note's access came from. Pure
but for reading the build's own notes then.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kb_core.folder_rules import is_listed, is_ruled_private, ruled_readers, ruled_tenant
from kb_search.build import PublishedBuild
from kb_search.folder import Folder
from kb_search.policy import Policy
from kb_search.view import View

if TYPE_CHECKING:  # it loads pydantic, which a question may not need
    from kb_core.settings import Settings

_COLUMNS = ["version_id", "note_id", "version", "properties", "text", "body_start"]


def open_view(
    build: PublishedBuild,
    folders: Sequence[str] | None,
    policy: Policy,
    settings: "Settings",
    now: int | None = None,
) -> View:
    """Open a view of a build without what the rules closed since; else as `View.over`."""
    rules = LiveRules(settings, policy)
    if rules.may_close:
        closed = rules.closed_in(build, View.over(build, None, policy, now))
        policy = replace(policy, closed_versions=closed) if closed else policy
    return View.over(build, folders, policy, now)


class LiveRules:
    """The rules of some settings, for one policy."""

    def __init__(self, settings: "Settings", policy: Policy) -> None:
        self._settings = settings
        self._policy = policy
        had = frozenset(policy.excluded_notes)
        added = (each for each in settings.policy.exclude_notes if each not in had)
        self._excluded_since = Policy(excluded_notes=tuple(added))
        self._ruled: dict[str, _Ruled] = {}
        self._stated: dict[str, Mapping[str, _Stated]] = {}

    @property
    def may_close(self) -> bool:
        """Tell whether the rules could close anything to this policy."""
        is_restricted = self._policy.is_sent or not self._policy.principal.reads_everything
        return is_restricted or self._excluded_since.excluded_notes != ()

    def closed_in(self, build: PublishedBuild, view: View) -> frozenset[str]:
        """Return the versions of notes that the rules of now keep from a view."""
        masks = dict(zip(view.folders, view.masks, strict=True))
        return frozenset(
            folder.version_ids[row]
            for folder in build.folders
            for row in (
                *(_first_rows(folder, masks[folder]) if folder in masks else ()),
                *_by_version(folder, view.remembered(folder)),
            )
            if not self.is_open(folder, row)
        )

    def is_open(self, folder: Folder, row: int) -> bool:
        """Tell whether a chunk row of the policy's view may be handed over by the rules of now."""
        note_id = folder.rows.note_id(row)
        ruled = self._ruled_in(note_id)
        if self._excluded_since.excludes(note_id) or (self._policy.is_sent and not ruled.may_go):
            return False
        if self._policy.principal.reads_everything:
            return True
        then = folder.access[row], folder.version_ids[row]
        if folder.rows.is_current[row]:
            return self._may_read(folder, ruled, *then)
        now = folder.last_access[note_id], note_id  # who closes a note closes what it said before
        return all(self._may_read(folder, ruled, *each) for each in (then, now))

    def _ruled_in(self, note_id: str) -> "_Ruled":
        """Return what the rules say of a note, which is the same for all of one folder."""
        place = note_id.rpartition("/")[0]
        if place not in self._ruled:
            rules = self._settings.folders
            self._ruled[place] = _Ruled(
                ruled_tenant(note_id, rules, self._settings.notes.tenant),
                tuple(ruled_readers(note_id, rules)),
                is_listed(note_id, self._settings.egress.allow)
                and not is_ruled_private(note_id, rules),
            )
        return self._ruled[place]

    def _may_read(
        self, folder: Folder, ruled: "_Ruled", access: tuple[str, ...], version: str
    ) -> bool:
        """Tell it by what a build found; `version` is one, or a note for its newest."""
        tenant, readers = access[0], access[1:]
        if (tenant, readers) != (ruled.tenant, ruled.readers):  # a rule moved, or the note says so
            stated = self._stated_in(folder).get(version, _NOTHING)
            tenant = tenant if stated.is_tenant(tenant) else ruled.tenant
            readers = readers if stated.are_readers(readers) else ruled.readers
        return self._policy.principal.may_read(tenant, readers)

    def _stated_in(self, folder: Folder) -> "Mapping[str, _Stated]":
        """Return what versions say of their access, by their ids and, if newest, their notes."""
        if folder.partition not in self._stated:
            rows = sorted(folder.table("notes", _COLUMNS).to_pylist(), key=lambda r: r["version"])
            found: dict[str, _Stated] = {}
            for row in rows:
                front_matter = row["text"].encode("utf-8", "surrogatepass")[: row["body_start"]]
                stated = _Stated(row["properties"], front_matter)
                found |= {row["version_id"]: stated, row["note_id"]: stated}
            self._stated[folder.partition] = found
        return self._stated[folder.partition]


class _Ruled(NamedTuple):
    tenant: str
    readers: tuple[str, ...]
    may_go: bool  # to a hosted model


class _Stated:
    """What a version's front matter says of its own access."""

    def __init__(self, properties: Sequence[Mapping[str, Any]], front_matter: bytes) -> None:
        self._properties = properties
        self._front_matter = front_matter

    def is_tenant(self, tenant: str) -> bool:
        """Tell whether a tenant is the note's own word."""
        return self._says("tenant") and next(iter(self._values("tenant")), "").strip() == tenant

    def are_readers(self, readers: Sequence[str]) -> bool:
        """Tell whether a list of readers is the note's own word."""
        said = {each for value in self._values("readers") for each in (value, *value.split(","))}
        names = {each.strip() for each in said}
        return self._says("readers") and bool(readers) and names.issuperset(readers)

    def _says(self, name: str) -> bool:
        return bool(_line(name).search(self._front_matter))

    def _values(self, name: str) -> list[str]:
        return [each["value"] for each in self._properties if each["name"].lower() == name]


_NOTHING = _Stated((), b"")


@cache
def _line(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"^[\"']?" + name.encode() + rb"[\"']?[ \t]*:", re.IGNORECASE | re.MULTILINE)


def _by_version(folder: Folder, mask: np.ndarray) -> list[int]:
    """Return one row of each version under a mask."""
    return list({folder.version_ids[row]: row for row in np.flatnonzero(mask).tolist()}.values())


def _first_rows(folder: Folder, mask: np.ndarray) -> list[int]:
    """Return the first of each note's rows under a mask: a view has one version of each."""
    rows = np.flatnonzero(mask)
    _, firsts = np.unique(folder.rows.notes[rows], return_index=True)
    found: list[int] = rows[firsts].tolist()
    return found


class LiveSettings:
    """A home's settings as its kb.toml has them now, read again when that file has changed."""

    def __init__(self, settings: "Settings", home: Path | None = None) -> None:
        self._settings = settings
        self._file = home / "kb.toml" if home else None
        self._stamp = self._look()

    def now(self) -> "Settings":
        """Return them. Raises SettingsError when the file can no longer be used."""
        stamp = self._look()
        if self._file and stamp != self._stamp:
            from kb_core.settings import read_settings

            self._settings = read_settings(self._file.parent)
            self._stamp = stamp
        return self._settings

    def _look(self) -> tuple[int, ...]:
        try:
            found = self._file.stat() if self._file else None
        except OSError:
            return ()
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found else ()
