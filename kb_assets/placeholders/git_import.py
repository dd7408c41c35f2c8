"""Earlier versions of notes out of git: journaled under the instants of their commits.

They stand in the journal before what listings saw, as if each had been seen when it was
committed. Safe to stop anywhere and to repeat: a version that is there is not added again, and
from the first look at a note on, what was seen counts and not what git says.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from kb_assets.placeholders.listing import register_vault
from kb_assets.placeholders.observe import lost_notes
from kb_core.ids import bytes_hash, partition_key
from kb_core.settings import VaultSettings
from resources.git_repository import Commit, GitRepository
from resources.history import History
from resources.home import Home
from resources.vault import NOTE_SUFFIXES, Entry, path_key

FIRST, LATER = "first commit", "commit"  # the journal's `source`
_MEGABYTE = 1_000_000
_AFTER = dt.timedelta(microseconds=1)
_LATEST = dt.datetime.max.replace(tzinfo=dt.UTC)
_ZERO = dt.datetime.fromtimestamp(0, dt.UTC)

Row = dict[str, object]


@dataclass(frozen=True)
class Step:
    """What a note became by one commit."""

    note_id: str
    at: dt.datetime
    blob: str  # "": gone
    is_first: bool  # the first that git knows of the note
    source: str


@dataclass
class Imported:
    """What an import added, or would add."""

    versions: int = 0
    gone: int = 0
    notes: int = 0
    known: int = 0  # versions that the journal has, or that a listing came before
    unreadable: int = 0  # too large, or not in the repository
    is_shallow: bool = False
    first: dt.datetime | None = None
    last: dt.datetime | None = None

    def add(self, rows: Sequence[Row]) -> None:
        """Count one folder's rows."""
        gone = sum(row["content_hash"] is None for row in rows)
        self.versions += len(rows) - gone
        self.gone += gone
        self.notes += len({row["note_id"] for row in rows})
        instants = [at for row in rows if isinstance(at := row["observed_at"], dt.datetime)]
        self.first = min([*instants, self.first or _LATEST], default=None) if rows else self.first
        self.last = max([*instants, self.last or _ZERO], default=None) if rows else self.last


def import_git(
    home: Home, now: dt.datetime, *, since: dt.datetime | None = None, is_dry: bool = False
) -> Imported:
    """Journal the notes' versions that git knows, of the main line of what is checked out.

    Raises VaultError where there is no git, no repository, or no vault.
    """
    repository = GitRepository(home.vault_path)
    entries = register_vault(home)
    history = History(home.data / "history")
    result = Imported(is_shallow=repository.is_shallow)
    by_partition = _by_partition(steps(repository.commits(), home.settings.vault, now), home, since)
    for partition, found in by_partition.items():
        with home.leases.hold(f"placeholders/{partition}"):
            held = history.rows(partition).to_pylist()
            rows = _rows(home, repository, _missing(found, held, result), held, result)
            rows += _gone_since(entries, rows, _first_seen(held), now)
            result.add(rows)
            if not is_dry:
                history.append(partition, rows)
    if not is_dry:
        register_vault(home)  # a folder whose notes are all gone stands in the journal alone
    return result


def steps(commits: Iterable[Commit], settings: VaultSettings, now: dt.datetime) -> Iterator[Step]:
    """Turn commits into what became of each note, oldest first, each later than all before it.

    A clock that went wrong once must not turn the order round: what was committed "before" its
    parent, or in the future, counts as just after its parent.
    """
    last = _ZERO
    state: dict[str, str] = {}
    for commit in commits:
        at = dt.datetime.fromtimestamp(commit.committed_at, dt.UTC)
        last = at if last < at <= now else last + _AFTER
        for note, (blob, is_new) in sorted(_states(commit, settings).items()):
            if state.get(note, "") == blob:
                continue
            is_first = note not in state
            source = FIRST if is_first and is_new and not commit.is_cut_off else LATER
            state[note] = blob
            yield Step(note, last, blob, is_first, source)


def _states(commit: Commit, settings: VaultSettings) -> dict[str, tuple[str, bool]]:
    """Return what the commit made of each note that is read: its blob, and whether it is new.

    A file that only changed the Unicode form of its name is deleted and added in one commit.
    """
    states: dict[str, tuple[str, bool]] = {}
    for change in commit.changes:
        note = path_key(change.raw_path)
        if _is_read(note, settings) and not states.get(note, ("", False))[0]:
            states[note] = (change.blob, change.is_new)
    return states


def _is_read(note: str, settings: VaultSettings) -> bool:
    """Tell whether a listing would read a file of this path, going down folder by folder."""
    parts = note.split("/")
    if not note.lower().endswith(NOTE_SUFFIXES) or any(part.startswith(".") for part in parts):
        return False
    ways = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    return not any(fnmatch(way, pattern) for way in ways for pattern in settings.ignore)


def _by_partition(
    found: Iterable[Step], home: Home, since: dt.datetime | None
) -> dict[str, list[Step]]:
    depth = home.settings.vault.folder_depth
    groups: defaultdict[str, list[Step]] = defaultdict(list)
    for step in found:
        if since is None or step.at >= since:
            folder = Entry(step.note_id, b"", 0, 0, "local").folder(depth)
            groups[partition_key(folder)].append(step)
    return {key: groups[key] for key in sorted(groups)}


def _missing(found: Sequence[Step], held: Sequence[Row], result: Imported) -> list[Step]:
    """Leave out what the journal has, and what was committed after a listing saw the note."""
    taken = {(row["note_id"], row["observed_at"]) for row in held}
    seen = _first_seen(held)
    missing = [
        step
        for step in found
        if (step.note_id, step.at) not in taken and step.at < seen.get(step.note_id, _LATEST)
    ]
    result.known += len(found) - len(missing)
    return missing


def _first_seen(held: Iterable[Row]) -> dict[str, dt.datetime]:
    """Return when a listing first saw each note."""
    seen: dict[str, dt.datetime] = {}
    for row in held:
        at = row["observed_at"]
        if row["source"] is None and isinstance(at, dt.datetime):
            seen.setdefault(str(row["note_id"]), at)
    return seen


def _rows(
    home: Home,
    repository: GitRepository,
    found: Sequence[Step],
    held: Sequence[Row],
    result: Imported,
) -> list[Row]:
    limit = int(home.settings.vault.max_note_mb * _MEGABYTE)
    contents = repository.contents(sorted({step.blob for step in found if step.blob}), limit)
    readable = [step for step in found if not step.blob or step.blob in contents]
    result.unreadable += len(found) - len(readable)
    began = min(_first_seen(held).values(), default=_LATEST)
    # As at a first listing: what is there may be as old as it says, and no newer than this.
    return [
        _row(step, contents, is_first_look=step.is_first and step.at < began) for step in readable
    ]


def _row(step: Step, contents: Mapping[str, bytes], *, is_first_look: bool) -> Row:
    content = contents.get(step.blob)
    return {
        "note_id": step.note_id,
        "observed_at": step.at,
        "content_hash": None if content is None else bytes_hash(content),
        "file_time": None,
        "is_first_listing": is_first_look,
        "content": content,
        "source": step.source,
    }


def _gone_since(
    entries: Sequence[Entry], rows: Sequence[Row], seen: Mapping[str, object], now: dt.datetime
) -> list[Row]:
    """Return rows for notes that git has and the vault has not, and that no listing ever saw.

    Without them the next listing would take them for notes that vanished at once.
    """
    latest = {str(row["note_id"]): row["content_hash"] for row in rows}
    unseen = {note: str(digest or "") for note, digest in latest.items() if note not in seen}
    return [
        _row(Step(note, now, "", False, LATER), {}, is_first_look=False)
        for note in lost_notes(entries, unseen)
    ]
