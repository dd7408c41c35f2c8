"""Which chunk rows of a folder a policy lets take part: the versions of then, open to who asks.

Pure: the same folder, policy and instant give the same mask.
"""

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from kb_search.folder import Folder
from kb_search.policy import Policy
from kb_search.versions import present, standing_at, versions_at

Mask = NDArray[np.bool_]
MICROSECOND = dt.timedelta(microseconds=1)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def micros(instant: dt.datetime) -> int:
    """Return an instant as the tables store it: microseconds since 1970."""
    return (instant - EPOCH) // MICROSECOND


def readable(folder: Folder, policy: Policy, now: int) -> tuple[Mask, int | None]:
    """Return the rows that take part at `now`, and when more would if time alone went on.

    Both instants are microseconds since 1970. With an as-of instant, nothing comes by waiting.
    """
    at = now if policy.as_of is None else micros(policy.as_of)
    is_open = _open(folder, policy)
    times = folder.available_at
    later = times[is_open & _waiting(folder, at) & (times > at)]
    horizon = int(later.min()) if policy.as_of is None and len(later) else None
    return _of_then(folder, policy, at) & is_open & (times <= at), horizon


def remembered(folder: Folder, policy: Policy, now: int, in_view: Mask) -> Mask:
    """Return the rows of older versions that take part in what was said before.

    `in_view` are the folder's rows that can be read. A note that cannot be read is not remembered
    either; one that is gone, or left empty, is.
    """
    at = now if policy.as_of is None else micros(policy.as_of)
    rows = folder.rows
    is_older, is_over = _older(folder, policy, at)
    if not is_older.any():
        return is_older
    is_kept = is_over
    is_kept[rows.notes[in_view]] = True
    return is_older & is_kept[rows.notes] & (folder.available_at <= at) & _open(folder, policy)


def _older(folder: Folder, policy: Policy, at: int) -> tuple[Mask, Mask]:
    """Return the rows of versions before the standing ones, and the notes that none stands of.

    Those include a note whose standing version has no rows, but never for another machine:
    nothing says whether that version may be sent there.
    """
    rows = folder.rows
    is_over = np.zeros(len(rows.note_ids), np.bool_)
    if policy.as_of is None and rows.is_current.all():
        return np.zeros(len(rows.docs), np.bool_), is_over
    with_rows = frozenset(folder.version_ids)
    found = {}
    for versions in folder.versions:
        standing = present(versions) if policy.as_of is None else standing_at(versions, at)
        if standing is not None and standing.available_at > at:  # it is still to come
            standing = standing_at(versions, at)
        is_left = standing is None or not (policy.is_sent or standing.version_id in with_rows)
        for each in versions:
            found[each.version_id] = (standing is None or each.number < standing.number, is_left)
    both = np.array([found[version] for version in folder.version_ids], np.bool_).reshape(-1, 2)
    is_over[rows.notes[both[:, 1]]] = True
    return both[:, 0], is_over


def _of_then(folder: Folder, policy: Policy, at: int) -> Mask:
    is_current = folder.rows.is_current
    is_waiting = np.ones_like(is_current) if policy.as_of is not None else _waiting(folder, at)
    if not is_waiting.any():
        return is_current
    chosen = versions_at(folder.versions, at)
    stood = np.array([version in chosen for version in folder.version_ids], np.bool_)
    return np.where(is_waiting, stood, is_current)


def _waiting(folder: Folder, at: int) -> Mask:
    """Return the rows of notes whose present version is still to come: an earlier one stands."""
    rows = folder.rows
    waits = np.zeros(len(rows.note_ids), np.bool_)
    waits[rows.notes[rows.is_current & (folder.available_at > at)]] = True
    return waits[rows.notes]


def _open(folder: Folder, policy: Policy) -> Mask:
    """Return the rows that are open to the principal and the destination."""
    mask = np.ones(len(folder.rows.docs), np.bool_)
    if not policy.principal.reads_everything:
        mask &= _of_principal(folder, policy)
    if policy.is_sent:
        mask &= folder.may_leave
    if policy.closed_versions:
        is_closed = [version in policy.closed_versions for version in folder.version_ids]
        mask &= ~np.array(is_closed, np.bool_)
    if policy.excluded_notes:
        is_kept = [not policy.excludes(note) for note in folder.rows.note_ids.to_pylist()]
        mask &= np.array(is_kept, np.bool_)[folder.rows.notes]
    return mask


def _of_principal(folder: Folder, policy: Policy) -> Mask:
    """Let a version be read by whom it was open to then, if its note is open to them now too.

    Who closes a note closes what it said before.
    """
    allowed: dict[tuple[str, ...], bool] = {}
    for tenant, *readers in set(folder.access):
        allowed[(tenant, *readers)] = policy.principal.may_read(tenant, readers)
    mask = np.array([allowed[each] for each in folder.access], np.bool_)
    rows = folder.rows
    closed = np.zeros(len(rows.note_ids), np.bool_)
    closed[rows.notes[rows.is_current & ~mask]] = True
    for note in _without_present(folder):  # gone or emptied: deleting a note opens nothing
        tenant, *readers = folder.last_access[rows.note_ids[note].as_py()]
        closed[note] = not policy.principal.may_read(tenant, readers)
    return mask & ~closed[rows.notes]


def _without_present(folder: Folder) -> list[int]:
    """Return the notes that have no row of the present."""
    is_there = np.zeros(len(folder.rows.note_ids), np.bool_)
    is_there[folder.rows.notes[folder.rows.is_current]] = True
    missing: list[int] = np.flatnonzero(~is_there).tolist()
    return missing
