"""Look at a folder of the vault: journal what is new, write its file table.

Safe to repeat: an unchanged folder adds nothing to the journal and writes nothing.
"""

import datetime as dt
from collections.abc import Sequence

from kb_assets.outcome import Outcome, outcome
from kb_assets.placeholders.listing import listing_for
from kb_assets.placeholders.observe import (
    VERSION,
    Observation,
    Seen,
    check_loss,
    loss_id,
    lost_notes,
    observe,
)
from kb_core.errors import KbError, VaultError
from kb_core.ids import bytes_hash, fingerprint
from resources.history import History
from resources.home import Home
from resources.vault import Entry, LocalVault


def run(home: Home, partition: str, now: dt.datetime) -> Outcome:
    """Observe one folder. Raises VaultError, MassLossError.

    `now` is the start of this look if the folder has no part in a listing under way.
    """
    history = History(home.data / "history")
    with home.leases.hold(f"placeholders/{partition}"):
        try:
            found = _look(home, history, partition, now)
        except KbError:
            with home.leases.hold("listing"):
                history.skip(partition)
            raise
        history.append(partition, found.new_versions, are_newest=True)
        held = home.store.pointer("files", partition)
        pointer = home.store.write(
            "files", found.files, partition=partition, inputs={}, code_version=VERSION
        )
        with home.leases.hold("listing"):
            history.finish(partition)
    is_cached = held is not None and held.hash == pointer.hash and not found.new_versions
    return outcome("placeholders", partition, [pointer], is_cached=is_cached, counts=found.counts)


def is_fresh(home: Home, partition: str, now: dt.datetime) -> bool:
    """Look at a folder without writing: tell whether a run would find anything new.

    A listing under way takes this look for its own. Raises VaultError, MassLossError.
    """
    history = History(home.data / "history")
    found = _look(home, history, partition, now)
    held = home.store.holds("files", partition, {}, VERSION)
    is_same = held is not None and held.hash == fingerprint(found.files)
    if is_same and not found.new_versions:
        with home.leases.hold("listing"):
            history.finish(partition)
        return True
    return False


def is_listed(home: Home, partition: str) -> bool:
    """Tell whether the folder has a whole file table, without looking at the vault."""
    return home.store.holds("files", partition, {}, VERSION) is not None


def _look(home: Home, history: History, partition: str, now: dt.datetime) -> Observation:
    folder = _folder(home, partition)
    vault = LocalVault(home.vault_path, home.settings.vault)
    listing = listing_for(home, vault, history, partition, now)
    depth = home.settings.vault.folder_depth
    entries = [entry for entry in vault.list(folder) if entry.folder(depth) == folder]
    latest = history.latest(partition)
    _check_loss(home, vault, partition, folder, entries, latest)
    seen = [_see(vault, entry, drop_time=listing.drop_file_times) for entry in entries]
    return observe(seen, latest, listing.started, is_first_listing=listing.is_first)


def _folder(home: Home, partition: str) -> str:
    folders = home.folders()
    if partition not in folders:
        raise VaultError(
            f"No folder of this vault has the partition {partition!r}. "
            "`kb folders` lists them; `kb build` registers new ones."
        )
    return folders[partition]


def _see(vault: LocalVault, entry: Entry, *, drop_time: bool) -> Seen:
    read = vault.read(entry) if entry.is_note else None
    when = dt.datetime.fromtimestamp(entry.mtime_ns // 1_000_000_000, dt.UTC)
    return Seen(
        path=entry.path,
        raw_path=entry.raw_path,
        is_note=entry.is_note,
        state=entry.state,
        size=entry.size,
        file_time=None if drop_time else when,
        content=read.content if read else None,
        problem=read.problem if read else entry.problem,
    )


def _check_loss(
    home: Home,
    vault: LocalVault,
    partition: str,
    folder: str,
    entries: Sequence[Entry],
    latest: dict[str, str | None],
) -> None:
    lost = lost_notes(entries, latest)
    if not lost:
        return
    kept = sum(1 for digest in latest.values() if digest) - len(lost)
    moved = _hashes_elsewhere(vault, latest)
    really_lost = [note for note in lost if latest[note] not in moved]
    check_loss(
        folder,
        really_lost,
        kept + len(lost) - len(really_lost),
        share=home.settings.vault.mass_loss_share,
        is_approved=home.record("approved-deletions").get(partition) == loss_id(lost),
    )


def _hashes_elsewhere(vault: LocalVault, latest: dict[str, str | None]) -> set[str]:
    """Hash the vault's notes that this folder's journal does not know: moves land there."""
    strangers = (entry for entry in vault.list() if entry.is_note and not latest.get(entry.path))
    contents = (vault.read(entry).content for entry in strangers)
    return {bytes_hash(content) for content in contents if content is not None}
