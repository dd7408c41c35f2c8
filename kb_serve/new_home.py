"""Make a home for a vault: its settings, its Dagster settings, and what it is about to remember."""

from importlib import resources as package_files
from pathlib import Path

from kb_core.errors import HomeError, VaultError
from kb_core.settings import FILE_NAME
from resources.atomic_files import make_private_folder, write_atomically
from resources.home import Home, check_not_inside

UNFINISHED = "restore-unfinished"  # lies in a folder while `kb restore` fills it

_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents")


def make_home(vault: Path, root: Path) -> Home:
    """Write a home's files for a vault. Raises VaultError or HomeError; overwrites nothing."""
    vault, root = vault.expanduser().resolve(), root.expanduser().resolve()
    if not vault.exists():
        raise VaultError(f"There is no folder {vault}. Give the folder that holds your notes.")
    if not vault.is_dir():
        raise VaultError(f"{vault} is a file. Give the folder that holds your notes.")
    check_not_inside(root, vault)
    if (root / FILE_NAME).exists():
        raise HomeError(
            f"{root} is a home already. Edit its {FILE_NAME}, or choose another folder."
        )
    if (root / UNFINISHED).exists():
        raise HomeError(f"A restore into {root} was cut off. Delete that folder first.")
    if root.exists() and not root.is_dir():
        raise HomeError(f"{root} is a file. Choose a folder for the home.")
    make_private_folder(root)
    settings = default_text("kb.toml").replace("{vault}", toml_text(str(vault)))
    write_atomically(root / "dagster.yaml", default_text("dagster.yaml").encode())
    write_atomically(root / FILE_NAME, settings.encode())
    return Home.open(root)


def default_text(name: str) -> str:
    """Return one of the files that `kb init` writes."""
    return (package_files.files("kb_core.defaults") / name).read_text("utf-8")


def synced_by(path: Path) -> str | None:
    """Name the cloud folder a path lies in, if its name tells: SQLite must not be synced."""
    for part in path.parts:
        for name in _SYNCED:
            if part.lower().startswith(name):
                return part
    return None


def toml_text(text: str) -> str:
    """Escape a path for a basic TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped)
