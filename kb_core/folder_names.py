"""How a person may name a folder, and the one form it is known by. Pure."""

import unicodedata

ROOT = "(root)"


def folder_path(given: str) -> str:
    """Return a folder's path inside the vault: NFC, no slash at either end, "" for the root.

    >>> folder_path("./Work/"), folder_path("/"), folder_path("."), folder_path("(root)")
    ('Work', '', '', '')
    """
    path = unicodedata.normalize("NFC", given).strip("/")
    return "" if path in (".", ROOT) else path.removeprefix("./")


def shown_path(path: str) -> str:
    """Return how a folder is shown to people."""
    return path or ROOT
