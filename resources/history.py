"""The journal of note versions: append-only, an input of every build like the vault itself.

Every content a note ever had is kept with when it was seen, so that a later edit does not destroy
what was said before, and a rebuild gives the same bytes. Rows of one listing carry its start as
`observed_at`; a listing that was interrupted goes on with it. Segments are Parquet files named by
content: one is there whole or not at all.

The layout is `versions/<partition>/<hash>.parquet`, `listing.json` (the listing under way or the
last one), `pruned.json` (folders the user let go), and nothing that names this machine, so that a
copied journal gives the same build.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kb_core.contracts import VERSIONS
from kb_core.errors import StoreError
from kb_core.ids import bytes_hash, combined
from resources.atomic_files import write_atomically
from resources.seals import sealed, unsealed
from resources.tables import read_parquet

# Nobody else knows what a note said before: losing the journal is losing that.
_NOT_MADE_ANEW = (
    "It holds earlier versions of notes and cannot be made anew: restore data/history from a "
    "backup. Only if there is none, move the file away; what it held is then forgotten."
)
_GOES_ON_WITHIN = dt.timedelta(days=1)
_PRUNED = "pruned.json"


@dataclass(frozen=True)
class Listing:
    """One look at the whole vault."""

    started: dt.datetime  # UTC
    is_first: bool
    drop_file_times: bool  # over half of the notes share one file day: a clone, a sync
    waiting: tuple[str, ...]  # partitions it has still to observe
    unseen: tuple[str, ...] = ()  # folders the vault had at first that nobody has observed yet

    def to_json(self) -> dict[str, Any]:
        """Return plain values; the start as ISO text."""
        return {**asdict(self), "started": self.started.isoformat()}

    def waits_for(self, partition: str, now: dt.datetime) -> bool:
        """Tell whether a look at this folder now still belongs to the listing.

        What is looked at a day later is another look: an edit made in between must not carry
        the old instant.
        """
        return partition in self.waiting and now - self.started < _GOES_ON_WITHIN

    def is_first_look_at(self, partition: str) -> bool:
        """Tell whether a look at this folder is the vault's first at it."""
        return partition in self.unseen or (self.is_first and partition in self.waiting)


class History:
    """The journal of one home."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def listing(self) -> Listing | None:
        """Return the listing under way, or the last one (nothing waiting), or None."""
        path = self.root / "listing.json"
        try:
            values = unsealed(path.read_bytes())
            return Listing(
                started=dt.datetime.fromisoformat(values["started"]),
                is_first=values["is_first"],
                drop_file_times=values["drop_file_times"],
                waiting=tuple(values["waiting"]),
                unseen=tuple(values["unseen"]),
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise StoreError(
                f"{path} is damaged. Restore data/history from a backup: it cannot be made anew."
            ) from None

    def begin(
        self,
        now: dt.datetime,
        partitions: Iterable[str],
        *,
        drop_file_times: bool,
        only: Iterable[str] | None = None,
    ) -> Listing:
        """Start a listing of the vault, or return the one that was interrupted.

        `partitions` are all there are; with `only`, the others are left for another time.
        """
        last = self.listing()
        if last and any(last.waits_for(partition, now) for partition in last.waiting):
            return last
        everything = set(partitions)
        waiting = everything if only is None else everything & set(only)
        listing = Listing(
            started=after(now, last),
            is_first=last is None,
            drop_file_times=drop_file_times,
            waiting=tuple(sorted(waiting)),
            unseen=_still_unseen(last, everything - waiting),
        )
        return self._save(listing)

    def finish(self, partition: str) -> None:
        """Note that this partition has been observed."""
        listing = self.listing()
        if listing and partition in (*listing.waiting, *listing.unseen):
            waiting, unseen = _without(partition, listing.waiting, listing.unseen)
            self._save(replace(listing, waiting=waiting, unseen=unseen))

    def skip(self, partition: str) -> None:
        """Note that this partition could not be observed: its next look has its own start."""
        listing = self.listing()
        if listing and partition in listing.waiting:
            waiting, unseen = _without(partition, listing.waiting, listing.unseen)
            late = (partition,) if listing.is_first else ()
            self._save(replace(listing, waiting=waiting, unseen=(*unseen, *late)))

    def append(
        self,
        partition: str,
        rows: Iterable[Mapping[str, object]],
        *,
        are_newest: bool = False,
    ) -> int:
        """Journal new versions and deletions of one folder in one step; return how many.

        What was seen just now is `are_newest`: it comes after all that its notes have.
        """
        taken = self._instants(partition)
        newest = dict(sorted(taken)) if are_newest else {}
        fresh = [_with_free_instant(row, taken, newest) for row in rows]
        if not fresh:
            return 0
        table = VERSIONS.table(fresh).sort_by([("note_id", "ascending")])
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
        data = sink.getvalue().to_pybytes()
        write_atomically(self._folder(partition) / f"{bytes_hash(data)}.parquet", data)
        return table.num_rows

    def read(self, partition: str, *, with_content: bool = True) -> pa.Table:
        """Return a folder's rows by note and time (contract VERSIONS).

        A row that says what the one before it said is left out: it stood there already. Only a
        note's first row can be the first look at it, whenever its earlier ones were imported.
        """
        return _settled(self.rows(partition, with_content=with_content))

    def rows(self, partition: str, *, with_content: bool = False) -> pa.Table:
        """Return all rows of a folder as they were journaled, by note and time."""
        names = [c for c in VERSIONS.schema.names if with_content or c != "content"]
        empty = VERSIONS.empty().select(names)
        tables = [_read_segment(path, names) for path in self._segments(partition)]
        rows = pa.concat_tables([empty, *tables], promote_options="default")
        order = pc.sort_indices(
            rows, sort_keys=[("note_id", "ascending"), ("observed_at", "ascending")]
        )
        return rows.take(order)

    def latest(self, partition: str) -> dict[str, str | None]:
        """Return note id -> hash of its newest version; None where the note is gone."""
        rows = self.read(partition, with_content=False)
        return dict(zip(rows["note_id"].to_pylist(), rows["content_hash"].to_pylist(), strict=True))

    def state(self, partition: str) -> str:
        """Hash what the journal holds for a folder; equal states hold equal rows."""
        return combined(path.stem for path in self._segments(partition))

    def partitions(self) -> list[str]:
        """Return the partitions that the journal knows and nobody pruned, sorted."""
        known = {path.name for path in (self.root / "versions").glob("*") if path.is_dir()}
        return sorted(known - self._pruned())

    def prune(self, partitions: Iterable[str]) -> None:
        """Note that these folders, gone from the vault, shall not be built any more.

        Their versions stay. It stands in the journal because a build depends on it.
        """
        pruned = sorted(self._pruned() | set(partitions))
        write_atomically(self.root / _PRUNED, sealed(pruned))

    def _pruned(self) -> set[str]:
        path = self.root / _PRUNED
        try:
            return {str(name) for name in unsealed(path.read_bytes())}
        except FileNotFoundError:
            return set()
        except (ValueError, TypeError, RecursionError):
            raise StoreError(
                f"{path} is damaged. Write a list of partition keys into it, [] for none."
            ) from None

    def _instants(self, partition: str) -> set[tuple[str, dt.datetime]]:
        rows = self.rows(partition).select(["note_id", "observed_at"])
        return {(row["note_id"], row["observed_at"]) for row in rows.to_pylist()}

    def _segments(self, partition: str) -> list[Path]:
        return sorted(self._folder(partition).glob("*.parquet"))

    def _folder(self, partition: str) -> Path:
        return self.root / "versions" / partition

    def _save(self, listing: Listing) -> Listing:
        write_atomically(self.root / "listing.json", sealed(listing.to_json()))
        return listing


def _read_segment(path: Path, names: Sequence[str]) -> pa.Table:
    """Read a segment's columns; one that an earlier version wrote may lack the newest."""
    try:
        there = set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        there = set(names)  # the reading says what is wrong with it
    return read_parquet(path, [name for name in names if name in there], _NOT_MADE_ANEW)


def _settled(rows: pa.Table) -> pa.Table:
    """Drop what repeats the row before it, and take only first rows for first looks."""
    notes, hashes = (rows[name].to_pylist() for name in ("note_id", "content_hash"))
    firsts = [at == 0 or note != notes[at - 1] for at, note in enumerate(notes)]
    kept = [is_first or hashes[at] != hashes[at - 1] for at, is_first in enumerate(firsts)]
    column = rows.schema.get_field_index("is_first_listing")
    looks = pc.and_(rows["is_first_listing"], pa.array(firsts, pa.bool_()))
    field = rows.schema.field(column)
    settled = rows.set_column(column, field, looks)
    return settled if all(kept) else settled.filter(pa.array(kept, pa.bool_()))


def _still_unseen(last: Listing | None, left_out: set[str]) -> tuple[str, ...]:
    """Return the folders whose first look is still ahead when a new listing begins."""
    if last is None:
        return tuple(sorted(left_out))
    late = last.waiting if last.is_first else ()
    return tuple(sorted({*last.unseen, *late}))


def _without(partition: str, *names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(name for name in some if name != partition) for some in names]


def after(now: dt.datetime, last: Listing | None) -> dt.datetime:
    """Return `now`, or just after the last listing when the clock was set back."""
    if last is None or now > last.started:
        return now
    return last.started + dt.timedelta(microseconds=1)


def _with_free_instant(
    row: Mapping[str, object],
    taken: set[tuple[str, dt.datetime]],
    newest: Mapping[str, dt.datetime],
) -> dict[str, object]:
    """Move a row on by a microsecond while its note already has a version at that instant.

    A listing that was cut off after journaling a folder observes it again with the same start;
    a note that was edited in between then has two versions of one instant. And a clock that was
    set back must not put what is seen now before what was seen: a deletion would never be one.
    """
    note_id, observed_at = row["note_id"], row["observed_at"]
    if not isinstance(note_id, str) or not isinstance(observed_at, dt.datetime):
        raise TypeError("a journal row needs a note id and an instant")
    observed_at = max(observed_at, newest.get(note_id, observed_at))
    while (note_id, observed_at) in taken:
        observed_at += dt.timedelta(microseconds=1)
    return {**row, "observed_at": observed_at}
