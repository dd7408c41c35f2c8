"""Which chunk rows of a folder a policy lets take part: the versions of then, open to who asks.

Pure: the same folder, policy and instant give the same mask.
"""

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from kb_search.folder import Folder
from kb_search.policy import Policy
from kb_search.versions import versions_at

Mask = NDArray[np.bool_]
MICROSECOND = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def micros(instant: dt.datetime) -> int:
    """Return an instant as the tables store it: microseconds since 1970."""
    return (instant - _EPOCH) // MICROSECOND


def readable(folder: Folder, policy: Policy, now: int) -> tuple[Mask, int | None]:
    """Return the rows that take part at `now`, and when more would if time alone went on.

    Both instants are microseconds since 1970. With an as-of instant, nothing comes by waiting.
    """
    at = now if policy.as_of is None else micros(policy.as_of)
    mask = _of_then(folder, policy, at) & _open(folder, policy)
    times = folder.available_at
    later = times[mask & (times > at)]
    horizon = int(later.min()) if policy.as_of is None and len(later) else None
    return mask & (times <= at), horizon


def _of_then(folder: Folder, policy: Policy, at: int) -> Mask:
    if policy.as_of is None:
        return folder.rows.is_current
    chosen = versions_at(folder.versions, at)
    return np.array([version in chosen for version in folder.version_ids], np.bool_)


def _open(folder: Folder, policy: Policy) -> Mask:
    """Return the rows that are open to the principal and the destination."""
    mask = np.ones(len(folder.rows.docs), np.bool_)
    if not policy.principal.reads_everything:
        mask &= _of_principal(folder, policy)
    if policy.is_sent:
        mask &= folder.may_leave
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
    return mask & ~closed[rows.notes]
