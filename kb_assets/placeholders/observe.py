"""Compare a folder's listing with the journal: which files there are, which versions are new.

Pure. The tables hold no file time: touching a file changes nothing.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

import pyarrow as pa

from kb_assets.placeholders.conflicts import conflict_copies
from kb_core.contracts import FILES
from kb_core.errors import MassLossError
from kb_core.ids import bytes_hash, content_id
from resources.vault import UNLISTED

VERSION = "2"  # raise it when an equal listing would give other rows

# A deletion of one note is everyday work, whatever share of a small folder it is.
_FEWEST_LOST = 2


@dataclass(frozen=True)
class Seen:
    """One file of the listing. `content` is None when it was not read; `problem` says why."""

    path: str
    raw_path: bytes
    is_note: bool
    state: str
    size: int
    file_time: dt.datetime | None
    content: bytes | None
    problem: str


@dataclass(frozen=True)
class Observation:
    """What one look at a folder gave."""

    files: pa.Table
    new_versions: list[dict[str, object]]
    counts: dict[str, int]


def observe(
    seen: Sequence[Seen],
    latest: Mapping[str, str | None],
    observed_at: dt.datetime,
    *,
    is_first_listing: bool,
) -> Observation:
    """Return the folder's file table and the journal rows this look adds.

    `latest` is note id -> hash of the newest journaled version, None for a note that is gone.
    A note that cannot be read now keeps its last version: only an absent file is gone.
    """
    rows: list[dict[str, object]] = []
    versions: list[dict[str, object]] = []
    unique = _with_unique_paths(seen)
    copies = conflict_copies({file.path: file.content for file in unique})
    for file in unique:
        digest = None if file.content is None else bytes_hash(file.content)
        rows.append(_file_row(file, digest, is_conflict=file.path in copies))
        if digest is not None and latest.get(file.path) != digest:
            versions.append(
                {
                    "note_id": file.path,
                    "observed_at": observed_at,
                    "content_hash": digest,
                    "file_time": file.file_time,
                    "is_first_listing": is_first_listing,
                    "content": file.content,
                }
            )
    gone = lost_notes(seen, latest)
    versions += [_gone_row(note_id, observed_at, is_first_listing) for note_id in gone]
    files = FILES.table(sorted(rows, key=lambda row: str(row["path"])))
    status = Counter(files["status"].to_pylist())
    counts = {
        "files": files.num_rows,
        "readable": status["readable"],
        "skipped": status["skipped"],
        "failed": status["failed"],
        "new_versions": len(versions) - len(gone),
        "gone": len(gone),
    }
    return Observation(files, versions, counts)


class Listed(Protocol):
    """What a listing says of a file, or of a folder it could not list."""

    @property
    def path(self) -> str:
        """Where it lies."""

    @property
    def state(self) -> str:
        """Whether its bytes are here."""


def lost_notes(present: Iterable[Listed], latest: Mapping[str, str | None]) -> list[str]:
    """Return the journaled notes whose files are not there any more, sorted.

    What lies below a folder that could not be listed is unknown, not gone.
    """
    entries = list(present)
    there = {entry.path for entry in entries}
    unknown = tuple(f"{entry.path}/" for entry in entries if entry.state == UNLISTED)
    return sorted(
        note
        for note, digest in latest.items()
        if digest and note not in there and not note.startswith(unknown)
    )


def check_loss(
    folder: str,
    lost: Sequence[str],
    kept: int,
    *,
    share: float,
    is_approved: bool,
) -> None:
    """Refuse to believe that more than `share` of a folder's notes vanished at once.

    `lost` are the notes that are gone and whose content appears nowhere else in the vault;
    `kept` counts the folder's other notes.
    Raises MassLossError.
    """
    total = len(lost) + kept
    if len(lost) < _FEWEST_LOST or len(lost) <= share * total or is_approved:
        return
    raise MassLossError(
        f"{len(lost)} of {total} notes of folder {folder or '(root)'!r} are gone at once. "
        "If the vault is not wholly mounted or synced, mend that and build again. "
        f"If you deleted them: `kb approve-deletions --folder {folder or '/'!r}`."
    )


def loss_id(lost: Sequence[str]) -> str:
    """Name a loss, so that an approval covers this one alone."""
    return content_id(*sorted(lost))


def _file_row(file: Seen, digest: str | None, *, is_conflict: bool) -> dict[str, object]:
    status, reason = _status(file)
    return {
        "path": file.path,
        "raw_path": file.raw_path,
        "is_note": file.is_note,
        "state": "conflict" if is_conflict and file.state == "local" else file.state,
        "size": file.size,
        "content_hash": digest,
        "status": status,
        "reason": reason,
    }


def _status(file: Seen) -> tuple[str, str]:
    if file.content is not None:
        return "readable", ""
    if file.state == UNLISTED:
        return "failed", f"a folder that cannot be listed: {file.problem}"
    if file.state == "local" and not file.is_note:
        suffix = PurePosixPath(file.path).suffix.lower()
        return "skipped", f"not Markdown: {suffix}" if suffix else "not Markdown: no ending"
    # What the user chose or the provider keeps is skipped; what should be readable has failed.
    is_expected = file.state in ("online", "stub", "pointer", "hidden", "other") and not (
        file.is_note and file.problem.startswith("no permission")
    )
    if is_expected or file.problem.startswith(("larger than", "the same name")):
        return "skipped", file.problem
    return "failed", file.problem


def _gone_row(note_id: str, observed_at: dt.datetime, is_first: bool) -> dict[str, object]:
    return {
        "note_id": note_id,
        "observed_at": observed_at,
        "content_hash": None,
        "file_time": None,
        "is_first_listing": is_first,
        "content": None,
    }


def _with_unique_paths(seen: Sequence[Seen]) -> list[Seen]:
    """Keep one file per NFC path; a twin in another Unicode form is listed, not read."""
    taken: set[str] = set()
    result = []
    for file in seen:
        if file.path in taken:
            path = f"{file.path} ({file.raw_path.hex()})"
            problem = "the same name as another file in a different Unicode form"
            file = Seen(path, file.raw_path, file.is_note, "other", file.size, None, None, problem)
        taken.add(file.path)
        result.append(file)
    return result
