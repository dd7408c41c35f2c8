"""Begin a listing of the whole vault: register its folders, fix its start, judge its file times."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kb_assets.placeholders.seed import import_versions
from kb_core.errors import HomeError, VaultError
from kb_core.ids import partition_key
from resources.history import History, Listing, after
from resources.home import Home, check_not_inside
from resources.vault import Entry, LocalVault

_SAME_VAULT = 0.5  # a moved vault holds at least this share of the notes last listed
_SHARED_DAY = 0.5  # above this share of one file day, times are those of a copy, not of writing


def begin_listing(home: Home, now: dt.datetime, only: Sequence[str] | None = None) -> Listing:
    """List the vault, register new folders and start (or resume) a listing.

    `only` names the folders to look at, by path; the others wait for another listing.

    Raises VaultError when the vault is missing, is no folder, or holds no note.
    """
    entries = register_vault(home)
    history = History(home.data / "history")
    with home.leases.hold("listing"):
        if import_versions(home, {entry.path: entry for entry in entries}, now):
            # A folder whose notes are all gone stands in the journal alone.
            home.register_folders(_folders_of_journal(history, home.settings.vault.folder_depth))
        return history.begin(
            now,
            home.folders(),
            drop_file_times=is_one_day(entries),
            only=None if only is None else [partition_key(folder) for folder in only],
        )


def register_vault(home: Home) -> Sequence[Entry]:
    """List the vault and register its folders; return what it holds.

    Raises VaultError when the vault is missing, is no folder, or holds no note, HomeError when
    it is not this home's.
    """
    check_not_inside(home.root, home.vault_path)
    vault = LocalVault(home.vault_path, home.settings.vault)
    entries = vault.list()
    _check_not_empty(vault, entries)
    _check_same_vault(home, entries)
    depth = home.settings.vault.folder_depth
    journal = _folders_of_journal(History(home.data / "history"), depth)
    home.register_folders({**journal, **folders_of(entries, depth)})
    return entries


def listing_for(
    home: Home, vault: LocalVault, history: History, partition: str, now: dt.datetime
) -> Listing:
    """Return the listing that this look at one folder belongs to.

    A folder that the listing under way still waits for belongs to it. One that is looked at
    outside of any listing has its own start.
    """
    listing = history.listing() or begin_listing(home, now)
    is_first = listing.is_first_look_at(partition)
    if listing.waits_for(partition, now):
        return replace(listing, is_first=is_first)
    return replace(
        listing,
        started=after(now, listing),
        is_first=is_first,
        drop_file_times=is_one_day(vault.list()),
    )


def folders_of(entries: Sequence[Entry], depth: int) -> dict[str, str]:
    """Return partition key -> folder of every folder that holds files, by key."""
    folders = {entry.folder(depth) for entry in entries}
    return {partition_key(folder): folder for folder in sorted(folders)}


def _folders_of_journal(history: History, depth: int) -> dict[str, str]:
    """Return the folders of notes that were seen once: what was said there stays known.

    A home that starts over an old journal would not learn of them from the vault.
    """
    notes = (note for partition in history.partitions() for note in history.latest(partition))
    return folders_of([Entry(note, b"", 0, 0, "local") for note in notes], depth)


def is_one_day(entries: Sequence[Entry]) -> bool:
    """Tell whether over half of the notes carry one file day (UTC): a clone or a sync."""
    days = Counter(
        dt.datetime.fromtimestamp(entry.mtime_ns // 1_000_000_000, dt.UTC).date()
        for entry in entries
        if entry.is_note
    )
    if not days:
        return False
    return max(days.values()) > _SHARED_DAY * sum(days.values())


def _check_same_vault(home: Home, entries: Sequence[Entry]) -> None:
    """Refuse a home whose vault was exchanged: every note would count as deleted.

    A vault that merely moved still holds most of the notes that were last listed.
    """
    here, known = str(home.vault_path), home.record("home").get("vault", "")
    if known not in ("", here):  # only then: a table that is lost is made anew by what follows
        listed = home.store.read_all("files", ["path", "is_note"])
        notes = set(listed.filter(listed["is_note"])["path"].to_pylist())
        kept = notes & {entry.path for entry in entries}
        if len(kept) < _SAME_VAULT * len(notes):
            raise HomeError(
                f"{home.root} was built over {known}, and {here} looks like another vault: it "
                f"holds {len(kept)} of its {len(notes)} notes. Set `vault.path` back, or make a "
                f"home for the other vault: `kb init {here} --home DIR`."
            )
    home.remember(vault=here)


def _check_not_empty(vault: LocalVault, entries: Sequence[Entry]) -> None:
    if any(entry.is_note for entry in entries):
        return
    what = f"holds {len(entries)} files but no Markdown note" if entries else "is empty"
    raise VaultError(
        f"The vault {vault.root} {what}. If it should hold notes, mount or sync it and try again; "
        "nothing was deleted and the last build still answers."
    )
