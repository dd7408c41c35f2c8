"""What one listing of the vault says of each folder, without opening a file. Pure.

A signature moves when a file comes, goes, or has another size, time or inode. It stands for "look
again", never for content: what it misses is found by the sweep that trusts no file time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb_core.ids import content_id, partition_key
from resources.vault import Entry

_SIGNATURE_DIGITS = 16
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Sight:
    """One folder as the listing saw it."""

    folder: str
    signature: str
    newest: float  # when a file was last touched, seconds since 1970; 0 where none tells


def sights(
    entries: Iterable[Entry], folders: dict[str, str], depth: int, now: float
) -> dict[str, Sight]:
    """Return what the listing says of each registered folder, by partition key, sorted.

    A folder that holds nothing any more is there too, as an empty one.
    """
    by_key: dict[str, list[Entry]] = {key: [] for key in sorted(folders)}
    for entry in entries:
        files = by_key.get(partition_key(entry.folder(depth)))
        if files is not None:
            files.append(entry)
    return {
        key: Sight(folders[key], _signature(files), _newest(files, now))
        for key, files in by_key.items()
    }


def signature_of(sights: Iterable[Sight]) -> str:
    """Sign the whole vault: where a note went decides whether it was deleted."""
    return content_id(*(sight.signature for sight in sights))[:_SIGNATURE_DIGITS]


def _signature(files: Sequence[Entry]) -> str:
    parts = sorted(
        f"{each.path}\0{each.state}\0{each.size}\0{each.mtime_ns}\0{each.inode}" for each in files
    )
    return content_id(*parts)[:_SIGNATURE_DIGITS]


def _newest(files: Iterable[Entry], now: float) -> float:
    """Return the latest touch that is not ahead of this machine's clock.

    A file whose time lies in the future would keep its folder waiting until then.
    """
    stamps = (each.touched_ns / _SECOND for each in files)
    return max((stamp for stamp in stamps if stamp <= now), default=0.0)
