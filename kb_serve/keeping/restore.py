"""Bring a backup back as a home. Its kb.toml is written last: without it a folder is no home.

Safe to interrupt: what was begun is recognised by the note that lies in it, and refused.
"""

import re
import tomllib
from pathlib import Path

from kb_core.errors import HomeError, StoreError, VaultError
from kb_core.ids import bytes_hash
from kb_core.settings import FILE_NAME
from kb_serve.keeping.backup import MIRROR, Backup, check_files, read_backup
from kb_serve.new_home import UNFINISHED, toml_text
from resources.atomic_files import make_private_folder, write_atomically
from resources.copies import copy_file
from resources.home import check_not_inside

_SECTION = re.compile(r"^\[vault\][^\n]*\n", re.M)
_PATH = re.compile(r"^path\s*=[^\n]*$", re.M)
_NEXT = re.compile(r"^\[", re.M)


def restore(folder: Path, root: Path, vault: Path | None = None) -> Backup:
    """Make a home of a backup, in a new or empty folder; return what it holds.

    The vault stays the one that was recorded, unless another place is given for it.
    Raises StoreError for a backup that is not whole, HomeError for a folder that cannot be used,
    VaultError when the vault that was given is not there.
    """
    backup = read_backup(folder)
    place = (vault or Path(backup.vault)).expanduser()
    if vault and not place.is_dir():
        raise VaultError(f"There is no folder {vault}. Give the folder that holds the notes.")
    root = root.expanduser().resolve()
    _check_empty(root)
    check_not_inside(root, place)
    settings = _settings(folder / MIRROR / FILE_NAME, backup, place.resolve())
    make_private_folder(root)
    write_atomically(root / UNFINISHED, b"`kb restore` was cut off. Delete this folder.\n")
    for path, (_, digest) in backup.files.items():
        if path != FILE_NAME:
            _bring(folder / MIRROR / path, root / path, digest)
    whole = {path: held for path, held in backup.files.items() if path != FILE_NAME}
    check_files(root, Backup(backup.build, backup.vault, whole))
    write_atomically(root / FILE_NAME, settings.encode())
    (root / UNFINISHED).unlink()
    return backup


def _check_empty(root: Path) -> None:
    if (root / UNFINISHED).exists():
        raise HomeError(f"A restore into {root} was cut off. Delete that folder and try again.")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise HomeError(f"{root} is not empty. Choose a new folder for the home.")


def _bring(source: Path, target: Path, digest: str) -> None:
    try:
        _, found = copy_file(source, target)
    except FileNotFoundError:
        found = ""
    if found != digest:
        raise StoreError(
            f"{source} is missing or damaged: this backup is not whole. Use another one; what was "
            "restored so far is no home and can be deleted."
        )


def _settings(path: Path, backup: Backup, vault: Path) -> str:
    """Return the settings with the vault's place in full: a relative one began at the old home."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    _, digest = backup.files.get(FILE_NAME, (0, ""))
    if bytes_hash(data) != digest:
        raise StoreError(f"{path} is missing or damaged: this backup is not whole. Use another.")
    return with_vault_path(data.decode("utf-8-sig"), str(vault))


def with_vault_path(text: str, vault: str) -> str:
    """Return a kb.toml that names this vault and is the same in all else, comments too.

    Raises HomeError where the text is written in a way that this cannot change.
    """
    if _differs_by_vault_alone(text, text, vault):
        return text
    line = f'path = "{toml_text(vault)}"'
    section = _SECTION.search(text)
    if not section:
        changed = f"{text.rstrip()}\n\n[vault]\n{line}\n"
    else:
        following = _NEXT.search(text, section.end())
        end = following.start() if following else len(text)
        body = text[section.end() : end]
        found = _PATH.search(body)
        new = body[: found.start()] + line + body[found.end() :] if found else f"{line}\n{body}"
        changed = text[: section.end()] + new + text[end:]
    if not _differs_by_vault_alone(text, changed, vault):
        raise HomeError(
            "The backup's kb.toml names its vault in a way that cannot be changed here. Write "
            f"{line} under [vault] in it, and restore again."
        )
    return changed


def _differs_by_vault_alone(text: str, changed: str, vault: str) -> bool:
    try:
        before, after = tomllib.loads(text), tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        return False
    before.setdefault("vault", {})["path"] = vault
    return before == after
